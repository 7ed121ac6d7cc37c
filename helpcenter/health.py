"""`/healthz`: the process is alive. `/readyz`: it can serve, by checks that are listed one by one.

An app adds its own with `register`, in its `AppConfig.ready`. A check returns what is wrong in a
few words fit for strangers, or None; one that raises has failed. A note (`register_note`) is shown
beside the checks and makes nothing unready: it tells of something that the site can do without.
"""

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.backoff import NoBackoff
from redis.retry import Retry

from helpcenter import drain, postgres

logger = logging.getLogger(__name__)

OUT_OF_REACH = (*postgres.DATABASE_DOWN, redis.RedisError, OSError)

Check = Callable[[], str | None]

_checks: dict[str, Check] = {}
_notes: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Make `check` a part of readiness. A second one of the same name replaces the first."""
    _checks[name] = check


def register_note(name: str, note: Check) -> None:
    """Show what `note` says, whatever it says."""
    _notes[name] = note


def problems() -> dict[str, str | None]:
    """What each check has to say, None where all is well."""
    return {name: _outcome(name, check) for name, check in _checks.items()}


def _outcome(name: str, check: Check) -> str | None:
    try:
        return check()
    except OUT_OF_REACH as error:
        # Asked every few seconds, for as long as it lasts: where it comes from is no news.
        logger.warning("health_check_failed", extra={"check": name, "error": type(error).__name__})
        return "failed"
    except Exception:
        # Whatever a check dies of is what this page is there to report.
        logger.exception("health_check_failed", extra={"check": name})
        return "failed"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """A process that drains says so at once, however its database and Valkey are."""
    if drain.is_draining():
        return JsonResponse(
            {"status": "unavailable", "checks": {"server": "draining"}, "notes": {}}, status=503
        )
    found = problems()
    ready = not any(found.values())
    checks = {name: problem or "ok" for name, problem in found.items()}
    notes = {name: _outcome(name, note) or "ok" for name, note in _notes.items()}
    return JsonResponse(
        {"status": "ok" if ready else "unavailable", "checks": checks, "notes": notes},
        status=200 if ready else 503,
    )


def check_database() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


def check_migrations() -> str | None:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} migrations are not applied" if plan else None


def check_valkey() -> str | None:
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
    ) as client:
        client.ping()
    return None


register("server", lambda: None)
register("database", check_database)
register("migrations", check_migrations)
register("valkey", check_valkey)
