"""What comes after: the conversation's page with access checked again, and follow-up turns."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from articles import publishing
from articles.access import ANONYMOUS, Reader
from articles.indexing import index_article
from articles.models import Article, Status, Visibility
from assistant.answers import answer_payload, with_ledger
from assistant.database import db
from assistant.feedback import Reason
from assistant.models import Answer, AnswerDocument, AnswerPassage, Conversation, ToolCall
from assistant.provenance import Exposure
from assistant.turns.history import load_history
from tests.chat_clients import ANSWERS, Person, in_loop
from tests.factories import make_answer, make_article, make_document
from tests.scripted_provider import ScriptedProvider

# The page of a conversation


def told(answer: Answer, article: Article, **fields: Any) -> AnswerDocument:
    """A source that the answer cites by number 1 and links."""
    Answer.objects.filter(pk=answer.pk).update(
        text="Open it [1], see [the steps](/articles/set-up-sso/#steps).",
        allowed_links=["/articles/set-up-sso/#steps"],
    )
    defaults = {"number": 1, "cited": True, "consulted": True, "position": 0}
    document = make_document(answer, article, **{**defaults, **fields})
    AnswerPassage.objects.create(
        document=document, position=0, heading="Steps", anchor="steps", text="Open Settings."
    )
    return document


def page_of(answer: Answer, reader: Reader = ANONYMOUS) -> dict[str, Any]:
    return answer_payload(with_ledger(Answer.objects.filter(pk=answer.pk)).get(), reader)


@pytest.fixture
def article(db: None) -> Article:
    return make_article("Set up SSO", body="## Steps\n\nOpen Settings.")


def test_a_stored_answer_is_shown_as_it_was_told(article: Article) -> None:
    answer = make_answer()
    told(answer, article)
    page = page_of(answer)
    (source,) = page["sources"]
    assert source == {
        "id": str(article.pk),
        "slug": "set-up-sso",
        "title": "Set up SSO",
        "url": "/articles/set-up-sso/",
        "number": 1,
        "via": "excerpt",
        "category": None,
        "visibility": "public",
        "passages": [{"heading": "Steps", "anchor": "steps"}],
        "revision": 1,
        "consulted": True,
    }
    assert page["references"] == page["sources"]
    assert 'href="/articles/set-up-sso/#steps"' in page["html"]
    assert page["html"].count("<a ") == 2


@pytest.mark.parametrize("how", ["unpublish", "archive", "hide", "delete"])
def test_what_may_no_longer_be_opened_has_no_address(article: Article, how: str) -> None:
    answer = make_answer()
    told(answer, article)
    if how == "unpublish":
        publishing.withdraw(article)
    elif how == "archive":
        publishing.withdraw(article, Status.ARCHIVED)
    elif how == "hide":
        article.visibility = Visibility.STAFF
        publishing.publish(article)
    else:
        Article.objects.filter(pk=article.pk).update(live_revision=None, status=Status.DRAFT)
        Article.objects.get(pk=article.pk).delete()

    page = page_of(answer)

    (source,) = page["sources"]
    assert (source["title"], source["slug"]) == ("Set up SSO", "set-up-sso")
    assert (source["url"], source["available"]) == (None, False)
    assert "changed" not in source
    assert "<a " not in page["html"], "neither the citation nor the link leads anywhere"
    assert "the steps" in page["html"]
    assert page["text"] == "Open it [1], see [the steps](/articles/set-up-sso/#steps)."


def test_the_reader_decides(article: Article, staff: User) -> None:
    answer = make_answer()
    told(answer, article)
    article.visibility = Visibility.STAFF
    publishing.publish(article)
    assert page_of(answer)["sources"][0]["url"] is None
    assert page_of(answer, Reader.of(staff))["sources"][0]["url"] == "/articles/set-up-sso/"


def test_an_article_for_answers_only_was_never_open(article: Article) -> None:
    article.visibility = Visibility.ANSWERS_ONLY
    publishing.publish(article)
    answer = make_answer()
    told(answer, article)
    (source,) = page_of(answer)["sources"]
    assert source["url"] is None
    assert "available" not in source


def test_a_renamed_article_is_linked_at_its_present_address(article: Article) -> None:
    answer = make_answer()
    told(answer, article)
    publishing.change_slug(article, "getting-started")
    page = page_of(answer)
    (source,) = page["sources"]
    assert (source["slug"], source["url"]) == ("getting-started", "/articles/getting-started/")
    assert page["html"].count('href="/articles/getting-started/#steps"') == 2
    assert "set-up-sso" not in page["html"]
    assert "set-up-sso" in page["text"], "what was delivered stays as it was"


def test_an_address_that_another_article_has_now_is_not_followed(article: Article) -> None:
    """The old slug was given away: the link goes to the article that was meant."""
    answer = make_answer()
    told(answer, article)
    publishing.change_slug(article, "getting-started")
    make_article("Another", slug="set-up-sso")
    assert 'href="/articles/set-up-sso/' not in page_of(answer)["html"]


def test_a_change_since_is_said(article: Article) -> None:
    answer = make_answer()
    told(answer, article)
    assert "changed" not in page_of(answer)["sources"][0]
    article.body = "## Steps\n\nOpen Preferences."
    publishing.publish(article)
    (source,) = page_of(answer)["sources"]
    assert (source["changed"], source["revision"]) == (True, 1)
    assert "Preferences" not in json.dumps(page_of(answer))


def test_other_addresses_that_were_let_through_stay(article: Article) -> None:
    answer = make_answer()
    told(answer, article)
    Answer.objects.update(
        text="See [the status](https://status.example.com/?a=1&b=2) and `[1]`.",
        allowed_links=["https://status.example.com/?a=1&b=2"],
    )
    html = page_of(answer)["html"]
    assert 'href="https://status.example.com/?a=1&amp;b=2"' in html
    assert "citation" not in html


def test_nothing_else_in_a_stored_text_becomes_a_link(article: Article) -> None:
    answer = make_answer(
        text="[x](javascript:alert(1)) [2] ![i](https://evil.example/p.png) <b>b</b>"
    )
    html = page_of(answer)["html"]
    assert "href" not in html
    assert "<img" not in html
    assert "<b>" not in html


def test_what_was_retrieved_is_told_as_activity(article: Article) -> None:
    answer = make_answer()
    make_document(answer, article, ref=1, exposure="full", via="opened", consulted=True, position=0)
    make_document(answer, make_article("Other"), ref=2)
    page = page_of(answer)
    assert [source["title"] for source in page["sources"]] == ["Set up SSO"]
    assert [(doc["title"], doc["consulted"]) for doc in page["retrieved"]] == [
        ("Set up SSO", True),
        ("Other", False),
    ]


def test_a_failed_answer_says_what_happened(db: None) -> None:
    answer = make_answer(status="failed", error_code="context_length", grounding="unavailable")
    error = page_of(answer)["error"]
    assert (error["code"], error["retryable"]) == ("unavailable", False)
    assert "too long" in error["message"]


def test_a_page_takes_a_fixed_number_of_queries(
    article: Article, django_assert_num_queries: Any
) -> None:
    conversation = Conversation.objects.create(visitor_id=uuid.uuid4())
    for _ in range(6):
        told(make_answer(conversation=conversation), article)
    with django_assert_num_queries(3):
        payloads = [
            answer_payload(answer, ANONYMOUS)
            for answer in with_ledger(conversation.answers.order_by("turn"))
        ]
    assert [len(payload["sources"]) for payload in payloads] == [1] * 6


# What the next turn knows


def earlier(conversation: Conversation, **fields: Any) -> Answer:
    return make_answer(conversation=conversation, **fields)


def read(answer: Answer, article: Article, ref: int, **fields: Any) -> AnswerDocument:
    document = make_document(answer, article, ref=ref, **fields)
    if document.exposure != "title":
        text = f"The text of {article.title}."
        AnswerPassage.objects.create(document=document, position=0, heading="H", text=text)
    return document


@pytest.fixture
def conversation(db: None) -> Conversation:
    return Conversation.objects.create(visitor_id=uuid.uuid4())


def the_next(conversation: Conversation, **fields: Any) -> Answer:
    return earlier(conversation, question="And as PDF?", **fields)


def test_references_keep_their_numbers_for_the_conversation(conversation: Conversation) -> None:
    articles = [make_article(title) for title in ("One", "Two", "Three")]
    first, second = earlier(conversation), earlier(conversation)
    read(first, articles[0], ref=1)
    read(first, articles[1], ref=2, exposure="title", via="listing")
    read(second, articles[2], ref=3)
    read(second, articles[0], ref=1, carried=True)
    history = load_history(the_next(conversation), ANONYMOUS)
    assert history.refs == {str(articles[0].pk): 1, str(articles[1].pk): 2, str(articles[2].pk): 3}
    assert set(history.documents) == {1, 3}, "of a title there is no text to carry"


def test_the_text_is_told_with_references_in_place_of_numbers(conversation: Conversation) -> None:
    answer = earlier(conversation, text="Open it [1], or `a[1]` [2].")
    read(answer, make_article("One"), ref=7, number=2)
    read(answer, make_article("Two"), ref=9, number=1)
    ToolCall.objects.create(
        answer=answer, position=0, round=1, call_id="a", name="search_articles", result="{}"
    )
    ToolCall.objects.create(
        answer=answer, position=1, round=1, call_id="b", name="x", result="{}", error="unknown"
    )
    history = load_history(the_next(conversation), ANONYMOUS)
    (turn,) = history.turns
    assert turn.text == "Open it [9], or `a[1]` [7]."
    assert [call.name for call in turn.calls] == ["search_articles"]
    assert history.numbers == {1: 9, 2: 7}


def test_an_attempt_that_was_repeated_is_not_told(conversation: Conversation) -> None:
    failed = earlier(conversation, text="Half an", status="failed", grounding="unavailable")
    earlier(conversation, text="The whole answer.", retry_of=failed)
    history = load_history(the_next(conversation), ANONYMOUS)
    assert [turn.text for turn in history.turns] == ["The whole answer."]


@pytest.mark.parametrize("how", ["unpublish", "hide"])
def test_what_this_reader_may_no_longer_have_is_not_carried(
    conversation: Conversation, how: str
) -> None:
    kept, gone = make_article("Kept"), make_article("Gone")
    answer = earlier(conversation)
    read(answer, kept, ref=1)
    read(answer, gone, ref=2)
    if how == "unpublish":
        publishing.withdraw(gone)
    else:
        gone.visibility = Visibility.SIGNED_IN
        publishing.publish(gone)
    history = load_history(the_next(conversation), ANONYMOUS)
    assert set(history.documents) == {1}
    assert history.refs[str(gone.pk)] == 2, "its number stays taken"


def test_a_document_is_carried_with_the_highest_exposure_and_all_its_text(
    conversation: Conversation,
) -> None:
    article = make_article("One")
    read(earlier(conversation), article, ref=1, exposure="full", via="opened")
    article.body = "New."
    publishing.publish(article)
    second = read(earlier(conversation), article, ref=1)
    AnswerPassage.objects.filter(document=second).update(text="Another passage.")
    document = load_history(the_next(conversation), ANONYMOUS).documents[1]
    assert document.exposure is Exposure.FULL
    assert document.facts.revision == 2
    assert [passage.text for passage in document.facts.passages] == [
        "The text of One.",
        "Another passage.",
    ]


@pytest.mark.django_db(transaction=True)
def test_a_follow_up_cites_what_is_carried_without_fetching_it(provider: ScriptedProvider) -> None:
    article = make_article("Set up SSO", body="## Steps\n\nOpen Settings.")
    index_article(article.pk)
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.answer("Open Settings [1].")
    provider.answer("As said, in Settings [1]. Not [5].")
    provider.answer("You are welcome.")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("How do I set up SSO?")).json()
        fields = {"conversation_id": first["conversation_id"]}
        events = await person.ask_sse("Where was that [1]?", **fields)
        (source,) = events[-1]["sources"]
        assert (source["via"], source["number"], source["consulted"]) == ("carried", 1, True)
        assert events[-1]["text"] == "As said, in Settings [1]. Not."
        assert events[-1]["grounding"] == "grounded"
        thanks = (await person.ask_json("Thanks", **fields)).json()
        assert thanks["sources"] == [], "carried, and not cited: no source"
        page = (await person.get(f"/api/v1/conversations/{fields['conversation_id']}/")).json()
        assert page["turns"][0]["text"] == "Open Settings [1]."
        assert page["turns"][1]["sources"][0]["via"] == "carried"

    in_loop(body)
    asked = provider.requests[2].body["messages"]
    assert [message["role"] for message in asked] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert "[1] is ref 1" in asked[-1]["content"]
    document = Answer.objects.get(turn=2).documents.get()
    assert (document.ref, document.carried, document.exposure) == (1, True, "full")
    assert document.passages.count() == 1, "the audit shows the text that was relied on"
    thanks = Answer.objects.get(turn=3).documents.get()
    assert (thanks.carried, thanks.consulted, thanks.passages.count()) == (True, False, 0)


@pytest.mark.django_db(transaction=True)
def test_what_was_unpublished_since_is_gone_from_the_prompt(provider: ScriptedProvider) -> None:
    article = make_article("Secret plan", body="## Steps\n\nThe secret is 42.")
    index_article(article.pk)
    provider.call("open_article", {"slug": "secret-plan"})
    provider.answer("It is 42 [1].")
    provider.answer("I cannot say [1].")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("What is it?")).json()
        await db(publishing.withdraw, article)
        again = await person.ask_json("Again?", conversation_id=first["conversation_id"])
        assert again.json()["text"] == "I cannot say."
        assert again.json()["sources"] == []

    in_loop(body)
    assert "The secret is 42" not in json.dumps(provider.requests[-1].body)


# Feedback


@pytest.mark.django_db(transaction=True)
def test_the_last_vote_counts(provider: ScriptedProvider) -> None:
    provider.answer("Yes.")

    async def body() -> None:
        person = await Person.visitor()
        answer = (await person.ask_json("How?")).json()
        url = f"{ANSWERS}{answer['id']}/feedback/"
        vote = {"rating": "negative", "reason": Reason.WRONG, "comment": "It is 7."}
        assert (await person.post(url, vote)).json() == vote
        page = (await person.get(f"{ANSWERS}{answer['id']}/")).json()
        assert page["feedback"] == vote
        assert (await person.post(url, {"rating": "positive"})).json()["comment"] == ""
        page = (await person.get(f"{ANSWERS}{answer['id']}/")).json()
        assert page["feedback"]["rating"] == "positive"

    in_loop(body)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("vote", "code"),
    [
        ({}, "invalid_feedback"),
        ({"rating": "perfect"}, "invalid_feedback"),
        ({"rating": "negative", "reason": "mood"}, "invalid_feedback"),
        ({"rating": "negative", "comment": "x" * 2001}, "invalid_feedback"),
        ({"rating": 7}, "malformed"),
        ([], "malformed"),
    ],
)
def test_votes_that_are_none_are_refused(provider: ScriptedProvider, vote: Any, code: str) -> None:
    provider.answer("Yes.")

    async def body() -> None:
        person = await Person.visitor()
        answer = (await person.ask_json("How?")).json()
        response = await person.post(f"{ANSWERS}{answer['id']}/feedback/", vote)
        assert (response.status_code, response.json()["error"]["code"]) == (400, code)

    in_loop(body)


@pytest.mark.django_db(transaction=True)
def test_the_list_of_conversations_comes_in_pages() -> None:
    visitor = uuid.uuid4()
    for number in range(53):
        conversation = Conversation.objects.create(visitor_id=visitor)
        make_answer(f"Question {number}?", conversation=conversation)

    async def body() -> None:
        person = await Person.visitor()
        await db(lambda: Conversation.objects.update(visitor_id=visitor))
        await db(_become, person, visitor)
        first = (await person.get("/api/v1/conversations/")).json()
        assert (len(first["conversations"]), first["next"]) == (50, 50)
        assert first["conversations"][0]["title"] == "Question 52?"
        rest = (await person.get("/api/v1/conversations/?offset=50")).json()
        assert (len(rest["conversations"]), rest["next"]) == (3, None)
        bad = await person.get("/api/v1/conversations/?offset=")
        assert bad.json()["error"]["code"] == "malformed"

    in_loop(body)


def _become(person: Person, visitor: uuid.UUID) -> None:
    session = person.http.session
    session["visitor_id"] = str(visitor)
    session.save()
