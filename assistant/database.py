"""The one way from asynchronous code to the database: `await db(function, …)`.

The function runs on a thread of a bounded pool, and its connection goes back when it
returns. Django's own `a…()` methods would run it on a thread that belongs to the request
and keep that thread, and its connection, for as long as a task of the request lives.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connections, transaction

from helpcenter import logs, postgres

DATABASE_DOWN = postgres.DATABASE_DOWN
"""What a step raises where the database is down, full, or has ended the connection."""

P = ParamSpec("P")
T = TypeVar("T")

_rehearsal: ThreadPoolExecutor | None = None


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Half of the connections: the pages, which Django runs on threads of its own, need some."""
    workers = max(1, settings.DATABASE_POOL_SIZE // 2)
    return ThreadPoolExecutor(workers, thread_name_prefix="assistant-db")


async def db(step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What `step(…)` returns or raises. Cancelling the wait does not undo the step."""
    call = functools.partial(_identified, logs.ids(), functools.partial(step, *args, **kwargs))
    loop = asyncio.get_running_loop()
    if _rehearsal is not None:
        return await loop.run_in_executor(_rehearsal, call)
    return await loop.run_in_executor(_pool(), _run, call)


def is_rehearsal() -> bool:
    """Whether nobody waits for what happens here, and nothing of it stays."""
    return _rehearsal is not None


@asynccontextmanager
async def rehearsal() -> AsyncGenerator[None, None]:
    """Inside, every step of the process runs on one connection, in one transaction that is
    undone at the end: nobody else ever sees a row of it, and nothing that waits for a commit
    happens. For checks that play whole turns; one at a time, in a process of its own."""
    global _rehearsal
    if _rehearsal is not None:
        raise RuntimeError("a rehearsal is under way")
    atomic = transaction.atomic()
    with ThreadPoolExecutor(1, thread_name_prefix="assistant-rehearsal") as thread:
        _rehearsal = thread
        try:
            await db(atomic.__enter__)
            try:
                yield
            finally:
                await db(_undo, atomic)
        finally:
            _rehearsal = None


def _undo(atomic: transaction.Atomic) -> None:
    try:
        transaction.set_rollback(True)
        atomic.__exit__(None, None, None)
    finally:
        connections.close_all()


def _identified(ids: Mapping[str, str], call: Callable[[], T]) -> T:
    """The thread knows nothing of who waits for it: its log lines are given their ids here."""
    with logs.bound(**ids):
        return call()


def _run(call: Callable[[], T]) -> T:
    try:
        return call()
    finally:
        connections.close_all()
