"""One turn among everything that may happen to it: any story has one beginning and one end.

A story is drawn: what the provider says and how it ends, and in between resends, viewers that
come, look from any place and go, here and in another process, stops, and a Valkey that goes away.
Whatever happens, every viewer is told the same, on every transport, and the database has it.
TURN_STORIES says how many; `make proof` tries 500.
"""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as ValkeyDownError

from articles.access import ANONYMOUS
from assistant import chat
from assistant.access import Owner
from assistant.database import db
from assistant.eventlog import Entry, EventLog, LostError, writing
from assistant.eventlog.store import Store
from assistant.models import Answer, Conversation
from tests.chat_clients import ANSWERS, Person, follow, in_loop, read_sse
from tests.scripted_provider import ScriptedProvider, Step, Wait, say
from tests.streams import Event, text_of, verified
from tests.turn_endings import ENDS, STATUS

STORIES = int(os.environ.get("TURN_STORIES", "12"))
WORDS = 5
T = TypeVar("T")


@dataclass(frozen=True)
class Act:
    """Something that happens. `place`: a cursor, or which transport."""

    kind: str
    place: int = 0


ACTS = st.builds(
    Act,
    st.sampled_from(
        [
            *("word", "word", "word", "resend", "watch", "watch html", "look", "look there"),
            *("stop", "stop there", "valkey down", "valkey up"),
        ]
    ),
    st.integers(0, 8),
)


class Faults:
    """A Valkey that can be taken away from the log."""

    def __init__(self) -> None:
        self.is_down = False

    @contextmanager
    def injected(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing, "PROBE_SECONDS", 0.02)
            for name in ("append", "read", "last", "read_new", "request_stop", "stops_requested"):
                patch.setattr(Store, name, self._faulty(getattr(Store, name)))
            yield

    def _faulty(self, method: Any) -> Any:
        async def call(*arguments: Any) -> Any:
            if self.is_down:
                raise ValkeyDownError
            return await method(*arguments)

        return call


async def elsewhere(work: Callable[[], Awaitable[T]]) -> T:
    """What `work` gives in a loop of its own, which shares nothing with this one but the servers:
    as another process would see it."""

    async def whole() -> T:
        try:
            return await work()
        finally:
            await EventLog.current().aclose()

    return await asyncio.to_thread(asyncio.run, whole())


