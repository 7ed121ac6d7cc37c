"""Tasks of the process are ended for certain."""

from __future__ import annotations

import asyncio

import pytest

from assistant import background


def test_a_task_that_swallows_its_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "CANCEL_AGAIN_SECONDS", 0.01)

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(60)

    async def body() -> None:
        task = background.spawn(work(), "stubborn")
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await background.end(task, None)
        assert task.cancelled()

    asyncio.run(body())
