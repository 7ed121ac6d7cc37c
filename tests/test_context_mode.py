"""Models without tools: one search, numbered passages before the question, no tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from assistant.agent import Message, ModelEvent, ProviderError, TextDelta, ToolCallRequest, Usage
from assistant.prompts import PastCall, PastTurn, build
from assistant.providers.context import ContextModel, without_tools
from assistant.providers.refusals import ToolsRefusedError
from assistant.tools.arguments import SPECS
from tests.scripted_model import ScriptedModel, call, calls, says

FOUND = json.dumps(
    {
        "documents": [
            {
                "ref": 3,
                "title": "SSO",
                "url": "/articles/sso/",
                "passages": [
                    {"heading": "Set it up", "text": "<article_text>\nA\n</article_text>"},
                    {"heading": "", "text": "<article_text>\nB\n</article_text>"},
                ],
            }
        ]
    }
)


def prompt(question: str = "How do I set up SSO?", **options: Any) -> list[Message]:
    return build(site="Acme", mode="context", question=question, **options).messages


def with_result(messages: list[Message], result: str = FOUND) -> list[Message]:
    """The messages as the loop sends them after the search."""
    function = {"name": "search_articles", "arguments": "{}"}
    asked = {"id": "a", "type": "function", "function": function}
    return [
        *messages,
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "a", "content": result},
    ]


@async_to_sync
async def read(
    model: ContextModel, messages: Sequence[Message], tools: Sequence[Any] = SPECS
) -> list[ModelEvent]:
    async with aclosing(model.stream(messages, tools)) as stream:
        return [event async for event in stream]


def test_the_first_round_searches_for_the_question_in_the_models_place() -> None:
    inner = ScriptedModel()
    turns = [PastTurn("How do I export?", "So.")]
    [end] = read(ContextModel(inner, "context"), prompt("and as PDF?", turns=turns))
    assert end.reason == "tool_calls"  # type: ignore[union-attr]
    assert end.usage == Usage()  # type: ignore[union-attr]
    [asked] = end.calls  # type: ignore[union-attr]
    assert asked == ToolCallRequest(
        "", "search_articles", '{"query": "How do I export? and as PDF?"}'
    )
    assert inner.requests == []


def test_the_second_round_has_the_passages_before_the_question_and_no_tools() -> None:
    inner = ScriptedModel(says("Open Security [3]."))
    events = read(ContextModel(inner, "context"), with_result(prompt()))
    assert events[0] == TextDelta("Open Security [3].")
    [(sent, tools)] = inner.requests
    assert tools == ()
    assert [message["role"] for message in sent] == ["system", "user"]
    assert sent[1]["content"] == (
        "[3] SSO › Set it up\n<article_text>\nA\n</article_text>\n\n"
        "[3] SSO\n<article_text>\nB\n</article_text>\n\nHow do I set up SSO?"
    )


def test_that_nothing_was_found_is_told() -> None:
    inner = ScriptedModel(says("I could not find it."))
    read(ContextModel(inner, "context"), with_result(prompt(), '{"documents": []}'))
    assert "Nothing was found" in inner.requests[0][0][-1]["content"]


def test_a_greeting_is_answered_without_a_search() -> None:
    inner = ScriptedModel(says("Hello."))
    read(ContextModel(inner, "context"), prompt("hi there"))
    assert len(inner.requests) == 1


def test_calls_of_a_model_that_was_given_no_tools_are_not_run() -> None:
    inner = ScriptedModel(calls(call("open_article", slug="sso"), text="So [3]."))
    text, end = read(ContextModel(inner, "context"), with_result(prompt()))
    assert text == TextDelta("So [3].")
    assert end.calls == ()  # type: ignore[union-attr]


def test_without_tools_at_hand_the_model_is_asked_at_once() -> None:
    inner = ScriptedModel(says("Hello."))
    read(ContextModel(inner, "context"), prompt(), tools=())
    assert len(inner.requests) == 1


def test_earlier_results_stand_before_their_own_questions() -> None:
    listed = json.dumps({"documents": [{"ref": 1, "title": "A", "url": "/articles/a/"}]})
    opened = json.dumps({"documents": [{"ref": 2, "title": "B", "url": None, "body": "text"}]})
    earlier = PastTurn(
        "What is there?",
        "A list.",
        (PastCall("list_articles", "{}", listed), PastCall("open_article", "{}", opened)),
    )
    flat = without_tools(prompt(turns=[earlier], readable=frozenset({1, 2})))
    assert [message["role"] for message in flat] == ["system", "user", "assistant", "user"]
    assert "[1] A (/articles/a/)" in flat[1]["content"]
    assert "[2] B\ntext" in flat[1]["content"]
    assert flat[1]["content"].endswith("What is there?")
    assert flat[3]["content"] == "How do I set up SSO?"


def test_words_before_a_call_stay_the_models_words() -> None:
    flat = without_tools(
        [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Let me look."}]
    )
    assert flat[1] == {"role": "assistant", "content": "Let me look."}


def test_in_tools_mode_everything_goes_straight_through() -> None:
    inner = ScriptedModel(calls(ToolCallRequest("a", "search_articles", "{}")))
    model = ContextModel(inner)
    messages = prompt()
    [end] = read(model, messages)
    assert end.calls  # type: ignore[union-attr]
    assert inner.requests[0][0] == messages
    assert (model.mode, model.name, model.provider) == ("tools", "scripted", "scripted")


def test_an_endpoint_that_refuses_tools_is_searched_for_from_then_on() -> None:
    inner = ScriptedModel([ToolsRefusedError("status=400")], says("Open Security [3]."))
    model = ContextModel(inner)
    messages = build(site="Acme", mode="tools", question="How do I set up SSO?").messages
    [end] = read(model, messages)
    assert end.calls[0].name == "search_articles"  # type: ignore[union-attr]
    assert model.mode == "context"
    read(model, with_result(messages))
    sent, tools = inner.requests[1]
    assert tools == ()
    assert "cannot_answer" not in sent[0]["content"]
    assert len(read(model, messages)) == 1
    assert len(inner.requests) == 2


def test_a_refusal_of_tools_that_were_not_sent_is_an_error() -> None:
    model = ContextModel(ScriptedModel([ToolsRefusedError("status=400")]))
    with pytest.raises(ToolsRefusedError):
        read(model, prompt(), tools=())
    assert model.mode == "tools"


def test_other_errors_pass_through() -> None:
    model = ContextModel(ScriptedModel([ProviderError("unavailable")]))
    with pytest.raises(ProviderError):
        read(model, prompt())
    assert model.mode == "tools"
