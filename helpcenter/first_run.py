"""What stands between a checkout and a site that can serve. Every step may be repeated.

The demo content and the first account come only into a database that has none.
"""

import secrets
from pathlib import Path

import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import OperationalError, connection

from helpcenter import assets, health
from helpcenter.environment import SettingError

ADMIN = "admin"


def check_servers() -> None:
    """Refuse, in one line, servers that do not answer or cannot do what the site needs."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM pg_available_extensions WHERE name = 'vector'")
            has_vectors = bool(cursor.fetchall())
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingError("DATABASE_URL", f"the database does not answer: {reason}") from None
    if not has_vectors:
        raise SettingError("DATABASE_URL", "the server has no pgvector; install the extension")
    try:
        health.check_valkey()
    except redis.RedisError as error:
        raise SettingError("REDIS_URL", f"the server does not answer: {error}") from None


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


def collect_assets() -> None:
    """Collect the assets, unless exactly these were collected the last time."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    state = assets.fingerprint()
    if stamp.exists() and stamp.read_text() == state:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(state)


def load_demo() -> None:
    """The product's manual as articles, into a site that nobody has set up yet."""
    call_command("load_demo", once=True)


def create_admin() -> str | None:
    """The password of a new first account, None where there is a superuser already."""
    users = get_user_model()._default_manager
    if users.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    users.create_superuser(username=ADMIN, email="", password=password)
    return password
