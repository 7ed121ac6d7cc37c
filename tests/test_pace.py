"""How often a process reads each of its answers on: at once while they are few, in turn then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, aclosing

import pytest
from asgiref.sync import async_to_sync

from assistant.agent import Finished, TextDelta
from assistant.providers.openai import OpenAIModel
from assistant.providers.pace import MOST_TICKS, STREAMS_PER_TICK, TICK_SECONDS, Pace
from bench.paced_provider import MARK, paced_provider

QUESTION = [{"role": "user", "content": "How do I export?"}]
MANY = MOST_TICKS * STREAMS_PER_TICK


@pytest.fixture
def endpoint() -> Iterator[str]:
    with paced_provider(20, 100.0) as url:
        yield url


async def _rests(pace: Pace, streams: int, resting: int) -> list[float]:
    """How long each of so many streams rested, in seconds, of so many that there are."""

    async def rest() -> float:
        began = time.monotonic()
        await pace.rest(asyncio.get_running_loop())
        return time.monotonic() - began

    with ExitStack() as stack:
        for _ in range(streams):
            stack.enter_context(pace.stream())
        return list(await asyncio.gather(*(rest() for _ in range(resting))))


def test_the_few_do_not_rest() -> None:
    async def goes_on_at_once() -> bool:
        pace = Pace.current()
        with pace.stream(), pytest.raises(StopIteration):
            pace.rest(asyncio.get_running_loop()).send(None)
        return True

    assert async_to_sync(goes_on_at_once)()


def test_the_more_there_are_the_longer_each_rests_up_to_an_end() -> None:
    rests = async_to_sync(_rests)
    some, many, crowd = (
        min(rests(Pace(), streams, 1)[0] for _ in range(3))
        for streams in (STREAMS_PER_TICK, MANY, 10 * MANY)
    )
    assert 0.9 * TICK_SECONDS < some < many
    assert many > 0.9 * MOST_TICKS * TICK_SECONDS
    assert crowd < 2 * MOST_TICKS * TICK_SECONDS


def test_those_who_rested_go_on_together() -> None:
    async def order() -> list[str]:
        pace = Pace()
        went_on: list[str] = []

        async def rest(name: str) -> None:
            await pace.rest(asyncio.get_running_loop())
            asyncio.get_running_loop().call_soon(went_on.append, "the next turn of the loop")
            went_on.append(name)

        with ExitStack() as stack:
            for _ in range(MANY):
                stack.enter_context(pace.stream())
            await asyncio.gather(*(rest("a stream") for _ in range(20)))
        return went_on

    assert async_to_sync(order)()[:20] == ["a stream"] * 20


def test_one_who_leaves_keeps_nobody_from_going_on() -> None:
    async def leave() -> bool:
        pace = Pace()
        with ExitStack() as stack:
            for _ in range(MANY):
                stack.enter_context(pace.stream())
            leaving, staying = (
                asyncio.create_task(pace.rest(asyncio.get_running_loop())) for _ in range(2)
            )
            await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.wait_for(staying, 5)
        return leaving.cancelled()

    assert async_to_sync(leave)()


def test_a_stream_that_has_ended_counts_no_more() -> None:
    async def goes_on_at_once() -> bool:
        pace = Pace()
        await _rests(pace, MANY, 1)
        with pytest.raises(StopIteration):
            pace.rest(asyncio.get_running_loop()).send(None)
        return True

    assert async_to_sync(goes_on_at_once)()


def test_among_many_every_word_comes_and_in_fewer_pieces(endpoint: str) -> None:
    model = OpenAIModel(name="paced", base_url=endpoint)

    async def listen() -> tuple[int, str]:
        pieces = []
        async with aclosing(model.stream(QUESTION, ())) as stream:
            async for event in stream:
                match event:
                    case TextDelta(text):
                        pieces.append(text)
                    case Finished(reason):
                        assert reason == "stop"
        return len(pieces), "".join(pieces)

    @async_to_sync
    async def listen_together() -> list[tuple[int, str]]:
        return list(await asyncio.gather(*(listen() for _ in range(MANY))))

    heard = listen_together()
    assert {text.count(MARK) for _pieces, text in heard} == {20}
    assert max(pieces for pieces, _text in heard) < 20
