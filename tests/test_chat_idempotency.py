"""One send, one turn: however often it is repeated, and on whatever transport."""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
from functools import partial
from typing import Any

import pytest

from articles.access import ANONYMOUS
from assistant.access import Owner
from assistant.models import Answer, Conversation
from assistant.questions import Ask
from assistant.refusals import RateLimited
from assistant.turns import sending
from assistant.turns.sending import Sender
from tests.chat_clients import ANSWERS, Person, in_loop, read_sse
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage

pytestmark = pytest.mark.django_db(transaction=True)

SENDS = 50
ROUNDS = int(os.environ.get("SEND_ROUNDS", "1"))
"""`make proof` plays a hundred."""


@pytest.mark.field_report("B34")
def test_many_sends_of_one_key_over_all_transports_are_one_turn(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = ROUNDS
    ends: list[dict[str, Any]] = []

    async def send(person: Person, number: int, key: str) -> None:
        kind = number % 3
        if kind == 0:
            response = await person.ask_json("How?", key=key)
            assert response.status_code == 200, response.content
            ends.append(response.json())
        elif kind == 1:
            ends.append((await person.ask_sse("How?", key=key))[-1])
        else:
            ends.append((await person.ask_ws("How?", key=key))[-1])

    async def one_round(number: int) -> None:
        provider.answer(f"Answer {number} for all.")
        person = await Person.visitor()
        sends = (send(person, sent, f"k{number}") for sent in range(SENDS))
        await asyncio.gather(*sends)

    for number in range(ROUNDS):
        ends.clear()
        in_loop(partial(one_round, number))
        assert len(ends) == SENDS
        assert {end["text"] for end in ends} == {f"Answer {number} for all."}
        assert Answer.objects.count() == Conversation.objects.count() == number + 1
        assert len(provider.requests) == number + 1


def test_a_send_that_is_repeated_after_its_end_gets_the_same_answer(
    provider: ScriptedProvider,
) -> None:
    provider.answer("The answer.")

    async def body() -> None:
        person = await Person.visitor()
        first = await person.ask_sse("How?", key="k")
        again = await person.ask_sse("How?", key="k")
        assert again == first
        by_header = await person.post(ANSWERS, {"question": "How?"}, **{"Idempotency-Key": "k"})
        assert by_header.json()["text"] == "The answer."
        assert (await person.ask_ws("How?", key="k"))[-1] == first[-1]

    in_loop(body)
    assert Answer.objects.count() == 1


@pytest.mark.field_report("B34")
def test_a_send_that_is_repeated_while_the_turn_runs_joins_it(provider: ScriptedProvider) -> None:
    go_on = threading.Event()
    provider.reply(say("First "), Wait(go_on), say("second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        begun = await person.open_sse("How?", key="k")
        seen = await read_sse(begun, until_type="delta")
        joined = asyncio.create_task(person.ask_sse("How?", key="k"))
        await asyncio.sleep(0)
        go_on.set()
        events = await joined
        assert events[0]["answer_id"] == seen[0]["answer_id"]
        assert events[-1]["text"] == "First second."

    in_loop(body)
    assert Answer.objects.count() == 1


def test_a_key_that_was_used_for_another_question_is_refused(provider: ScriptedProvider) -> None:
    provider.answer("The answer.")

    async def body() -> None:
        person = await Person.visitor()
        await person.ask_json("How?", key="k")
        refused = await person.ask_json("Why?", key="k")
        assert refused.status_code == 422
        assert refused.json()["error"]["code"] == "key_reused"
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "Why?", "key": "k"})
            event = await socket.receive()
            assert (event["type"], event["code"], event["key"]) == ("error", "key_reused", "k")

    in_loop(body)
    assert Answer.objects.count() == 1


def test_equal_keys_of_two_visitors_are_two_sends(provider: ScriptedProvider) -> None:
    provider.answer("For one.")
    provider.answer("For the other.")

    async def body() -> None:
        one, other = await Person.visitor(), await Person.visitor()
        assert (await one.ask_json("How?", key="k")).json()["text"] == "For one."
        assert (await other.ask_json("How?", key="k")).json()["text"] == "For the other."

    in_loop(body)


def test_sends_without_a_key_are_sends_of_their_own(provider: ScriptedProvider) -> None:
    provider.answer("First.")
    provider.answer("Second.")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("How?")).json()
        second = (await person.ask_json("How?", conversation_id=first["conversation_id"])).json()
        assert (first["turn"], second["turn"]) == (1, 2)
        assert second["conversation_id"] == first["conversation_id"]

    in_loop(body)


