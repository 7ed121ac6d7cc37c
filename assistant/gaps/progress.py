"""How far a run of the report is, for the page that waits for it. While Valkey is down nobody
can tell, and the run goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from redis.exceptions import RedisError

KEY = "gaps.progress"

SECONDS = 60
"""What is not said again for so long is over, or was killed."""

logger = logging.getLogger(__name__)


def say(count: int) -> None:
    """So many questions were taken in by now; 0 while it waits to begin."""
    with _unless_down():
        cache.set(KEY, count, SECONDS)


def over() -> None:
    with _unless_down():
        cache.delete(KEY)


def current() -> int | None:
    """How many questions a run has taken in; None where none is running or waits."""
    with _unless_down():
        found: int | None = cache.get(KEY)
        return found
    return None


@contextmanager
def _unless_down() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        logger.warning("gap_progress_unknown", extra={"error": type(error).__name__})
