"""Field reports about providers, by their numbers: each case as it was told, as a whole turn.

What `test_provider_faults` and its neighbours show already carries its number there.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest

from assistant.agent import ToolCallRequest
from assistant.bill import budgets
from assistant.database import db
from assistant.models import Answer, Conversation
from assistant.tools.toolbox import ArticleToolbox
from tests.chat_clients import ANSWERS, Person, in_loop, until
from tests.factories import make_answer
from tests.scripted_provider import (
    DONE,
    ScriptedProvider,
    call,
    finish,
    in_slices,
    part,
    say,
    usage,
)
from tests.search_index import make_indexed
from tests.streams import Event

pytestmark = pytest.mark.django_db(transaction=True)


def asked(question: str = "How?", **fields: Any) -> Event:
    """The end of a visitor's turn."""
    ends: list[Event] = []

    async def body() -> None:
        person = await Person.visitor()
        ends.append((await person.ask_sse(question, **fields))[-1])

    in_loop(body)
    return ends[0]


def test_b46_bytes_of_characters_that_come_one_by_one_are_characters(
    provider: ScriptedProvider,
) -> None:
    provider.reply(*in_slices(say("设置完成 🎉"), finish(), usage()), DONE)
    assert asked()["text"] == "设置完成 🎉"
    answer = Answer.objects.get()
    assert answer.text == answer.model_text == "设置完成 🎉"


