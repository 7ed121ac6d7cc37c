"""Stop stops, from anywhere; closing the tab does not; a turn of a dead process is ended."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import redis
from django.utils import timezone

from articles.access import ANONYMOUS
from articles.indexing import index_article
from assistant import tasks
from assistant.access import Owner
from assistant.chat import Found, find_answer, payload, stop
from assistant.database import db
from assistant.eventlog import EventLog, Note
from assistant.events import Delta, Error, SourceAdded, SourceEntry, Started
from assistant.models import Answer
from assistant.turns import reaping
from assistant.turns.live import STOP_POLL_SECONDS, LiveTurns
from tests import site_visitors
from tests.chat_clients import (
    ANSWERS,
    Person,
    follow,
    in_loop,
    other_process,
    read_sse,
    until,
)
from tests.factories import make_answer, make_article
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.streams import verified

pytestmark = pytest.mark.django_db(transaction=True)

RACES = int(os.environ.get("STOP_RACES", "40"))
"""How often a stop races the last word; `make proof` has 200."""
SURELY = 40
"""Of so many, some are won by the stop and some by the word."""


def half_said(provider: ScriptedProvider) -> None:
    """An answer that cites, begins another citation, and then says nothing more."""
    article = make_article("Set up SSO", body="## Steps\n\nOpen Settings.")
    index_article(article.pk)
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.reply(say("Open Settings [1]. Then"), say(" [1"), Endless())


@pytest.mark.field_report("B29")
def test_a_stop_keeps_what_was_delivered(provider: ScriptedProvider) -> None:
    half_said(provider)

    async def body() -> None:
        person = await Person.visitor()
        response = await person.open_sse("How?")
        seen = await read_sse(response, until_type="delta")
        url = f"{ANSWERS}{seen[0]['answer_id']}/stop/"
        stopped = (await person.post(url)).json()
        assert (stopped["status"], stopped["text"].strip()) == (
            "stopped",
            "Open Settings [1]. Then",
        )
        assert [source["number"] for source in stopped["sources"]] == [1]
        assert provider.requests[-1].closed_by_client.wait(1)
        events = await person.resume_sse(seen[0]["answer_id"])
        assert (events[-1]["type"], events[-1]["status"]) == ("done", "stopped")
        again = (await person.post(url)).json()
        assert again == stopped, "stopping twice changes nothing"
        provider.answer("And now?")
        assert (await person.ask_json("Go on?")).json()["text"] == "And now?"

    in_loop(body)
    answer = Answer.objects.get(turn=1, status="stopped")
    assert answer.grounding == "unavailable"
    assert answer.model_text == "Open Settings [1]. Then [1"
    assert answer.tool_calls.count() == 1
    assert answer.usage_estimated


@pytest.mark.field_report("B29", "B39")
def test_a_stop_by_the_socket_that_asked_acts_while_the_answer_streams(
    provider: ScriptedProvider,
) -> None:
    half_said(provider)

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            events = await socket.read_answer(until_type="delta")
            await socket.send({"type": "stop", "answer_id": events[0]["answer_id"]})
            events += await socket.read_answer()
        verified(events)
        assert events[-1]["status"] == "stopped"

    in_loop(body)


def test_a_stop_in_another_process_is_heard(provider: ScriptedProvider) -> None:
    half_said(provider)

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        await until(lambda: provider.requests[1:] and provider.requests[1].sent == 2, "words")
        answer = await db(Answer.objects.get)
        async with other_process():
            owner = Owner(visitor_id=(await db(lambda: answer.conversation)).visitor_id)
            began = asyncio.get_running_loop().time()
            await stop(await find_answer(owner, str(answer.pk)))
            assert asyncio.get_running_loop().time() - began < 2
        assert provider.requests[-1].closed_by_client.wait(1)
        assert (await watching)[-1]["status"] == "stopped"

    in_loop(body)


def test_a_stop_before_the_first_word(provider: ScriptedProvider) -> None:
    provider.reply(Endless())

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            events = [await socket.receive()]
            await until(lambda: provider.requests, "the request")
            await socket.send({"type": "stop", "answer_id": events[0]["answer_id"]})
            events += await socket.read_answer()
        verified(events)
        assert (events[-1]["status"], events[-1]["text"]) == ("stopped", "")

    in_loop(body)


@pytest.mark.slow
def test_a_stop_that_races_the_last_word_leaves_one_end(
    provider: ScriptedProvider, settings: Any
) -> None:
    """Every fourth comes from another process, which is heard within a quarter of a second."""
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = RACES
    provider.forgives_leaving = True
    ends = []

    async def race(number: int) -> None:
        go_on = threading.Event()
        provider.reply(say("Almost"), Wait(go_on), say(" done."), finish(), usage(), DONE)
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": f"How {number}?"})
            events = await socket.read_answer(until_type="delta")
            answer_id = events[0]["answer_id"]
            if number % 4 == 3:
                await EventLog.current().store.request_stop(uuid.UUID(answer_id))
                await asyncio.sleep(random.uniform(0, 2 * STOP_POLL_SECONDS))
                go_on.set()
            else:
                go_on.set()
                await asyncio.sleep(random.choice([0, random.uniform(0, 0.02)]))
                await socket.send({"type": "stop", "answer_id": answer_id})
            events += await socket.read_answer()
        ends.append(verified(events)[-1])

    for number in range(RACES):
        in_loop(partial(race, number))
    rows = {str(answer.pk): answer for answer in Answer.objects.all()}
    assert len(ends) == RACES
    for end in ends:
        row = rows[end["answer_id"]]
        assert (row.status, row.text) == (end["status"], end["text"])
        assert "Almost done.".startswith(row.text)
        assert row.status == "stopped" or row.text == "Almost done."
    if RACES >= SURELY:
        assert {end["status"] for end in ends} == {"completed", "stopped"}


@pytest.mark.field_report("B30")
@pytest.mark.parametrize("transport", ["ws", "sse"])
def test_closing_the_tab_does_not_stop_the_turn(provider: ScriptedProvider, transport: str) -> None:
    """B30 wants it stopped; by the design it runs to its end, within the turn's limits."""
    go_on = threading.Event()
    provider.reply(say("First "), Wait(go_on), say("second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        if transport == "ws":
            async with person.socket() as socket:
                await socket.send({"type": "ask", "question": "How?"})
                await socket.read_answer(until_type="delta")
        else:
            await read_sse(await person.open_sse("How?"), until_type="delta")
        go_on.set()
        await LiveTurns.current().wait()

    in_loop(body)
    assert (Answer.objects.get().status, Answer.objects.get().text) == (
        "completed",
        "First second.",
    )


def test_a_stop_of_a_finished_answer_changes_nothing(provider: ScriptedProvider) -> None:
    provider.answer("Done.")

    async def body() -> None:
        person = await Person.visitor()
        answer = (await person.ask_json("How?")).json()
        stopped = await person.post(f"{ANSWERS}{answer['id']}/stop/")
        assert stopped.json() == answer

    in_loop(body)


# Turns of processes that died


def dead_turn(heartbeat_seconds_ago: float = 60) -> Answer:
    """A row that says running, and nobody who keeps it alive."""
    answer = make_answer(status="running", grounding="", text="", finished_at=None)
    ago = timezone.now() - timedelta(seconds=heartbeat_seconds_ago)
    Answer.objects.update(heartbeat_at=ago)
    return answer


async def write(answer: Answer, *, ends: bool = False) -> None:
    """What the process had put into the log before it died."""
    article = await db(lambda: make_article("Set up SSO"))
    writer = EventLog.current().open(answer.pk, lambda: None)
    source = SourceEntry(
        str(article.pk), "set-up-sso", "Set up SSO", "/articles/set-up-sso/", 1, True, "opened",
        revision=1,
    )  # fmt: skip
    writer.append(Started(str(answer.pk), str(answer.conversation_id), 1), Note(language="en"))
    writer.append(SourceAdded(source), Note(ref=4))
    writer.append(Delta("Open Settings [1]"))
    if ends:
        writer.append(Error("unavailable", "Not saved.", True, "Open Settings [1]", (source,)))
    await writer.settle()
    EventLog.current().close(writer)


@pytest.mark.field_report("B32")
def test_a_turn_of_a_dead_process_is_interrupted_with_what_it_had_said() -> None:
    answer = dead_turn()

    async def body() -> None:
        await write(answer)
        assert await db(tasks.end_interrupted_turns) == 1
        assert await db(tasks.end_interrupted_turns) == 0, "once is enough"
        events = verified(await follow(answer))
        assert events[-1]["code"] == "interrupted"
        assert events[-1]["retryable"] is True
        assert [source["number"] for source in events[-1]["sources"]] == [1]

    in_loop(body)
    answer.refresh_from_db()
    assert (answer.status, answer.grounding) == ("interrupted", "unavailable")
    assert (answer.text, answer.last_seq) == ("Open Settings [1]", 5)
    document = answer.documents.get()
    assert (document.ref, document.number, document.exposure) == (4, 1, "full")
    assert document.revision is not None
    assert document.position == 0


def test_an_end_that_is_not_stored_yet_is_told_to_those_who_wait_for_json() -> None:
    """The reaper writes it into the log first, and whoever waits there asks at once."""
    answer = dead_turn()

    async def body() -> None:
        await write(answer, ends=True)
        found = Found(answer.pk, answer.conversation_id, is_running=True)
        told = await payload(found, ANONYMOUS)
        assert told["error"] == {"code": "unavailable", "message": "Not saved.", "retryable": True}
        assert (told["status"], told["text"]) == ("failed", "Open Settings [1]")
        assert [source["number"] for source in told["sources"]] == [1]

    in_loop(body)
    answer.refresh_from_db()
    assert answer.status == "running"


def test_those_who_wait_for_a_dead_turn_are_told(provider: ScriptedProvider) -> None:
    answer = dead_turn()

    async def body() -> None:
        await write(answer)
        async with other_process() as there:
            following = asyncio.create_task(follow(answer, 2))
            await until(there._tail.feeds, "a mirror")
            await db(reaping.reap)
            events = verified(await following, 2)
            assert [event["type"] for event in events] == ["delta", "delta", "error"]

    in_loop(body)


def test_a_dead_turn_whose_log_is_lost_too_is_ended(valkey_client: redis.Redis) -> None:
    answer = dead_turn()
    assert reaping.reap() == 1
    answer.refresh_from_db()
    assert (answer.status, answer.text) == ("interrupted", "")


def test_an_end_that_the_database_did_not_take_is_stored_later() -> None:
    answer = dead_turn()

    async def body() -> None:
        await write(answer, ends=True)
        assert await db(reaping.reap) == 1

    in_loop(body)
    answer.refresh_from_db()
    assert (answer.status, answer.error_code) == ("failed", "not_saved")
    assert answer.text == "Open Settings [1]"


def test_a_turn_that_is_kept_alive_is_left_alone(valkey_client: redis.Redis) -> None:
    dead_turn(heartbeat_seconds_ago=1)
    assert reaping.reap() == 0
    silent_database = dead_turn()
    valkey_client.set(f"answer:{silent_database.pk}:alive", "1", ex=60)
    Answer.objects.exclude(pk=silent_database.pk).delete()
    assert reaping.reap() == 0
    assert Answer.objects.get().status == "running"


def test_nothing_is_reaped_while_valkey_is_down(settings: Any) -> None:
    dead_turn()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert reaping.reap() == 0
    assert Answer.objects.get().status == "running"


def test_a_process_that_was_only_asleep_gives_up(
    provider: ScriptedProvider, settings: Any, valkey_client: redis.Redis
) -> None:
    go_on = threading.Event()
    provider.reply(say("First "), Wait(go_on), say("second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        await until(lambda: provider.requests and provider.requests[0].sent == 1, "a word")
        long_ago = timezone.now() - timedelta(hours=1)
        made = (await db(Answer.objects.get)).heartbeat_at
        beaten = Answer.objects.filter(heartbeat_at__gt=made)  # said in Valkey before
        await site_visitors.until(partial(db, beaten.exists), "a heartbeat")
        valkey_client.delete(*valkey_client.keys("answer:*:alive"))
        await db(lambda: Answer.objects.update(heartbeat_at=long_ago))
        assert await db(reaping.reap) == 1
        go_on.set()
        events = await watching
        assert (events[-1]["code"], events[-1]["text"]) == ("interrupted", "First")

    in_loop(body)
    answer = Answer.objects.get()
    assert (answer.status, answer.text) == ("interrupted", "First")


def test_a_turn_hears_from_the_database_that_it_is_over(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_REAPER_SECONDS = 1
    provider.reply(say("First "), Endless())

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        await until(lambda: provider.requests and provider.requests[0].sent == 1, "a word")
        await db(
            lambda: Answer.objects.update(
                status="interrupted",
                error_code="interrupted",
                grounding="unavailable",
                text="First",
                finished_at=timezone.now(),
            )
        )
        assert (await watching)[-1]["code"] == "interrupted"
        assert provider.requests[-1].closed_by_client.wait(1)

    in_loop(body)
