"""Verdicts of real turns: through the chat's door, with a scripted provider, to the gap report.

No outage is ever a gap: whatever is down, the report that runs afterwards has nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from articles.indexing import index_article
from assistant import gaps, tasks
from assistant.models import Answer, GapTopic
from assistant.tools import queries
from assistant.turns import reaping
from tests.chat_clients import ANSWERS, Person, in_loop, read_sse
from tests.factories import make_answer, make_article
from tests.scripted_provider import DONE, Drop, Endless, ScriptedProvider, finish, say, usage

pytestmark = pytest.mark.django_db(transaction=True)

NOT_FOUND = "I could not find that in the help center."
Outage = Callable[[ScriptedProvider, Any, pytest.MonkeyPatch], None]


def refused(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.OPENAI_BASE_URL = f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def broken(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    provider.refuse(500, {"message": "internal"}, retry_after="60")


def rate_limited(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    provider.refuse(429, {"message": "slow down"}, retry_after="60")


def filtered(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    provider.call("search_articles", {"query": "schedule an export"})
    provider.reply(say(NOT_FOUND), finish("content_filter"), usage(), DONE)


def reset(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    provider.call("search_articles", {"query": "schedule an export"})
    provider.reply(say(NOT_FOUND), Drop())


def search_down(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    def find(*args: Any) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    patch.setattr(queries, "find", find)
    provider.call("search_articles", {"query": "schedule an export"})
    provider.call("cannot_answer", {"reason": "not_in_docs"})
    provider.answer(NOT_FOUND)


def embeddings_down(provider: ScriptedProvider, settings: Any, patch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDING_BACKEND = "openai"
    settings.EMBEDDING_MODEL = "scripted-embeddings"
    provider.call("search_articles", {"query": "schedule an export"})
    provider.refuse(500, {"message": "the embeddings are down"})
    provider.call("cannot_answer", {"reason": "not_in_docs"})
    provider.answer(NOT_FOUND)


@pytest.mark.parametrize(
    "outage", [refused, broken, rate_limited, filtered, reset, search_down, embeddings_down]
)
def test_no_gap_is_recorded_while_something_is_down(
    outage: Outage, provider: ScriptedProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage(provider, settings, monkeypatch)

    async def body() -> None:
        await (await Person.visitor()).ask_sse("Can an export be scheduled?")

    in_loop(body)
    assert Answer.objects.get().grounding == "unavailable"
    assert_no_gaps()


def test_no_gap_is_recorded_for_what_was_stopped(provider: ScriptedProvider) -> None:
    provider.reply(say(NOT_FOUND), Endless())

    async def body() -> None:
        person = await Person.visitor()
        response = await person.open_sse("Can an export be scheduled?")
        seen = await read_sse(response, until_type="delta")
        await person.post(f"{ANSWERS}{seen[0]['answer_id']}/stop/")

    in_loop(body)
    assert Answer.objects.get().status == "stopped"
    assert_no_gaps()


def test_no_gap_is_recorded_for_a_turn_whose_process_died() -> None:
    answer = make_answer(status=Answer.Status.RUNNING, grounding="", text="", finished_at=None)
    Answer.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=5))
    assert reaping.reap() == 1
    answer.refresh_from_db()
    assert (answer.status, answer.grounding) == ("interrupted", "unavailable")
    assert_no_gaps()


def test_no_gap_is_recorded_for_what_a_limit_refused(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    provider.call("list_categories", {})
    provider.answer("Hello.")

    async def body() -> None:
        person = await Person.visitor()
        await person.ask_json("hello")
        response = await person.ask_json("Can an export be scheduled?")
        assert response.status_code == 429

    in_loop(body)
    assert_no_gaps()


def assert_no_gaps() -> None:
    assert tasks.update_gap_report() == 0
    assert not GapTopic.objects.exists()


def test_a_greeting_has_no_sources_and_words_that_nothing_was_found_are_a_gap(
    provider: ScriptedProvider,
) -> None:
    """B08: what was searched for all the same makes no source."""
    exports()
    for text in ("Hello! How can I help?", NOT_FOUND):
        provider.call("search_articles", {"query": "export a report"})
        provider.answer(text)

    async def body() -> None:
        person = await Person.visitor()
        for question, grounding in (
            ("hi there", "smalltalk"),
            ("Can an export be scheduled?", "rejected"),
        ):
            end = (await person.ask_json(question)).json()
            assert (end["sources"], end["grounding"]) == ([], grounding)

    in_loop(body)
    assert tasks.update_gap_report() == 1
    assert GapTopic.objects.get().name == "Can an export be scheduled?"


def test_the_report_lists_what_was_not_found_and_nothing_else(provider: ScriptedProvider) -> None:
    """B114: answered questions, failures and greetings are no gaps."""
    exports()
    questions = []
    for _ in range(5):
        provider.call("open_article", {"slug": "export-a-report"})
        provider.answer("Press Export [1].")
        questions.append("How do I export a report?")
    for question in ("SSO with Okta", "SSO with Okta?", "sso with okta"):
        provider.call("search_articles", {"query": "okta"})
        provider.answer("Here is what I can say.")
        questions.append(question)
    provider.refuse(401, {"message": "wrong key"})
    questions.append("Why does it fail?")
    provider.answer("Hello.")
    questions.append("hello")

    async def body() -> None:
        person = await Person.visitor()
        for question in questions:
            await person.ask_json(question)

    in_loop(body)
    run = gaps.update_report()
    assert run is not None
    assert run.questions_added == 3
    topic = GapTopic.objects.get()
    assert (topic.name, topic.questions_count) == ("SSO with Okta", 3)


@pytest.mark.parametrize(
    ("question", "reason", "expected"),
    [
        ("Danke, hat geklappt", "", "smalltalk"),
        ("あなたは誰ですか？", "", "smalltalk"),
        ("you are so useless", "", "smalltalk"),
        ("hello", "not_in_docs", "smalltalk"),
        ("write me a poem", "out_of_scope", "out_of_scope"),
        ("it does not work", "unclear_question", "unclear"),
        ("Kann ich mit PayPal zahlen?", "not_in_docs", "rejected"),
        ("hi, how do I reset my password?", "", "unsearched"),
        ("退款", "", "unsearched"),
    ],
)
def test_the_verdict_of_a_whole_turn(
    provider: ScriptedProvider, question: str, reason: str, expected: str
) -> None:
    if reason:
        provider.call("cannot_answer", {"reason": reason})
    provider.answer("Here is what I can say.")

    async def body() -> None:
        await (await Person.visitor()).ask_json(question)

    in_loop(body)
    assert Answer.objects.get().grounding == expected


def exports() -> None:
    body = "## Export a report\n\nOpen the report and press Export."
    index_article(make_article("Export a report", body=body).pk)