def test_a_client_that_goes_away_while_it_sends_leaves_a_turn_that_runs(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is committed, and only then the client's request is cancelled."""
    provider.answer("Nobody waited.")
    committed, go_on = threading.Event(), threading.Event()
    open_turn = sending.open_turn

    def slow(sender: Sender, ask: Ask) -> Any:
        opened = open_turn(sender, ask)
        committed.set()
        go_on.wait(20)
        return opened

    monkeypatch.setattr("assistant.chat.open_turn", slow)

    async def body() -> None:
        person = await Person.visitor()
        sent = asyncio.create_task(person.ask_json("How?", key="k"))
        await asyncio.to_thread(committed.wait, 20)
        sent.cancel()
        await asyncio.gather(sent, return_exceptions=True)
        go_on.set()
        monkeypatch.undo()
        again = await person.ask_sse("How?", key="k")
        assert again[-1]["text"] == "Nobody waited."

    in_loop(body)
    assert Answer.objects.get().status == "completed"


def test_a_send_that_waits_for_another_of_its_key_may_go_on_when_that_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first one holds the key, is then refused by the limits, and leaves no row."""
    sender = Sender(Owner(visitor_id=uuid.uuid4()), ANONYMOUS)
    holds, go_on = threading.Event(), threading.Event()
    first_thread: list[threading.Thread] = []

    def charge(owner: str, address: str) -> None:
        if threading.current_thread() in first_thread:
            holds.set()
            go_on.wait(20)
            raise RateLimited

    monkeypatch.setattr("assistant.limits.charge", charge)
    outcomes: dict[str, Any] = {}

    def send(name: str) -> None:
        from django.db import connections

        try:
            outcomes[name] = sending.open_turn(sender, Ask("How?", key="k"))
        except RateLimited as refusal:
            outcomes[name] = refusal
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send, args=[name]) for name in ("first", "second")]
    first_thread.append(threads[0])
    threads[0].start()
    assert holds.wait(20)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert isinstance(outcomes["first"], RateLimited)
    assert outcomes["second"].made
    assert Answer.objects.count() == Conversation.objects.count() == 1


def test_two_turns_of_a_conversation_at_once_get_numbers_of_their_own(
    provider: ScriptedProvider,
) -> None:
    provider.answer("First.")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("One?")).json()
        for _ in range(5):
            provider.answer("Next.")
        answers = await asyncio.gather(
            *(person.ask_json("More?", conversation_id=first["conversation_id"]) for _ in range(5))
        )
        assert sorted(answer.json()["turn"] for answer in answers) == [2, 3, 4, 5, 6]

    in_loop(body)


def test_a_retry_is_a_new_send_in_the_same_conversation(provider: ScriptedProvider) -> None:
    provider.refuse(400, {"message": "no"})
    provider.answer("Now it works.")

    async def body() -> None:
        person = await Person.visitor()
        failed = await person.ask_ws("How?", key="1")
        assert failed[-1]["type"] == "error"
        retried = await person.ask_ws("How?", key="2", retry_of=failed[0]["answer_id"])
        assert retried[0]["conversation_id"] == failed[0]["conversation_id"]
        assert retried[0]["turn"] == 2
        assert retried[-1]["text"] == "Now it works."

    in_loop(body)
    retry = Answer.objects.get(turn=2)
    assert retry.retry_of == Answer.objects.get(turn=1)
    told = [message["role"] for message in provider.requests[-1].body["messages"]]
    assert told == ["system", "user"], "the model is not told of the attempt that failed"
