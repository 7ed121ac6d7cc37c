"""Django's settings; everything that an operator may change is read from the environment.

With DEBUG off, a site that is configured at all has to name its key, its hosts and its database:
nothing would be a safe guess on a public server. Where none of the four is set, this is a checkout
on somebody's machine, and it serves that machine alone, from embedded servers.
docs/settings.md describes every variable.
"""

from pathlib import Path
from typing import Any, cast
from urllib.parse import quote
from zoneinfo import available_timezones

import django_stubs_ext
from celery.schedules import crontab
from django.conf.locale import LANG_INFO

from helpcenter import data_folder
from helpcenter.connections import (
    DATABASE_SCHEMES,
    EMAIL_SCHEMES,
    REDIS_SCHEMES,
    broker_url,
    database_settings,
    email_settings,
)
from helpcenter.embedded.postgres import Postgres
from helpcenter.embedded.valkey import Valkey
from helpcenter.environment import Environment, SettingError
from helpcenter.logs import Format, logging_settings

# Lets classes of Django's be written with their type arguments, `ModelAdmin[Article]`.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

env = Environment.load(BASE_DIR / ".env")


def required(name: str, local_default: str, hint: str) -> str:
    """A variable that a configured site has to set, and a local one need not."""
    value = env.text(name, local_default if IS_LOCAL else "")
    if not value:
        raise SettingError(name, f"not set, and DEBUG is off; {hint}")
    return value


# The site

DEBUG = env.boolean("DEBUG", False)
IS_CONFIGURED = any(
    env.is_set(name) for name in ("DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL")
)
IS_LOCAL = env.boolean("LOCAL_DEFAULTS", DEBUG or not IS_CONFIGURED)
DATA_DIR = Path(env.text("HELPCENTER_DATA_DIR", str(data_folder.default_path(BASE_DIR)))).resolve()

HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
SITE_URL = env.url("SITE_URL", ["http", "https"], f"http://localhost:{PORT}").rstrip("/")
IS_HTTPS = SITE_URL.startswith("https://")
SUPPORT_EMAIL = env.text("SUPPORT_EMAIL")
IMAGE_HOSTS = env.items("IMAGE_HOSTS")

ALLOWED_HOSTS = [
    host.strip()
    for host in required(
        "ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "set it to the site's host names"
    ).split(",")
]
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS", [SITE_URL])
TRUSTED_PROXIES = env.proxies("TRUSTED_PROXIES")

# Servers

DATABASE_URL = required("DATABASE_URL", "embedded", "set it to a postgresql:// URL or to embedded")
DATABASE_IS_EMBEDDED = DATABASE_URL == "embedded"
if DATABASE_IS_EMBEDDED:
    Postgres(DATA_DIR).refuse_unusable_folder()
    DATABASE_URL = Postgres(DATA_DIR).url
else:
    env.url("DATABASE_URL", DATABASE_SCHEMES)
DATABASES = {"default": database_settings(DATABASE_URL)}
DATABASE_POOL_SIZE = env.integer("DATABASE_POOL_SIZE", 20, minimum=1, maximum=1000)

REDIS_IS_EMBEDDED = env.text("REDIS_URL", "embedded") == "embedded"
REDIS_URL = Valkey(DATA_DIR).url if REDIS_IS_EMBEDDED else env.url("REDIS_URL", REDIS_SCHEMES)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        # A page does without it rather than wait for a Valkey that is frozen.
        "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
    }
}

SECRET_KEY = (
    data_folder.secret_key(DATA_DIR)
    if IS_LOCAL and not env.is_set("SECRET_KEY")
    else required("SECRET_KEY", "", "set it to a long random text")
)

# Applications

INSTALLED_APPS = [
    "helpcenter.staff_app.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.sitemaps",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "helpcenter",
    "articles",
    "assistant",
]
MIDDLEWARE = [
    "helpcenter.probes.ProbesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "helpcenter.assets.AssetsMiddleware",
    "helpcenter.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "helpcenter.urls"
ASGI_APPLICATION = "helpcenter.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "helpcenter.context_processors.site",
            ],
        },
    },
]

# Language and time

LANGUAGE_CODE = env.choice("LANGUAGE_CODE", LANG_INFO, "en")
TIME_ZONE = env.choice("TIME_ZONE", available_timezones(), "UTC")
USE_I18N = True
USE_TZ = True
FORMS_URLFIELD_ASSUME_HTTPS = True
LOCALE_PATHS = [BASE_DIR / "locale"]

# Files

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.text("STATIC_DIR", str(DATA_DIR / "static"))).resolve()
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA_DIR / "media"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "helpcenter.assets.AssetsStorage"
    },
}

