"""The one way from asynchronous code to the database: `await db(function, …)`.

The function runs on a thread of a bounded pool, and its connection goes back when it
returns. Where all threads are busy it waits for one, but not for ever. Django's own `a…()`
methods would run it on a thread that belongs to the request and keep that thread, and its
connection, for as long as a task of the request lives.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import OperationalError, connections, transaction

from helpcenter import logs, postgres

DATABASE_DOWN = postgres.DATABASE_DOWN
"""What a step raises where the database is down, full, or has ended the connection."""

THREAD_SECONDS = 5.0
"""How long a request waits for a thread, before it is told to come again."""

PATIENT_SECONDS = 30.0
"""And how long a turn does: somebody waits for what it has begun."""

P = ParamSpec("P")
T = TypeVar("T")

_is_patient: ContextVar[bool] = ContextVar("is_patient", default=False)
_rehearsal: ThreadPoolExecutor | None = None


class BusyError(OperationalError):
    """All threads were in use for too long. The step was not begun."""


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Half of the connections: the pages, which Django runs on threads of its own, need some."""
    workers = max(1, settings.DATABASE_POOL_SIZE // 2)
    return ThreadPoolExecutor(workers, thread_name_prefix="assistant-db")


async def db(step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What `step(…)` returns or raises. Cancelling the wait does not undo the step. Raises
    `BusyError`, one of `DATABASE_DOWN`, where no thread was free for too long."""
    call = functools.partial(_identified, logs.ids(), functools.partial(step, *args, **kwargs))
    loop = asyncio.get_running_loop()
    if _rehearsal is not None:
        return await loop.run_in_executor(_rehearsal, call)
    return await _begun_in_time(_pool().submit(_run, call))


def be_patient() -> None:
    """For the rest of this task: waits longer for a thread."""
    _is_patient.set(True)


async def _begun_in_time(step: Future[T]) -> T:
    """Once begun, a step is waited for: the database's own bounds hold then."""
    is_late = False

    def look() -> None:
        nonlocal is_late
        is_late = step.cancel()

    seconds = PATIENT_SECONDS if _is_patient.get() else THREAD_SECONDS
    timer = asyncio.get_running_loop().call_later(seconds, look)
    try:
        return await asyncio.wrap_future(step)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if is_late and not (task and task.cancelling()):
            raise BusyError("all database threads are in use") from None
        raise
    finally:
        timer.cancel()


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
