"""One deadline for many waits: `asyncio.timeout` at the price of one timer in place of one a wait.

Pure. A turn waits for every token of a model, and a timeout around each was an eighth of what a
token cost: on each it asks for the running loop and the current task, which are system calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

T = TypeVar("T")


class Deadline:
    """Made by the task that waits; `cancel` it when nothing is waited for any more."""

    def __init__(self, seconds: float) -> None:
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._is_waiting = False
        self._has_passed = False
        self._timer = asyncio.get_running_loop().call_later(max(seconds, 0), self._pass)

    async def wait(self, step: Callable[[], Awaitable[T]]) -> T:
        """The result of `step()`. Raises `TimeoutError` where the deadline passes before it, and
        leaves a cancellation from outside what it is."""
        if self._has_passed:
            raise TimeoutError
        requested = self._task.cancelling()
        self._is_waiting = True
        try:
            return await step()
        except asyncio.CancelledError:
            if self._has_passed and self._task.uncancel() <= requested:
                raise TimeoutError from None
            raise
        finally:
            self._is_waiting = False

    def cancel(self) -> None:
        self._timer.cancel()

    def _pass(self) -> None:
        self._has_passed = True
        if self._is_waiting:
            self._task.cancel()
