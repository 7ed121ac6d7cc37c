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
    task.add_done_callback(_ended)
    return task


async def end(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancels tasks and waits until they have ended."""
    running = [task for task in tasks if task is not None and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)


def _ended(task: asyncio.Task[Any]) -> None:
    _live.discard(task)
    if not task.cancelled() and task.exception() is not None:
        logger.error("task_failed", extra={"task": task.get_name()}, exc_info=task.exception())
