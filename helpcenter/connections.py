"""What a server's URL in the environment says, in the form in which a library wants it."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from helpcenter.environment import Environment, SettingError

DATABASE_SCHEMES = ["postgresql", "postgres"]
REDIS_SCHEMES = ["redis", "rediss", "unix"]
EMAIL_SCHEMES = ["smtp", "smtps", "console", "file"]

# How searches behave. Vectors: a narrow filter goes on scanning until it has enough rows, and what
# comes late is not dropped, for they are put in order afterwards. Statements: short ones that look
# expensive to the planner are neither compiled nor shared out to workers, which takes longer.
SEARCH_OPTIONS = (
    "-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search=150"
    " -c jit=off -c max_parallel_workers_per_gather=0"
)


# A server that is not there is given up soon, also where the network says nothing of it.
NETWORK_OPTIONS = {
    "connect_timeout": "3",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",  # milliseconds
}

# For handing out a task while somebody waits for a page or an answer: one attempt, as with
# everything else that is asked of Valkey. Workers, which wait for tasks, are patient.
IMPATIENT_BROKER = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5, "max_retries": 0}


def database_settings(url: str) -> dict[str, Any]:
    """An entry of DATABASES for a PostgreSQL URL, as libpq reads it."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise SettingError("DATABASE_URL", "not a valid postgresql:// URL") from None
    options = f"{SEARCH_OPTIONS} {parts.pop('options', '')}".strip()
    return {
        "ENGINE": "helpcenter.postgres",
        "NAME": _named(parts.pop("dbname", "")),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        # A turn gives its connection back after each step; a pool, not age, keeps them open.
        "CONN_MAX_AGE": 0,
        "OPTIONS": {**NETWORK_OPTIONS, **parts, "options": options},
    }


def _named(database: object) -> object:
    if not database:
        raise SettingError("DATABASE_URL", "names no database: postgresql://host/database")
    return database


def broker_url(redis_url: str) -> str:
    """The URL by which Celery finds the same Redis; it has its own way to write a socket's."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"


def email_settings(url: str) -> dict[str, Any]:
    """Django's EMAIL_* settings for `smtp://user:password@host:587?tls=on`, `smtps://…` (TLS from
    the first byte), `file:///folder` or `console://`."""
    parts = urlsplit(url)
    backend = {"console": "console", "file": "filebased"}.get(parts.scheme, "smtp")
    settings: dict[str, Any] = {
        "EMAIL_BACKEND": f"django.core.mail.backends.{backend}.EmailBackend"
    }
    if backend == "filebased":
        settings["EMAIL_FILE_PATH"] = unquote(parts.path)
    if backend == "smtp":
        settings |= _smtp_settings(url)
    return settings


def _smtp_settings(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    implicit = parts.scheme == "smtps"
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    tls = Environment({"EMAIL_URL": query.get("tls", "")}).boolean("EMAIL_URL", not implicit)
    try:
        port = parts.port or (465 if implicit else 587)
    except ValueError:
        raise SettingError("EMAIL_URL", "the port is not a number") from None
    if not parts.hostname:
        raise SettingError("EMAIL_URL", "names no host: smtp://user:password@host:587")
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": implicit,
        "EMAIL_USE_TLS": tls and not implicit,
        "EMAIL_TIMEOUT": 20,
    }