class Story:
    """What happens, and what everybody was told."""

    def __init__(self, provider: ScriptedProvider, end: str) -> None:
        self.provider = provider
        self.end = end
        self.gates = [threading.Event() for _ in range(WORDS)]
        self.faults = Faults()
        self.tasks: list[asyncio.Task[tuple[int, list[Event]]]] = []
        self.resent: list[asyncio.Task[dict[str, Any]]] = []
        self.stops: list[asyncio.Task[None]] = []
        steps: list[Step] = []
        for number, gate in enumerate(self.gates):
            steps += [Wait(gate), say(f"word{number} ")]
        provider.reply(*steps, *ENDS[end])

    async def run(self, acts: list[Act]) -> None:
        self.person = await Person.visitor()
        response = await self.person.open_sse("How?", key="k")
        self.seen = await read_sse(response, until_type="started")
        self.answer_id = self.seen[0]["answer_id"]
        self.tasks.append(asyncio.create_task(self._watch(self.seen[-1]["seq"])))
        try:
            for act in acts:
                await self._do(act)
                await asyncio.sleep(0)
        finally:
            self.faults.is_down = False
            for gate in self.gates:
                gate.set()
        if self.end == "silence" or self.stops:
            self.stops.append(asyncio.create_task(self._stop()))
        await asyncio.gather(*self.stops)
        rests = await asyncio.gather(*self.tasks)
        resent = await asyncio.gather(*self.resent)
        await self._verify(rests, resent)

    async def _do(self, act: Act) -> None:
        match act.kind:
            case "word":
                closed = [gate for gate in self.gates if not gate.is_set()]
                if closed:
                    closed[0].set()
                    await asyncio.sleep(0.01)
            case "watch" | "watch html":
                html = act.kind == "watch html"
                # Blocks are held back for a moment: nobody has html up to the newest word.
                after = 0 if html else min(act.place, await self._newest())
                self.tasks.append(asyncio.create_task(self._watch(after, html=html)))
            case "resend":
                self.resent.append(asyncio.create_task(self._resend(act.place % 3)))
            case "look":
                await self._look(min(act.place, await self._newest()))
            case "look there":
                await elsewhere(partial(self._look, min(act.place, await self._newest())))
            case "stop":
                self.stops.append(asyncio.create_task(self._stop()))
            case "stop there" if not self.faults.is_down:
                await elsewhere(self._stop)
                self.stops.append(asyncio.create_task(self._stop()))
            case "valkey down" | "valkey up":
                self.faults.is_down = act.kind == "valkey down"

    async def _watch(self, after: int, *, html: bool = False) -> tuple[int, list[Event]]:
        url = f"{ANSWERS}{self.answer_id}/events/?after={after}{'&render=html' if html else ''}"
        response = await self.person.get(url)
        return after, [] if response.status_code == 204 else await read_sse(response)

    async def _newest(self) -> int:
        """Nobody has seen more than there is."""
        with suppress(LostError):
            return (await EventLog.current().entries(uuid.UUID(self.answer_id)))[-1].seq
        return (await db(Answer.objects.get)).last_seq

    async def _look(self, after: int) -> None:
        """A viewer who goes again after the first that comes."""
        found = await self._found()
        batches = chat.events(found.answer_id, ANONYMOUS, after=after)
        async with aclosing(batches) as events:
            try:
                async with asyncio.timeout(0.05):
                    batch: list[Entry] = await anext(events, [])
                    assert all(entry.seq > after or entry.is_last for entry in batch)
            except TimeoutError:
                pass

    async def _resend(self, transport: int) -> dict[str, Any]:
        if transport == 0:
            return dict((await self.person.ask_json("How?", key="k")).json())
        ask = self.person.ask_sse if transport == 1 else self.person.ask_ws
        return (await ask("How?", key="k"))[-1]

    async def _stop(self) -> None:
        await chat.stop(await self._found())

    async def _found(self) -> chat.Found:
        visitor = await db(Conversation.objects.values_list("visitor_id", flat=True).get)
        return await chat.find_answer(Owner(visitor_id=visitor), self.answer_id)

    async def _verify(
        self, rests: list[tuple[int, list[Event]]], resent: list[dict[str, Any]]
    ) -> None:
        answer = await db(Answer.objects.get)
        assert answer.status in {STATUS[self.end], *(["stopped"] if self.stops else [])}
        whole = await self.person.resume_sse(self.answer_id)
        end = whole[-1]
        assert end.get("status", "failed") == answer.status
        assert end["text"] == answer.text == text_of(whole)
        assert "word0 word1 word2 word3 word4 ".startswith(answer.text) or self.end == "filter"
        for after, rest in rests:
            if after < end["seq"]:
                verified(rest, after)
            for event in rest:
                assert event["seq"] <= end["seq"]
            if rest:
                assert {**rest[-1], "html": ""} == {**end, "html": ""}, "one end for all"
            if not any(event["type"] == "html" for event in rest) and 0 < after < end["seq"]:
                before = [event for event in whole if event["seq"] <= after]
                assert text_of([*before, *rest]).endswith(text_of(rest))
        for told in resent:
            if "error" in told:
                assert answer.status == "failed"
            else:
                assert told["text"] == answer.text
        asked = len(self.provider.requests)
        assert asked == 1 or (asked == 0 and self.stops), "one send, one turn"
        assert await elsewhere(partial(follow, answer)) == whole


@pytest.mark.django_db(transaction=True)
@settings(
    max_examples=STORIES,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.sampled_from(sorted(ENDS)), st.lists(ACTS, max_size=14))
def test_any_story_of_a_turn_has_one_beginning_and_one_end(end: str, acts: list[Act]) -> None:
    Conversation.objects.all().delete()
    with ScriptedProvider() as provider:
        provider.forgives_leaving = True
        story = Story(provider, end)

        async def body() -> None:
            with story.faults.injected():
                await story.run(acts)

        with override_settings(
            OPENAI_BASE_URL=provider.url,
            ASSISTANT_MODEL="scripted",
            ASSISTANT_TURNS_PER_ADDRESS=10**6,
        ):
            in_loop(body)
        if story.stops:
            provider.forgives_unused = True
