"""A conversation that is longer than the model can read: less of it is sent, nobody is stuck."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from assistant.models import Answer, Conversation
from tests.chat_clients import Person, in_loop
from tests.factories import make_answer
from tests.scripted_provider import DONE, ScriptedProvider, finish, say, usage

pytestmark = pytest.mark.django_db(transaction=True)

TOO_LONG = {"code": "context_length_exceeded", "message": "too long"}


def ask(visitor: Person, conversation: Conversation) -> Any:
    answers: list[Any] = []

    async def body() -> None:
        answers.append(
            await visitor.ask_json("How do I reset it?", conversation_id=str(conversation.pk))
        )

    in_loop(body)
    return answers[0]


@pytest.fixture
def visitor() -> Person:
    people: list[Person] = []

    async def body() -> None:
        people.append(await Person.visitor())

    in_loop(body)
    return people[0]


@pytest.fixture
def conversation(visitor: Person, provider: ScriptedProvider) -> Conversation:
    """Thirty turns of two thousand words each, of this visitor."""
    answers: list[Any] = []
    provider.answer("Hello. How can I help?")

    async def body() -> None:
        answers.append(await visitor.ask_json("hello"))

    in_loop(body)
    conversation = Conversation.objects.get(pk=uuid.UUID(answers[0].json()["conversation_id"]))
    for _ in range(30):
        make_answer(conversation=conversation, text="word " * 2_000)
    return conversation


def size_of(request: Any) -> int:
    return sum(len(message["content"]) for message in request.body["messages"])


def test_a_prompt_that_was_too_long_is_sent_once_more_with_less(
    visitor: Person, conversation: Conversation, provider: ScriptedProvider
) -> None:
    provider.refuse(400, TOO_LONG)
    provider.answer("I could not find that.")
    response = ask(visitor, conversation)
    assert response.json()["text"] == "I could not find that."
    _hello, first, second = provider.requests
    assert size_of(second) < size_of(first) / 2


def test_what_is_too_long_even_then_is_told(
    visitor: Person, conversation: Conversation, provider: ScriptedProvider
) -> None:
    provider.refuse(400, TOO_LONG)
    provider.refuse(400, TOO_LONG)
    response = ask(visitor, conversation)
    assert response.status_code == 503
    answer = Answer.objects.get(conversation=conversation, error_code="context_length")
    assert (answer.status, answer.text) == ("failed", "")


def test_what_became_too_long_by_what_was_read_is_not_begun_again(
    visitor: Person, conversation: Conversation, provider: ScriptedProvider
) -> None:
    provider.call("list_categories", {})
    provider.refuse(400, TOO_LONG)
    assert ask(visitor, conversation).status_code == 503
    assert len(provider.requests) == 3


def test_words_that_were_read_are_not_begun_again(
    visitor: Person, conversation: Conversation, provider: ScriptedProvider
) -> None:
    provider.reply(say("Open it"), {"error": TOO_LONG})
    response = ask(visitor, conversation)
    assert "Open it" in Answer.objects.get(error_code="context_length").text
    assert response.status_code in (200, 503)
    provider.reply(say("Again."), finish(), usage(), DONE)
    ask(visitor, conversation)
