"""One deadline for many waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from assistant.deadline import Deadline


def in_loop(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(body)


async def gives(value: str) -> str:
    await asyncio.sleep(0)
    return value


async def hangs() -> None:
    await asyncio.Event().wait()


def test_what_comes_in_time_is_given() -> None:
    async def body() -> None:
        deadline = Deadline(5)
        assert await deadline.wait(lambda: gives("a")) == "a"
        assert await deadline.wait(lambda: gives("b")) == "b"
        deadline.cancel()

    in_loop(body())


def test_what_does_not_come_ends_with_the_deadline_and_the_task_goes_on() -> None:
    async def body() -> None:
        with pytest.raises(TimeoutError):
            await Deadline(0.01).wait(hangs)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        assert await gives("on") == "on"

    in_loop(body())


@pytest.mark.parametrize("seconds", [-1.0, 0.0])
def test_nothing_is_begun_after_the_deadline(seconds: float) -> None:
    begun: list[str] = []

    async def step() -> None:
        begun.append("step")

    async def body() -> None:
        deadline = Deadline(seconds)
        await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await deadline.wait(step)

    in_loop(body())
    assert begun == []


def test_a_cancelled_deadline_never_passes() -> None:
    async def body() -> None:
        deadline = Deadline(0.01)
        deadline.cancel()
        await asyncio.sleep(0.02)
        assert await deadline.wait(lambda: gives("a")) == "a"

    in_loop(body())


def test_a_cancellation_from_outside_stays_one() -> None:
    async def body() -> None:
        waiting = asyncio.create_task(_wait(5))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    in_loop(body())


def test_a_cancellation_from_outside_that_meets_the_deadline_stays_one() -> None:
    async def body() -> None:
        waiting = asyncio.create_task(_wait(0.01))
        await asyncio.sleep(0)
        # Both come before the task hears of either.
        asyncio.get_running_loop().call_later(0.01, waiting.cancel)
        time.sleep(0.03)  # noqa: ASYNC251 - the loop has to be late
        with pytest.raises(asyncio.CancelledError):
            await waiting

    in_loop(body())


def test_a_cancellation_that_was_over_before_does_not_count() -> None:
    async def go_on() -> None:
        with suppress(asyncio.CancelledError):
            await hangs()
        with pytest.raises(TimeoutError):
            await Deadline(0.01).wait(hangs)

    async def body() -> None:
        going_on = asyncio.create_task(go_on())
        await asyncio.sleep(0)
        going_on.cancel()
        await going_on

    in_loop(body())


def test_a_deadline_that_passes_while_nobody_waits_disturbs_nobody() -> None:
    async def body() -> None:
        wrong: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, found: wrong.append(found))
        Deadline(0)
        deadline = Deadline(0.01)
        assert await deadline.wait(lambda: gives("a")) == "a"
        await asyncio.sleep(0.02)
        assert wrong == []

    in_loop(body())


async def _wait(seconds: float) -> None:
    await Deadline(seconds).wait(hangs)
