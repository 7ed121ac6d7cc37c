"""A turn among everything that may happen to it where it really runs: in one of two processes,
which are killed, told to end and started again, beside a provider and a Valkey that fail.

Its viewers come again, to whichever process serves. Whatever happens, each of them is told one
beginning and one end, the same as all others, and the database has it.
PROCESS_STORIES says how many; `make proof` tries 20.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from assistant import tasks
from assistant.database import db
from assistant.models import Answer, Conversation
from tests.cluster import Cluster
from tests.scripted_provider import Step, Wait, say
from tests.site_visitors import (
    AGAIN_SECONDS,
    ANSWERS,
    CONNECTION_LOST,
    LAST_TYPES,
    Events,
    RefusedError,
    Viewer,
    Visitor,
    may_come_again,
    until,
)
from tests.streams import Event, text_of, verified
from tests.turn_endings import ENDS, STATUS

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

STORIES = int(os.environ.get("PROCESS_STORIES", "1"))
WORDS = 5
TRANSPORTS = ("json", "sse", "ws")
REAPER_SECONDS = 6
"""A process that stands still for half of it is taken for dead: this machine is busy."""
CATCHING_UP = 5.0
"""Seconds after which a Valkey that was away has what it missed."""
DELIVERED = 0.05
"""Seconds in which a word comes from the provider to the viewers, more often than not."""
STORED_SECONDS = 5.0
"""Seconds after its last event by which the end of a turn is in the database, at the most."""
MOST_RESTARTS = 2


@dataclass(frozen=True)
class Act:
    """Something that happens. `place`: a cursor, a process, or which transport."""

    kind: str
    place: int = 0


RESTARTS = ("kill", "tell to end")


def acts(*kinds: str) -> st.SearchStrategy[Act]:
    return st.builds(Act, st.sampled_from(kinds), st.integers(0, 8))


ANYTHING = acts(
    *("word", "word", "word", "resend", "watch", "watch", "cut", "cut", "stop"),
    *("valkey down", "valkey up", *RESTARTS),
)
WITH_A_RESTART = st.builds(
    lambda before, restart, after: [*before, restart, *after],
    st.lists(ANYTHING, max_size=6),
    acts(*RESTARTS),
    st.lists(ANYTHING, max_size=6),
)
KILLED = [Act("watch"), Act("word"), Act("word"), Act("resend", 2), Act("kill"), Act("resend")]
DEPLOYED = [
    *(Act("word"), Act("watch", 1), Act("tell to end"), Act("cut"), Act("resend", 1)),
    *(Act("valkey down"), Act("word"), Act("valkey up"), Act("word"), Act("cut", 1)),
]


@pytest.fixture(scope="module")
def cluster(collected_assets: None) -> Iterator[Cluster]:
    with Cluster.running(REAPER_SECONDS) as cluster:
        yield cluster


class Story:
    """What happens, and what everybody was told."""

    def __init__(self, cluster: Cluster, end: str) -> None:
        self.cluster = cluster
        self.end = end
        self.gates = [threading.Event() for _ in range(WORDS)]
        self.viewers: list[Viewer] = []
        self.viewing: list[asyncio.Task[Viewer]] = []
        self.resent: list[asyncio.Task[Event]] = []
        self.stops: list[asyncio.Task[bool]] = []
        self.restarts = 0
        self.is_killed = False
        self.is_killed_within = False
        """Before its last word, so that it cannot have ended by itself."""
        self.may_lose = False
        """What was delivered while Valkey was away stood in the process alone, which was killed."""
        self.asked_before = len(cluster.provider.requests)
        steps: list[Step] = []
        for number, gate in enumerate(self.gates):
            steps += [Wait(gate), say(f"word{number} ")]
        cluster.provider.forget_replies()
        cluster.provider.reply(*steps, *ENDS[end])

    async def run(self, acts: list[Act]) -> None:
        self.owner = self.cluster.webs[0]
        self.was_away = self.cluster.valkey_was_away(CATCHING_UP)
        async with Visitor.arriving(self.owner.url) as self.visitor, reaper():
            self.answer_id = await self._begun()
            self._watch(0)
            try:
                for act in acts:
                    await self._do(act)
            finally:
                self.cluster.thaw_valkey()
                for gate in self.gates:
                    gate.set()
            await asyncio.gather(*self.stops)
            if self.end == "silence" or self.stops:
                await until(self._stop, "a stop that is heard")
            await asyncio.gather(*self.viewing)
            resent = await asyncio.gather(*self.resent)
            await self.cluster.is_whole_again()
            await self._verify(resent)

    async def _begun(self) -> str:
        async with aclosing(self.visitor.ask_sse(self.owner.url, "How?", key="k")) as events:
            return str((await anext(events))["answer_id"])

    async def _do(self, act: Act) -> None:
        match act.kind:
            case "word":
                await self._say()
            case "watch":
                self._watch(act.place)
            case "cut":
                self.viewers[act.place % len(self.viewers)].cut()
                await asyncio.sleep(0)
            case "resend":
                self.resent.append(asyncio.create_task(self._resend(act.place)))
            case "stop":
                self.stops.append(asyncio.create_task(self._stop(act.place)))
                await asyncio.sleep(0.01 * act.place)
            case kind if kind in RESTARTS and self.restarts < MOST_RESTARTS:
                await self._restart(act)
            case "valkey down":
                self.was_away = True
                self.cluster.freeze_valkey()
            case "valkey up":
                self.cluster.thaw_valkey()

    async def _say(self) -> None:
        """The next word, where there is somebody to say it to. The first turn of a process takes
        a second until it asks."""
        closed = [gate for gate in self.gates if not gate.is_set()]
        if not closed:
            return
        closed[0].set()
        if not self.is_killed and not self.stops:
            await until(partial(self._has_said, WORDS - len(closed) + 1), "a word")
            await asyncio.sleep(DELIVERED)

    async def _has_said(self, words: int) -> bool:
        said = self.cluster.provider.requests[self.asked_before :]
        return bool(said) and said[0].sent >= words

    async def _restart(self, act: Act) -> None:
        self.restarts += 1
        web = self.cluster.webs[act.place % 2]
        if act.kind == "tell to end":
            await self.cluster.tell_to_end(web)
            return
        if web is self.owner:
            self.is_killed = True
            self.is_killed_within = not self.gates[-1].is_set()
            self.may_lose = self.cluster.valkey_was_away(CATCHING_UP)
        self.cluster.kill(web)

    def _watch(self, place: int) -> None:
        """From the beginning, or from what another viewer has got to."""
        known = [told["seq"] for viewer in self.viewers for told in viewer.told]
        after = min(place, max(known, default=0))
        viewer = Viewer(partial(self._events, place), after)
        self.viewers.append(viewer)
        self.viewing.append(asyncio.create_task(viewer.run()))

    async def _events(self, place: int, after: int) -> Events:
        url = await self.cluster.a_site(place + after)
        follow = self.visitor.resume_ws if place % 2 else self.visitor.resume_sse
        async with aclosing(follow(url, self.answer_id, after)) as events:
            async for told in events:
                yield told

    async def _resend(self, place: int) -> Event:
        """What a send of the same key ends with; again where its process has gone."""
        while True:
            url = await self.cluster.a_site(place)
            try:
                end = await self.visitor.ask(TRANSPORTS[place % 3], url, "How?", key="k")
                if end["type"] in LAST_TYPES:
                    return end
            except (*CONNECTION_LOST, RefusedError) as error:
                if not may_come_again(error):
                    raise
            await asyncio.sleep(AGAIN_SECONDS)

    async def _stop(self, place: int = 0) -> bool:
        """Whether somebody has heard it."""
        url = await self.cluster.a_site(place)
        with suppress(*CONNECTION_LOST):
            response = await self.visitor.post(url, f"{ANSWERS}{self.answer_id}/stop/")
            assert response.status_code in (200, 503), response.text
            return response.status_code == 200
        return False

    # What has to be true of it

    async def _verify(self, resent: list[Event]) -> None:
        answer = await self._stored()
        self.status = answer.status
        expected = {"stopped"} if self.stops else set()
        expected |= {"interrupted"} if self.is_killed else set()
        expected |= {STATUS[self.end]} if not self.is_killed_within else set()
        assert answer.status in expected
        for web in self.cluster.webs:
            whole = [e async for e in self.visitor.resume_sse(web.url, self.answer_id)]
            end = verified(whole)[-1]
            assert (end.get("status", "failed"), end["text"]) == (_told(answer), answer.text)
        assert "word0 word1 word2 word3 word4 ".startswith(answer.text) or self.end == "filter"
        for viewer in self.viewers:
            self._verify_viewer(viewer, end)
        for told in resent:
            assert told["type"] == end["type"]
            assert told.get("code") == end.get("code")
            assert told.get("text", end["text"]) == end["text"]
        asked = len(self.cluster.provider.requests) - self.asked_before
        is_cut_short = answer.status in ("stopped", "interrupted")
        assert asked == 1 or (asked == 0 and is_cut_short), "one send, one turn"

    async def _stored(self) -> Answer:
        """The answer with its end. Of a turn that was killed the log tells it a moment before the
        database does."""
        ended = Answer.objects.exclude(status=Answer.Status.RUNNING)
        await until(partial(db, ended.exists), "an end in the database", STORED_SECONDS)
        return await db(Answer.objects.get)

    def _verify_viewer(self, viewer: Viewer, end: Event) -> None:
        told = viewer.told
        if not told:
            assert viewer.after == end["seq"]
            return
        assert told[-1] == end, "one end for all"
        text = text_of(told)
        if self.may_lose:
            return
        assert [e["seq"] for e in told] == sorted({e["seq"] for e in told})
        assert sum(e["type"] in LAST_TYPES for e in told) == 1
        assert [e for e in told if e["type"] == "started"] == (told[:1] if not viewer.after else [])
        if not viewer.after:
            # Where the log does not answer in time, the end alone has the rest of the text.
            assert end["text"].startswith(text)
            assert text == end["text"] or self.was_away


def _told(answer: Answer) -> str:
    """The status as the last event names it."""
    return "failed" if answer.error_code else answer.status


@asynccontextmanager
async def reaper() -> Any:
    """Looks for turns whose process has died, as the site's schedule does."""

    async def reap() -> None:
        while True:
            await db(tasks.end_interrupted_turns)
            await asyncio.sleep(REAPER_SECONDS / 12)

    reaping = asyncio.create_task(reap())
    try:
        yield
    finally:
        reaping.cancel()
        await asyncio.wait({reaping})


@settings(
    max_examples=STORIES,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
@given(end=st.sampled_from(sorted(ENDS)), acts=WITH_A_RESTART)
@example(end="whole", acts=KILLED)
@example(end="whole", acts=DEPLOYED)
def test_any_story_of_a_turn_in_two_processes_has_one_beginning_and_one_end(
    cluster: Cluster, end: str, acts: list[Act]
) -> None:
    Conversation.objects.all().delete()
    with override_settings(REDIS_URL=cluster.valkey_url, ASSISTANT_REAPER_SECONDS=REAPER_SECONDS):
        story = Story(cluster, end)
        asyncio.run(story.run(acts))
    event(f"{end} and {story.restarts} restarts: {story.status}")