# Accounts and security

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "articles:home"
SESSION_COOKIE_SECURE = IS_HTTPS
CSRF_COOKIE_SECURE = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS and not DEBUG else 0
# Who is at the proxy over HTTP is known only where the proxy is.
SECURE_SSL_REDIRECT = IS_HTTPS and bool(TRUSTED_PROXIES)
SILENCED_SYSTEM_CHECKS = [
    # What the domains below the site's speak, and whether browsers ship a list with its name, is
    # not the site's to say.
    "security.W005",
    "security.W021",
]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# E-mail: without a server, messages wait in the data folder instead of being lost or logged.

globals().update(
    email_settings(env.url("EMAIL_URL", EMAIL_SCHEMES, f"file://{quote(str(DATA_DIR / 'mail'))}"))
)
DEFAULT_FROM_EMAIL = SUPPORT_EMAIL or "helpcenter@localhost"

# Background tasks

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_CONCURRENCY = env.integer("WORKER_CONCURRENCY", 2, minimum=1, maximum=256)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker whose broker is gone looks for it until it is back, every few seconds.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_CONSUMER = "helpcenter.reconnecting:Consumer"
# A task is done when it is done, not when it is begun. What a dead worker had begun is handed out
# again, and only then: later than any task may live.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_SOFT_TIME_LIMIT = env.integer("TASK_SECONDS", 900, minimum=10)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 30
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, float] = {
    "visibility_timeout": 2 * CELERY_TASK_TIME_LIMIT,
    # Where the network swallows what is sent, a worker leaves its connection after some seconds.
    "socket_connect_timeout": 5,
    "socket_timeout": 5,
    "health_check_interval": 4,
}
# A page that hands out a task while Valkey is down fails soon, and says so.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_max": 0.2}
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")
# A run that waited for longer than until the next one is due is not worth doing any more.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "index_stale": {
        "task": "articles.tasks.index_stale",
        "schedule": 300,
        "options": {"expires": 300},
    },
    "publish_due": {
        "task": "articles.tasks.publish_due",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "recount_terms": {
        "task": "articles.tasks.recount_terms",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
}

SEARCH_LOG_DAYS = env.integer("SEARCH_LOG_DAYS", 90, minimum=0)
CELERY_BEAT_SCHEDULE["forget-searches"] = {
    "task": "articles.tasks.forget_searches",
    "schedule": 3600,
    "options": {"expires": 3600},
}

# The assistant

OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_BASE_URL = env.url("OPENAI_BASE_URL", ["http", "https"])
ASSISTANT_MODEL = env.text("ASSISTANT_MODEL")
ASSISTANT_MODE = env.choice("ASSISTANT_MODE", ["tools", "context"], "tools")
ASSISTANT_TURN_SECONDS = env.integer("ASSISTANT_TURN_SECONDS", 60, minimum=1)
ASSISTANT_FIRST_TOKEN_SECONDS = env.integer("ASSISTANT_FIRST_TOKEN_SECONDS", 15, minimum=1)
ASSISTANT_CIRCUIT_SECONDS = env.integer("ASSISTANT_CIRCUIT_SECONDS", 5, minimum=1)
ASSISTANT_FALLBACK_MODEL = env.text("ASSISTANT_FALLBACK_MODEL")
ASSISTANT_FALLBACK_BASE_URL = env.url("ASSISTANT_FALLBACK_BASE_URL", ["http", "https"])
ASSISTANT_FALLBACK_API_KEY = env.text("ASSISTANT_FALLBACK_API_KEY")
ASSISTANT_TOOL_ROUNDS = env.integer("ASSISTANT_TOOL_ROUNDS", 6, minimum=1)
QUESTION_MAX_LENGTH = env.integer("QUESTION_MAX_LENGTH", 4000, minimum=1)
ASSISTANT_CONTEXT_TOKENS = env.integer("ASSISTANT_CONTEXT_TOKENS", 32_000, minimum=1000)
ASSISTANT_CONTEXT_MIN_SCORE = env.integer("ASSISTANT_CONTEXT_MIN_SCORE", 30, maximum=100)
ASSISTANT_CONTEXT_PER_ARTICLE = env.integer("ASSISTANT_CONTEXT_PER_ARTICLE", 3, minimum=1)
ASSISTANT_CONTEXT_PASSAGE_TOKENS = env.integer(
    "ASSISTANT_CONTEXT_PASSAGE_TOKENS", 4000, minimum=200
)
ASSISTANT_RERANKER = env.text("ASSISTANT_RERANKER")
RERANKER_URL = env.url("RERANKER_URL", ["http", "https"])
RERANKER_MODEL = env.text("RERANKER_MODEL")
RERANKER_API_KEY = env.text("RERANKER_API_KEY")
if ASSISTANT_RERANKER == "assistant.reranking.endpoint" and not RERANKER_URL:
    raise SettingError("RERANKER_URL", f"not set, and ASSISTANT_RERANKER is {ASSISTANT_RERANKER}")
ASSISTANT_TURNS_PER_VISITOR = env.integer("ASSISTANT_TURNS_PER_VISITOR", 20, minimum=1)
ASSISTANT_TURNS_PER_ADDRESS = env.integer("ASSISTANT_TURNS_PER_ADDRESS", 60, minimum=1)
ASSISTANT_TURNS_WITHOUT_VALKEY = env.integer("ASSISTANT_TURNS_WITHOUT_VALKEY", 100, minimum=1)
ASSISTANT_LIMIT_SECONDS = env.integer("ASSISTANT_LIMIT_SECONDS", 600, minimum=1)
ASSISTANT_TURNS_PER_DAY = env.integer("ASSISTANT_TURNS_PER_DAY", 0)
ASSISTANT_TOKENS_PER_DAY = env.integer("ASSISTANT_TOKENS_PER_DAY", 0)
ASSISTANT_ALERT_EMAIL = env.text("ASSISTANT_ALERT_EMAIL", SUPPORT_EMAIL)
ASSISTANT_PRICES = env.rates("ASSISTANT_PRICES")
ASSISTANT_CURRENCY = env.text("ASSISTANT_CURRENCY", "USD")
ASSISTANT_REAPER_SECONDS = env.integer("ASSISTANT_REAPER_SECONDS", 30, minimum=1)
CELERY_BEAT_SCHEDULE["end-interrupted-turns"] = {
    "task": "assistant.tasks.end_interrupted_turns",
    "schedule": ASSISTANT_REAPER_SECONDS / 2,
    "options": {"expires": ASSISTANT_REAPER_SECONDS},
}
CELERY_BEAT_SCHEDULE["update-gap-report"] = {
    "task": "assistant.tasks.update_gap_report",
    "schedule": 3600,
    "options": {"expires": 3600},
}
CELERY_BEAT_SCHEDULE["send-waiting-escalations"] = {
    "task": "assistant.tasks.send_waiting_escalations",
    "schedule": 300,
    "options": {"expires": 300},
}
ACCESS_LOG_DAYS = env.integer("ACCESS_LOG_DAYS", 365, minimum=30)
CELERY_BEAT_SCHEDULE["forget-access-records"] = {
    "task": "assistant.tasks.forget_access_records",
    "schedule": 86400,
    "options": {"expires": 86400},
}
GAP_DIGEST_EMAILS = env.items("GAP_DIGEST_EMAILS")
CELERY_BEAT_SCHEDULE["send-gap-digest"] = {
    "task": "assistant.tasks.send_gap_digest",
    "schedule": crontab(minute=0, hour=7, day_of_week="mon"),
    "options": {"expires": 24 * 3600},
}
GAP_VERIFIED_PERCENT = env.integer("GAP_VERIFIED_PERCENT", 80, minimum=1, maximum=100)
CELERY_BEAT_SCHEDULE["check-gap-topics"] = {
    "task": "assistant.tasks.check_gap_topics",
    "schedule": 300,
    "options": {"expires": 300},
}
if ASSISTANT_MODEL and not (OPENAI_API_KEY or OPENAI_BASE_URL):
    raise SettingError("ASSISTANT_MODEL", "set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is")
if ASSISTANT_FALLBACK_MODEL and not ASSISTANT_MODEL:
    raise SettingError("ASSISTANT_FALLBACK_MODEL", "set, but ASSISTANT_MODEL is not")

# The API

API_LIMIT_SECONDS = env.integer("API_LIMIT_SECONDS", 60, minimum=1)
API_REQUESTS_PER_ADDRESS = env.integer("API_REQUESTS_PER_ADDRESS", 300, minimum=1)
API_REQUESTS_PER_TOKEN = env.integer("API_REQUESTS_PER_TOKEN", 600, minimum=1)
API_REQUESTS_WITHOUT_VALKEY = env.integer("API_REQUESTS_WITHOUT_VALKEY", 3000, minimum=1)
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "articles.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Help center API",
    "DESCRIPTION": "Read the articles, search them, keep them in step with another system, and "
    "talk to the assistant.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATIONS": False,
    "TAGS": [
        {"name": name}
        for name in ("Reading", "Editing articles", "Syncing documents", "Editing categories")
    ],
    "PREPROCESSING_HOOKS": ["articles.api.schema.only_articles"],
    # The chat's views are plain Django: the assistant describes them itself.
    "POSTPROCESSING_HOOKS": ["articles.api.schema.add_refusals", "assistant.openapi.add_chat"],
}

# Embeddings

EMBEDDING_BACKEND = env.choice("EMBEDDING_BACKEND", ["local", "openai", "off"], "local")
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL")
EMBEDDING_DIMENSIONS = env.integer("EMBEDDING_DIMENSIONS", 256, minimum=1, maximum=4000)
if EMBEDDING_BACKEND == "openai" and not EMBEDDING_MODEL:
    raise SettingError("EMBEDDING_MODEL", "not set, and EMBEDDING_BACKEND is openai")

# Watching it

METRICS_TOKEN = env.text("METRICS_TOKEN")
LOG_FORMAT = env.choice("LOG_FORMAT", ["text", "json"], "text")
LOGGING = logging_settings(cast(Format, LOG_FORMAT))
