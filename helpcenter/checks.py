"""System checks of the site's settings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks


@checks.register(checks.Tags.compatibility)
def check_connections(**kwargs: Any) -> list[checks.CheckMessage]:
    """No connection to the database is kept by its age: threads come and go with requests under
    ASGI, and each would keep its own. The web server has a pool."""
    if settings.DATABASES["default"].get("CONN_MAX_AGE", 0) == 0:
        return []
    return [
        checks.Error(
            "CONN_MAX_AGE keeps database connections until PostgreSQL has none left.",
            hint="Leave it 0; the web server pools DATABASE_POOL_SIZE connections.",
            id="helpcenter.E001",
        )
    ]