def test_b51_chunks_without_choices_are_no_error_and_the_usage_is_recorded(
    provider: ScriptedProvider,
) -> None:
    provider.reply(
        {"choices": []},
        {"choices": [{"delta": {"content": "Hi"}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 1}},
        DONE,
    )
    end = asked()
    assert (end["type"], end["status"], end["text"]) == ("done", "completed", "Hi")
    answer = Answer.objects.get()
    assert (answer.prompt_tokens, answer.completion_tokens) == (12, 1)
    assert not answer.usage_estimated


def test_b52_two_calls_under_one_index_run_with_their_own_arguments(
    provider: ScriptedProvider,
) -> None:
    make_indexed("Refunds", "A refund takes five days.")
    search, opening = '{"query": "refund"}', '{"slug": "refunds"}'
    provider.reply(
        part(index=0, id="a", function={"name": "search_articles", "arguments": search}),
        part(index=0, id="b", function={"name": "open_article", "arguments": opening}),
        finish("tool_calls"),
        usage(),
        DONE,
    )
    provider.answer("Five days [1].")
    asked()
    ran = Answer.objects.get().tool_calls.values_list("name", "arguments", "error")
    assert list(ran) == [("search_articles", search, ""), ("open_article", opening, "")]
    *_, calls, found, read = provider.requests[1].body["messages"]
    sent = [(one["id"], one["function"]["arguments"]) for one in calls["tool_calls"]]
    assert sent == [("a", search), ("b", opening)]
    assert [found["tool_call_id"], read["tool_call_id"]] == ["a", "b"]


def test_b57_a_tool_that_does_not_exist_is_told_which_do(provider: ScriptedProvider) -> None:
    names = ("search_knowledgebase_v2", "multi_tool_use.parallel", "")
    provider.reply(
        *(call(name, "{}", call_id=f"c{at}", index=at) for at, name in enumerate(names)),
        finish("tool_calls"),
        usage(),
        DONE,
    )
    provider.answer("I could not find that.")
    assert asked()["status"] == "completed"
    results = [sent["content"] for sent in provider.requests[1].body["messages"][-3:]]
    tools = [tool["function"]["name"] for tool in provider.requests[0].body["tools"]]
    for result in results:
        assert all(tool in result for tool in tools), result
    for ran in Answer.objects.get().tool_calls.all():
        assert ran.error


def test_b59_searching_for_ever_ends_without_tools_and_in_words(
    provider: ScriptedProvider,
) -> None:
    rounds = 7
    for number in range(rounds):
        provider.call("search_articles", {"query": "foo"}, call_id=f"c{number}")
    end = asked("What is foo?")
    assert ["tools" in sent.body for sent in provider.requests] == [True] * (rounds - 1) + [False]
    assert (end["status"], end["truncated"]) == ("truncated", "tool_rounds")
    assert "could not find" in end["text"]
    assert end["sources"] == []
    assert Answer.objects.get().text == end["text"]


@pytest.mark.parametrize(
    ("said", "text"),
    [("Open the Bill", "Open the Bill"), ("Open the Bill [1", "Open the Bill")],
)
def test_b60_a_text_that_is_cut_is_stored_as_cut_and_shows_no_half_marker(
    provider: ScriptedProvider, said: str, text: str
) -> None:
    make_indexed("Bills", "Open the Billing page.")
    provider.call("open_article", {"slug": "bills"})
    provider.reply(*map(say, said), finish("length"), usage(), DONE)
    end = asked()
    assert (end["status"], end["truncated"]) == ("truncated", "length")
    assert end["text"].strip() == text
    assert "[" not in end["html"]
    answer = Answer.objects.get()
    assert (answer.status, answer.truncated_by) == ("truncated", "length")
    assert answer.text == end["text"]


def test_b60_a_model_that_only_reasoned_produced_no_answer(provider: ScriptedProvider) -> None:
    provider.reply(
        *(say(None, reasoning_content="Let me think. ") for _ in range(3)),
        finish("length"),
        usage(),
        DONE,
    )
    end = asked()
    assert (end["status"], end["truncated"]) == ("truncated", "length")
    assert "No answer was produced" in end["text"]
    assert "think" not in Answer.objects.get().text


def test_b64_a_turn_stopped_in_a_tool_leaves_a_history_that_is_whole(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scripted provider refuses a call without its result and the other way round."""
    make_indexed("Export a project", "Export a project as CSV.")
    started, go_on = threading.Event(), threading.Event()
    run = ArticleToolbox.call

    async def held(toolbox: ArticleToolbox, request: ToolCallRequest) -> Any:
        if request.name == "open_article":
            started.set()
            await until(go_on.is_set)
        return await run(toolbox, request)

    monkeypatch.setattr(ArticleToolbox, "call", held)
    provider.reply(
        say("I look it up. "),
        call("search_articles", {"query": "export"}, call_id="a", index=0),
        call("open_article", {"slug": "export-a-project"}, call_id="b", index=1),
        finish("tool_calls"),
        usage(),
        DONE,
    )
    provider.answer("As CSV.")

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How do I export?"})
            begun = await socket.receive()
            await until(started.is_set, "the tool")
            await person.post(f"{ANSWERS}{begun['answer_id']}/stop/")
            assert (await socket.read_answer())[-1]["status"] == "stopped"
            go_on.set()
        again = await person.ask_json("And then?", conversation_id=begun["conversation_id"])
        assert again.json()["text"] == "As CSV."

    in_loop(body)
    roles = [message["role"] for message in provider.requests[1].body["messages"]]
    assert roles[:2] == ["system", "user"]
    assert roles[-1] == "user"


@pytest.mark.parametrize("context_tokens", [1_500, 8_000])
def test_b64_a_history_that_is_cut_anywhere_is_whole(
    provider: ScriptedProvider, settings: Any, context_tokens: int
) -> None:
    settings.ASSISTANT_CONTEXT_TOKENS = context_tokens
    make_indexed("Export a project", "Export a project as CSV. " * 20)
    provider.call("search_articles", {"query": "export"})
    provider.call("open_article", {"slug": "export-a-project"}, call_id="b")
    for number in range(4):
        provider.answer(f"As CSV, step {number}. " * 40)

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("How do I export?")).json()
        for number in range(3):
            fields = {"conversation_id": first["conversation_id"]}
            told = await person.ask_json(f"And step {number}?", **fields)
            assert told.status_code == 200

    in_loop(body)


def test_b66_an_answer_without_usage_is_charged_by_an_estimate(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TOKENS_PER_DAY = 1_000_000
    provider.reply(say("Open the settings."), finish(), DONE)
    asked()
    assert provider.requests[0].body["stream_options"] == {"include_usage": True}
    answer = Answer.objects.get()
    assert answer.usage_estimated
    assert answer.prompt_tokens > 100
    assert answer.completion_tokens > 0
    [tokens] = [budget for budget in budgets.of_today() if budget.kind == "tokens"]
    assert tokens.spent() == answer.prompt_tokens + answer.completion_tokens


def test_b67_thanks_after_sixty_long_turns_is_answered_even_when_it_was_too_long(
    provider: ScriptedProvider,
) -> None:
    provider.answer("Hello.")
    provider.refuse(400, {"code": "context_length_exceeded", "message": "too long"})
    provider.answer("You are welcome.")

    def add_sixty_turns() -> None:
        conversation = Conversation.objects.get()
        for _ in range(60):
            make_answer(conversation=conversation, text="word " * 2_000)

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("hello")).json()
        await db(add_sixty_turns)
        told = await person.ask_json("ok thanks", conversation_id=first["conversation_id"])
        assert told.json()["text"] == "You are welcome."

    in_loop(body)
    _hello, first, second = (
        sum(len(message["content"]) for message in sent.body["messages"])
        for sent in provider.requests
    )
    assert second < first / 2
    assert first < 150_000, "of six hundred thousand characters"
