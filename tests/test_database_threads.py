"""Steps of asynchronous code wait for a database thread, but not for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from assistant import database
from assistant.background import spawn
from assistant.database import DATABASE_DOWN, be_patient, db


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "THREAD_SECONDS", 0.05)
    monkeypatch.setattr(database, "PATIENT_SECONDS", 0.2)


@contextmanager
def busy() -> Iterator[threading.Event]:
    """Inside, all threads are in use until the event is set."""
    free = threading.Event()
    pool = database._pool()
    started = threading.Barrier(pool._max_workers + 1, timeout=10)

    def hold() -> None:
        started.wait()
        free.wait(10)

    with ExitStack() as stack:
        stack.callback(free.set)
        for _ in range(pool._max_workers):
            pool.submit(hold)
        started.wait()
        yield free


def test_a_request_waits_so_long_and_is_refused_without_having_begun() -> None:
    begun: list[int] = []

    async def crowd() -> None:
        with busy() as free:
            waiting = [asyncio.create_task(db(begun.append, number)) for number in range(50)]
            await asyncio.wait(waiting, timeout=1)
            assert all(isinstance(one.exception(), DATABASE_DOWN) for one in waiting)
            free.set()
        assert await db(str, 7) == "7"

    asyncio.run(crowd())
    assert begun == []


def test_a_turn_waits_longer_but_not_for_ever() -> None:
    async def turn(number: int) -> str:
        be_patient()
        return await db(str, number)

    async def turns() -> None:
        with busy() as free:
            asyncio.get_running_loop().call_later(0.1, free.set)
            assert await spawn(turn(7), "a turn") == "7"
        with busy(), pytest.raises(DATABASE_DOWN):
            await asyncio.create_task(turn(8))

    asyncio.run(turns())


def test_a_step_that_has_begun_may_take_its_time() -> None:
    async def long() -> bool:
        over = threading.Event()
        asyncio.get_running_loop().call_later(0.15, over.set)
        return await db(over.wait, 10)

    assert asyncio.run(long())


def test_who_goes_while_waiting_is_cancelled_and_not_refused() -> None:
    async def going() -> None:
        with busy():
            waiting = asyncio.create_task(db(str, 7))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(going())
