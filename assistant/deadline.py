"""One deadline for many waits: `asyncio.timeout` at the price of one timer in place of one a wait.

Pure. A turn waits for every token of a model, and a timeout around each was an eighth of
what a token cost. Waits come one after the other, from whichever task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Deadline:
    """Made on a running loop; `cancel` it when nothing is waited for any more."""

    def __init__(self, seconds: float) -> None:
        self._has_passed = False
        self._waiting: asyncio.Task[object] | None = None
        self._timer = asyncio.get_running_loop().call_later(max(seconds, 0), self._pass)

    async def wait(self, step: Callable[[], Awaitable[T]]) -> T:
        """The result of `step()`. Raises `TimeoutError` where the deadline passes before it, and
        leaves a cancellation from outside what it is."""
        if self._has_passed:
            raise TimeoutError
        task = self._waiting = asyncio.current_task()
        requested = task.cancelling() if task else 0
        try:
            return await step()
        except asyncio.CancelledError:
            if self._has_passed and task and task.uncancel() <= requested:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def cancel(self) -> None:
        self._timer.cancel()

    def _pass(self) -> None:
        self._has_passed = True
        if self._waiting is not None:
            self._waiting.cancel()
