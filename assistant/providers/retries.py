"""When to try a provider again, and how long to wait before it."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from assistant.agent import ProviderError


@dataclass(frozen=True)
class Patience:
    """At most `attempts`, with doubling waits of seconds between them.

    A visitor is waiting: a provider that asks for more than `longest_wait` is not
    asked again.
    """

    attempts: int = 3
    first_wait: float = 0.4
    longest_wait: float = 8.0

    def delay(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds to wait after attempt number `attempt` failed; None to give up."""
        if not error.retryable or attempt >= self.attempts:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_wait else None
        wait = self.first_wait * 2.0 ** (attempt - 1)
        return min(wait * random.uniform(0.75, 1.25), self.longest_wait)  # noqa: S311


def told_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds in a response's Retry-After (a number or a date) or retry-after-ms."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None else _until(value)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return None
