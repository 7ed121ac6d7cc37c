"""Draining: tracked tasks may finish, for a while."""

import asyncio

import pytest

from helpcenter import drain


@pytest.fixture(autouse=True)
def undrained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "_draining", asyncio.Event())
    monkeypatch.setattr(drain, "_tasks", set())


def test_it_begins_once_and_stays() -> None:
    assert not drain.is_draining()
    drain.begin()
    drain.begin()
    assert drain.is_draining()


def test_with_nothing_alive_there_is_nothing_to_wait_for() -> None:
    assert asyncio.run(drain.wait(60)) == 0


def test_it_waits_for_tracked_tasks_and_for_those_they_start() -> None:
    finished: list[str] = []

    async def second() -> None:
        finished.append("second")

    async def first(go: asyncio.Event) -> None:
        await go.wait()
        drain.track(asyncio.create_task(second()))
        finished.append("first")

    async def body() -> int:
        go = asyncio.Event()
        drain.track(asyncio.create_task(first(go)))
        waiting = asyncio.create_task(drain.wait(60))
        await asyncio.sleep(0)
        assert not waiting.done()
        go.set()
        return await waiting

    assert asyncio.run(body()) == 0
    assert finished == ["first", "second"]


def test_it_gives_up_when_the_time_is_over_and_says_how_many_live() -> None:
    async def body() -> int:
        task = asyncio.create_task(asyncio.Event().wait())
        drain.track(task)
        left = await drain.wait(0.01)
        task.cancel()
        return left

    assert asyncio.run(body()) == 1


def test_a_task_that_fails_is_forgotten_like_any_other() -> None:
    async def fail() -> None:
        raise RuntimeError

    async def body() -> int:
        task = asyncio.create_task(fail())
        drain.track(task)
        left = await drain.wait(60)
        assert isinstance(task.exception(), RuntimeError)
        return left

    assert asyncio.run(body()) == 0
