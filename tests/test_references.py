"""References keep their numbers for the whole conversation, also where turns run at once."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from articles.indexing import index_article
from articles.models import Article
from assistant.models import Answer, AnswerDocument, Conversation, ConversationReference
from assistant.references import give_references, references_of
from tests.chat_clients import Person, in_loop, until
from tests.factories import make_article
from tests.scripted_provider import DONE, ScriptedProvider, Wait, call, finish, say, usage


@pytest.fixture
def conversation(db: None) -> Conversation:
    return Conversation.objects.create(visitor_id=uuid.uuid4())


def test_documents_get_the_next_numbers_in_their_order(conversation: Conversation) -> None:
    assert give_references(conversation.pk, ["b", "a", "b"]) == {"b": 1, "a": 2}
    assert give_references(conversation.pk, ["c", "a"]) == {"a": 2, "c": 3}
    assert references_of(conversation.pk) == {"b": 1, "a": 2, "c": 3}


def test_each_conversation_counts_for_itself(conversation: Conversation) -> None:
    other = Conversation.objects.create(visitor_id=uuid.uuid4())
    give_references(conversation.pk, ["a", "b"])
    assert give_references(other.pk, ["b"]) == {"b": 1}


def test_a_conversation_that_was_erased_gives_none(conversation: Conversation) -> None:
    gone = conversation.pk
    give_references(gone, ["a"])
    conversation.delete()
    assert references_of(gone) == {}
    with pytest.raises(IntegrityError):
        _give_and_commit(gone)


def _give_and_commit(conversation_id: uuid.UUID) -> None:
    with transaction.atomic():
        give_references(conversation_id, ["a"])
        connections["default"].check_constraints()


@pytest.mark.parametrize("taken", [{"ref": 1, "document_id": "b"}, {"ref": 2, "document_id": "a"}])
def test_the_database_refuses_a_second_meaning(
    conversation: Conversation, taken: dict[str, Any]
) -> None:
    give_references(conversation.pk, ["a"])
    with pytest.raises(IntegrityError), transaction.atomic():
        ConversationReference.objects.create(conversation=conversation, **taken)


@pytest.mark.django_db(transaction=True)
def test_many_at_once_agree() -> None:
    conversation = Conversation.objects.create(visitor_id=uuid.uuid4())
    start = threading.Barrier(8)

    def give(number: int) -> dict[str, int]:
        try:
            start.wait()
            return give_references(conversation.pk, ["shared", f"own{number}"])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(give, range(8)))

    assert len({one["shared"] for one in told}) == 1
    assert sorted(references_of(conversation.pk).values()) == list(range(1, 10))
    for one in told:
        assert one.items() <= references_of(conversation.pk).items()


def opens(slug: str, *before: threading.Event) -> list[Any]:
    waits = [Wait(event) for event in before]
    return [*waits, call("open_article", {"slug": slug}), finish("tool_calls"), usage(), DONE]


@pytest.mark.django_db(transaction=True)
def test_two_turns_at_once_give_a_new_article_one_reference(provider: ScriptedProvider) -> None:
    """Both are under way before either has read anything, and they read in opposite order."""
    articles = {slug: make_article(slug.title(), slug=slug) for slug in ("first", "second")}
    both = threading.Event()
    provider.answer("Hello.")
    provider.reply(*opens("first", both))
    provider.reply(*opens("second", both))
    for _turn in range(2):
        provider.reply(say("See [1] and [2]."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        begun = (await person.ask_json("Hi")).json()
        fields = {"conversation_id": begun["conversation_id"]}

        async def ask(question: str) -> Any:
            return (await person.ask_json(question, **fields)).json()

        turns = [asyncio.create_task(ask(question)) for question in ("One?", "Two?")]
        await until(lambda: len(provider.requests) == 3, "both turns to be under way")
        both.set()
        for told in await asyncio.gather(*turns):
            assert len(told["sources"]) == 1, "of the other turn's article nothing was given"
            assert told["text"].count("[1]") == 1

    in_loop(body)
    given = references_of(Conversation.objects.get().pk)
    assert sorted(given) == sorted(str(article.pk) for article in articles.values())
    assert sorted(given.values()) == [1, 2]
    assert dict(AnswerDocument.objects.values_list("document_id", "ref")) == given
    results = [json.loads(message["content"]) for message in tool_messages(provider)]
    for result in results:
        for document in result["documents"]:
            article = Article.objects.get(live_revision__title=document["title"])
            assert document["ref"] == given[str(article.pk)]


def tool_messages(provider: ScriptedProvider) -> list[dict[str, Any]]:
    messages = [message for sent in provider.requests for message in sent.body["messages"]]
    return [message for message in messages if message["role"] == "tool"]


@pytest.mark.django_db(transaction=True)
def test_a_reference_is_kept_by_an_article_that_is_gone(provider: ScriptedProvider) -> None:
    """A number in an earlier answer never means another article later."""
    gone = make_article("Old plan", slug="old-plan")
    index_article(make_article("New plan", slug="new-plan").pk)
    provider.call("open_article", {"slug": "old-plan"})
    provider.answer("It was so [1].")
    provider.call("open_article", {"slug": "new-plan"})
    provider.answer("It is so [2], not [1].")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("Which plan?")).json()
        await asyncio.to_thread(_delete, gone)
        fields = {"conversation_id": first["conversation_id"]}
        second = (await person.ask_json("And now?", **fields)).json()
        assert second["text"] == "It is so [1], not."
        assert [source["title"] for source in second["sources"]] == ["New plan"]

    in_loop(body)
    assert Answer.objects.get(turn=2).documents.get().ref == 2


def _delete(article: Article) -> None:
    try:
        Article.objects.filter(pk=article.pk).delete()
    finally:
        connections.close_all()
