"""The one way from asynchronous code to the database: `await db(function, …)`.

The function runs on a thread of a bounded pool, and its connection goes back when it
returns. Django's own `a…()` methods would run it on a thread that belongs to the request
and keep that thread, and its connection, for as long as a task of the request lives.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections

DATABASE_DOWN = (OperationalError, InterfaceError)
"""What a step raises where the database is down, full, or has ended the connection."""

P = ParamSpec("P")
T = TypeVar("T")


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Half of the connections: the pages, which Django runs on threads of its own, need some."""
    workers = max(1, settings.DATABASE_POOL_SIZE // 2)
    return ThreadPoolExecutor(workers, thread_name_prefix="assistant-db")


async def db(step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What `step(…)` returns or raises. Cancelling the wait does not undo the step."""
    call = functools.partial(step, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool(), _run, call)


def _run(call: Callable[[], T]) -> T:
    try:
        return call()
    finally:
        connections.close_all()
