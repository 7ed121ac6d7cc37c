"""Tasks that belong to the process, not to the request or socket that happened to start them."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from helpcenter import logs

T = TypeVar("T")

logger = logging.getLogger(__name__)

CANCEL_AGAIN_SECONDS = 0.5

_live: set[asyncio.Task[Any]] = set()


def spawn(
    work: Coroutine[Any, Any, T], name: str, ids: Mapping[str, str] | None = None
) -> asyncio.Task[T]:
    """Starts a task in an empty context: one that inherited a request's would hold the request's
    thread and database connection. It is kept until it ends, and its failure is logged.
    `ids` stand in all log lines that it writes."""
    context = contextvars.Context()
    context.run(logs.bind, **(ids or {}))
    task = asyncio.get_running_loop().create_task(work, name=name, context=context)
    _live.add(task)
    task.add_done_callback(_note_end)
    return task


async def end(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancels tasks and waits until they have ended.

    Not once: `asyncio.wait_for` of Python 3.11, through which the Redis client writes, swallows a
    cancellation that comes just as what it waits for ends.
    """
    running = {task for task in tasks if task is not None and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _ended, running = await asyncio.wait(running, timeout=CANCEL_AGAIN_SECONDS)


def _note_end(task: asyncio.Task[Any]) -> None:
    _live.discard(task)
    if not task.cancelled() and task.exception() is not None:
        logger.error("task_failed", extra={"task": task.get_name()}, exc_info=task.exception())
