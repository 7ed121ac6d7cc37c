"""A stream that is cut and resumed, anywhere and often: nothing is lost, and nothing told twice.

CUTS says how many; `make proof` makes 2,000.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from articles.access import ANONYMOUS
from assistant import chat
from assistant.database import db
from assistant.frames import Encoder
from assistant.models import Answer
from tests.chat_clients import PATIENCE, Person, in_loop, other_process, until
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage
from tests.search_index import make_indexed
from tests.streams import Event, text_of, verified

pytestmark = pytest.mark.django_db(transaction=True)

CUTS = int(os.environ.get("CUTS", "80"))
MOSTLY = 0.95
"""So many of them from the log, also on a machine that is busy."""


async def read(answer: Answer, after: int, most: int | None = None) -> list[Event]:
    """What a viewer is told who has everything up to `after`, and goes after `most` events."""
    encoder, told = Encoder(answer.pk, answer.conversation_id), list[Event]()
    async with aclosing(chat.events(answer.pk, ANONYMOUS, after=after)) as batches:
        async for batch in batches:
            for entry in batch:
                told.append(json.loads(encoder.json(entry)))
                if most is not None and len(told) == most:
                    return told
    return told


async def with_cuts(answer: Answer, places: tuple[int, ...]) -> list[Event]:
    """The whole as somebody has it whose connection breaks after these numbers of events, and who
    goes on in the other process each time."""
    told: list[Event] = []
    for number, place in enumerate([*places, None]):
        most = None if place is None else place - len(told)
        after = told[-1]["seq"] if told else 0
        if number % 2:
            async with other_process():
                told += await read(answer, after, most)
        else:
            told += await read(answer, after, most)
    return told


def is_whole(told: list[Event], whole: list[Event]) -> bool:
    """Whether each event came as it was first told. The end, which has all of the text, always
    does, and no text comes twice or out of order. Where the log does not answer in time, the
    database tells the rest of the text in one piece, or the end alone."""
    assert told[-1] == whole[-1]
    seqs = [event["seq"] for event in told]
    assert seqs == sorted(set(seqs))
    assert whole[-1]["text"].startswith(text_of(told))
    return told == whole


def ways_to_cut(events: int) -> Iterator[tuple[int, ...]]:
    """Once at each event, then twice and three times, until there were enough cuts."""
    once = itertools.combinations(range(1, events), 1)
    more = [
        *itertools.combinations(range(1, events), 2),
        *itertools.combinations(range(1, events), 3),
    ]
    random.shuffle(more)
    made = 0
    for places in itertools.chain(once, more):
        if made >= CUTS:
            return
        made += len(places)
        yield places


def script(provider: ScriptedProvider, gate: threading.Event | None = None) -> None:
    provider.call("search_articles", {"query": "export"})
    provider.call("open_article", {"slug": "export-a-project"}, "b")
    words = [say(f"word{number} [1]\n\n") for number in range(8)]
    held = [Wait(gate)] if gate else []
    provider.reply(*words[:4], *held, *words[4:], finish(), usage(), DONE)


@pytest.fixture
def article(transactional_db: None) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")


@pytest.mark.usefixtures("article")
def test_a_finished_answer_is_the_same_however_it_is_cut(provider: ScriptedProvider) -> None:
    script(provider)

    async def body() -> None:
        person = await Person.visitor()
        whole = verified(await person.ask_sse("How do I export?"))
        answer = await db(Answer.objects.get)
        cuts = list(ways_to_cut(len(whole)))
        wholes = [is_whole(await with_cuts(answer, places), whole) for places in cuts]
        assert sum(wholes) >= MOSTLY * len(cuts)

    in_loop(body, PATIENCE + CUTS / 10)


@pytest.mark.field_report("B33")
@pytest.mark.usefixtures("article")
def test_a_live_answer_is_the_same_however_it_is_cut(provider: ScriptedProvider) -> None:
    """Many viewers at once, cut before the middle; the rest comes to all of them."""
    gate = threading.Event()
    script(provider, gate)

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How do I export?"))
        await until(lambda: len(provider.requests) == 3 and provider.requests[2].sent == 4, "words")
        answer = await db(Answer.objects.get)
        half: list[Event] = []
        while sum(event["type"] == "delta" for event in half) < 1:
            half = await read(answer, 0, most=len(half) + 1)
        cuts = list(ways_to_cut(len(half) + 1))

        async def viewer(places: tuple[int, ...]) -> list[Event]:
            told: list[Event] = []
            for place in places:
                told += await read(answer, told[-1]["seq"] if told else 0, place - len(told))
            return [*told, *await read(answer, told[-1]["seq"])]

        viewers = [asyncio.create_task(viewer(places)) for places in cuts]
        await asyncio.sleep(0)
        gate.set()
        whole = verified(await watching)
        wholes = [is_whole(told, whole) for told in await asyncio.gather(*viewers)]
        assert sum(wholes) >= MOSTLY * len(cuts)

    in_loop(body, PATIENCE + CUTS / 10)
