"""A second model takes over what the first one's provider fails, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assistant.models import Answer
from assistant.providers import select_model
from assistant.providers.fallback import FallbackModel
from tests.chat_clients import Person, in_loop
from tests.scripted_provider import DONE, Drop, ScriptedProvider, finish, say, usage
from tests.search_index import make_indexed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second(provider: ScriptedProvider, settings: Any) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        settings.ASSISTANT_FALLBACK_MODEL = "second"
        settings.ASSISTANT_FALLBACK_BASE_URL = server.url
        settings.ASSISTANT_FALLBACK_API_KEY = "sk-second"
        settings.OPENAI_API_KEY = "sk-first"
        yield server


def ask(*questions: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    async def body() -> None:
        person = await Person.visitor()
        for question in questions:
            told.append((await person.ask_sse(question))[-1])

    in_loop(body)
    return told


def test_it_takes_over_before_the_first_word_and_the_answer_names_it(
    provider: ScriptedProvider, second: ScriptedProvider
) -> None:
    provider.refuse(401, {"message": "no"})
    second.answer("From the second one.")
    provider.answer("The first one is back.")
    first_end, second_end = ask("How?", "And now?")
    assert first_end["text"] == "From the second one."
    assert second_end["text"] == "The first one is back."
    assert list(Answer.objects.order_by("created_at").values_list("model", flat=True)) == [
        "second",
        "scripted",
    ]
    assert second.requests[0].headers["authorization"] == "Bearer sk-second"
    assert second.requests[0].body["model"] == "second"


def test_it_goes_on_with_what_was_read_and_stays_for_the_turn(
    provider: ScriptedProvider, second: ScriptedProvider
) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    provider.call("open_article", {"slug": "export-a-project"})
    provider.refuse(403, {})
    second.call("list_categories", {})
    second.answer("Choose CSV [1].")
    [end] = ask("How do I export?")
    assert end["text"] == "Choose CSV [1]."
    assert [source["title"] for source in end["sources"]] == ["Export a project"]
    assert [message["role"] for message in second.requests[0].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]


def test_after_a_word_nobody_takes_over(
    provider: ScriptedProvider, second: ScriptedProvider
) -> None:
    provider.reply(say("Open the "), Drop())
    [end] = ask("How?")
    assert (end["type"], end["text"]) == ("error", "Open the ")
    assert not second.requests


@pytest.mark.parametrize(
    "error", [{"code": "content_filter", "message": "filtered"}, {"message": "no"}]
)
def test_what_was_refused_is_not_asked_of_another(
    provider: ScriptedProvider, second: ScriptedProvider, error: Any
) -> None:
    provider.refuse(400, error)
    ask("How?")
    assert not second.requests


def test_where_both_fail_the_visitor_is_told(
    provider: ScriptedProvider, second: ScriptedProvider
) -> None:
    provider.refuse(403, {})
    second.refuse(404, {})
    [end] = ask("How?")
    assert (end["type"], end["code"]) == ("error", "unavailable")
    assert Answer.objects.get().model == "second"


def test_a_second_model_without_tools_answers_from_one_search(
    provider: ScriptedProvider, second: ScriptedProvider
) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    provider.refuse(403, {})
    second.refuse(400, {"message": "this model does not support tools"})
    second.reply(say("Choose CSV [1]."), finish(), usage(), DONE)
    [end] = ask("How do I export a project as CSV?")
    assert [source["title"] for source in end["sources"]] == ["Export a project"]
    answer = Answer.objects.get()
    assert (answer.model, answer.mode) == ("second", "context")


def test_without_an_address_it_is_another_model_of_the_same_provider(settings: Any) -> None:
    settings.ASSISTANT_MODEL, settings.OPENAI_API_KEY = "first", "sk-first"
    settings.ASSISTANT_FALLBACK_MODEL = "second"
    keys = []
    for address in ("", "http://other.example.com/v1"):
        settings.ASSISTANT_FALLBACK_BASE_URL = address
        model = select_model(settings)
        assert isinstance(model, FallbackModel)
        second: Any = model.models[1]
        keys.append((second.provider, second._inner._api_key))
    assert keys == [("openai", "sk-first"), ("other.example.com", "none")]
