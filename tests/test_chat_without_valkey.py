"""Valkey is down: the chat goes on, each process by itself, and the database has the answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from assistant.access import Owner
from assistant.chat import find_answer, stop
from assistant.database import db
from assistant.models import Answer
from assistant.refusals import Unavailable
from helpcenter import limits
from tests.chat_clients import ANSWERS, Person, follow, in_loop, other_process, read_sse
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.streams import text_of, verified

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def without_valkey(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limits._script.cache_clear()
    limits._local.clear()
    yield
    limits._script.cache_clear()
    limits._local.clear()


@pytest.mark.parametrize("transport", ["ws", "sse", "json"])
def test_a_turn_finishes_for_its_viewer_and_is_stored(
    provider: ScriptedProvider, transport: str
) -> None:
    provider.answer("All is said.")

    async def body() -> None:
        person = await Person.visitor()
        if transport == "json":
            assert (await person.ask_json("How?")).json()["text"] == "All is said."
        else:
            send = person.ask_ws if transport == "ws" else person.ask_sse
            assert (await send("How?"))[-1]["text"] == "All is said."

    in_loop(body)
    assert (Answer.objects.get().status, Answer.objects.get().text) == ("completed", "All is said.")


def test_a_viewer_in_this_process_resumes(provider: ScriptedProvider) -> None:
    go_on = threading.Event()
    provider.reply(say("First"), Wait(go_on), say(", second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        seen = await read_sse(await person.open_sse("How?"), until_type="delta")
        go_on.set()
        rest = await person.resume_sse(seen[0]["answer_id"], seen[-1]["seq"])
        assert rest[-1]["text"] == "First, second."

    in_loop(body)


def test_a_viewer_elsewhere_gets_the_answer_from_the_database(provider: ScriptedProvider) -> None:
    provider.answer("All is said.")

    async def body() -> None:
        person = await Person.visitor()
        await person.ask_json("How?")
        async with other_process():
            events = verified(await follow(await db(Answer.objects.get)))
        assert text_of(events) == "All is said."

    in_loop(body)


def test_a_stop_works_here_and_says_so_where_it_cannot(provider: ScriptedProvider) -> None:
    provider.reply(say("First, "), say("then"), Endless())

    async def body() -> None:
        person = await Person.visitor()
        seen = await read_sse(await person.open_sse("How?"), until_type="delta")
        answer = await db(Answer.objects.select_related("conversation").get)
        owner = Owner(visitor_id=answer.conversation.visitor_id)
        async with other_process():
            found = await find_answer(owner, str(answer.pk))
            with pytest.raises(Unavailable):
                await stop(found)
        stopped = await person.post(f"{ANSWERS}{seen[0]['answer_id']}/stop/")
        assert stopped.json()["status"] == "stopped"

    in_loop(body)


def test_a_conversation_can_be_erased(provider: ScriptedProvider) -> None:
    provider.answer("All is said.")

    async def body() -> None:
        person = await Person.visitor()
        answer = (await person.ask_json("How?")).json()
        url = f"/api/v1/conversations/{answer['conversation_id']}/"
        assert (await person.delete(url)).status_code == 204

    in_loop(body)
    assert not Answer.objects.exists()


def test_limits_hold(provider: ScriptedProvider, settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    provider.answer("Once.")

    async def body() -> None:
        person = await Person.visitor()
        assert (await person.ask_json("How?")).status_code == 200
        assert (await person.ask_json("Again?")).status_code == 429

    in_loop(body)
