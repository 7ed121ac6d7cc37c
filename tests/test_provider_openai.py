"""The OpenAI-compatible provider, on the wire against a server that follows a script."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from assistant.agent import (
    Finished,
    ModelEvent,
    ProviderError,
    TextDelta,
    ToolCallRequest,
    ToolSpec,
    Usage,
)
from assistant.providers.chunks import ChunkReader
from assistant.providers.openai import Clock, OpenAIModel
from assistant.providers.refusals import ToolsRefusedError
from assistant.providers.retries import Patience, told_to_wait
from tests.scripted_provider import (
    DONE,
    Drop,
    Endless,
    ScriptedProvider,
    Wait,
    call,
    finish,
    in_slices,
    part,
    say,
    usage,
)

SEARCH = ToolSpec(
    "search_articles", "Finds articles.", {"type": "object", "properties": {"query": {}}}
)
QUESTION = [{"role": "user", "content": "How do I export?", "question": "How do I export?"}]
IMPATIENT = Patience(first_wait=0.001)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        yield server


def model_at(provider: ScriptedProvider, **options: Any) -> OpenAIModel:
    return OpenAIModel(
        name="scripted",
        api_key="sk-secret",
        base_url=provider.url,
        **{"patience": IMPATIENT, **options},
    )


async def collect(model: OpenAIModel, tools: Sequence[ToolSpec] = (SEARCH,)) -> list[ModelEvent]:
    async with aclosing(model.stream(QUESTION, tools)) as stream:
        return [event async for event in stream]


@async_to_sync
async def read(model: OpenAIModel, tools: Sequence[ToolSpec] = (SEARCH,)) -> list[ModelEvent]:
    return await collect(model, tools)


def together(*events: Mapping[str, Any]) -> bytes:
    """These events in one write."""
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def end_of(events: Sequence[ModelEvent]) -> Finished:
    [end] = [event for event in events if isinstance(event, Finished)]
    assert events[-1] is end
    return end


def error_of(model: OpenAIModel) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(model)
    return caught.value


# What is asked


def test_the_request_streams_with_tools_and_usage_and_only_fields_that_the_wire_knows(
    provider: ScriptedProvider,
) -> None:
    provider.answer("Open Settings.")
    read(model_at(provider))
    [request] = provider.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert request.body["stream"] is True
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["messages"] == [{"role": "user", "content": "How do I export?"}]
    assert request.body["tools"][0]["function"]["name"] == "search_articles"


def test_without_tools_the_request_names_none(provider: ScriptedProvider) -> None:
    provider.answer("Open Settings.")
    read(model_at(provider), tools=())
    assert "tools" not in provider.requests[0].body


def test_turns_in_one_loop_share_a_connection(provider: ScriptedProvider) -> None:
    for _ in range(3):
        provider.answer("Open Settings.")
    model = model_at(provider)

    @async_to_sync
    async def ask_three_times() -> None:
        for _ in range(3):
            await collect(model)

    ask_three_times()
    assert provider.connections == 1


# What comes back


def test_an_answer_arrives_piece_by_piece_with_its_usage(provider: ScriptedProvider) -> None:
    heard: list[ModelEvent] = []
    first, second = threading.Event(), threading.Event()
    end = (finish(), usage(120, 7, cached=64), DONE)
    provider.reply(say("Open "), Wait(first), say("Settings."), Wait(second), *end)
    model = model_at(provider)

    @async_to_sync
    async def listen() -> None:
        async with aclosing(model.stream(QUESTION, ())) as stream:
            for go_on in (first, second, None):
                heard.append(await anext(stream))
                if go_on is not None:
                    go_on.set()

    listen()
    assert heard == [
        TextDelta("Open "),
        TextDelta("Settings."),
        Finished("stop", (), Usage(120, 64, 7)),
    ]


def test_what_came_at_once_is_one_piece(provider: ScriptedProvider) -> None:
    provider.reply(together(say("Open "), say("Settings.")), finish(), DONE)
    text, end = read(model_at(provider))
    assert (text, end_of([end]).reason) == (TextDelta("Open Settings."), "stop")


def test_what_stood_before_an_error_in_the_same_piece_is_text(provider: ScriptedProvider) -> None:
    provider.reply(together(say("Open "), {"error": {"message": "overloaded"}}))
    model = model_at(provider)
    heard: list[ModelEvent] = []

    @async_to_sync
    async def listen() -> None:
        async with aclosing(model.stream(QUESTION, ())) as stream:
            async for event in stream:
                heard.append(event)

    with pytest.raises(ProviderError):
        listen()
    assert heard == [TextDelta("Open ")]


def test_nothing_behind_the_end_of_a_stream_is_text(provider: ScriptedProvider) -> None:
    provider.reply(together(say("Open."), finish()) + DONE + together(say(" More")))
    assert text_of(read(model_at(provider))) == "Open."


def test_the_first_word_is_there_before_the_second_was_sent(provider: ScriptedProvider) -> None:
    gate = threading.Event()
    provider.reply(say("Open "), Wait(gate), say("Settings."), finish(), DONE)

    @async_to_sync
    async def first_then_rest() -> str:
        async with aclosing(model_at(provider).stream(QUESTION, ())) as stream:
            first = await anext(stream)
            gate.set()
            return text_of([first, *[event async for event in stream]])

    assert first_then_rest() == "Open Settings."


def test_empty_choices_null_deltas_and_usage_apart_are_harmless(
    provider: ScriptedProvider,
) -> None:
    provider.reply(
        {"choices": []},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": None},
        say(None),
        {"choices": [{"delta": {"content": "Hi", "tool_calls": None}}]},
        finish(),
        usage(9, 1),
        DONE,
    )
    events = read(model_at(provider))
    assert text_of(events) == "Hi"
    assert end_of(events).usage == Usage(9, 0, 1)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_any_line_end_comments_and_other_fields_are_read(
    provider: ScriptedProvider, line_end: str
) -> None:
    chunk = json.dumps(say("Hi"))
    half = len('{"id": "chatcmpl-1",')
    lines = [
        ": waiting",
        "",
        "event: message",
        "id: 7",
        f"data: {chunk[:half]}",
        f"data:{chunk[half:]}",
        "",
        f"data: {json.dumps(finish())}",
        "",
        "data: [DONE]",
        "",
        "",
    ]
    provider.reply(*(bytes([byte]) for byte in line_end.join(lines).encode()))
    assert text_of(read(model_at(provider))) == "Hi"


def test_events_without_empty_lines_between_them_are_read(provider: ScriptedProvider) -> None:
    chunks = [json.dumps(chunk) for chunk in (say("Open "), say("Settings."), finish())]
    provider.reply("".join(f"data: {chunk}\n" for chunk in [*chunks, "[DONE]"]).encode())
    assert text_of(read(model_at(provider))) == "Open Settings."


@pytest.mark.field_report("B46")
def test_characters_survive_any_slicing_of_their_bytes(provider: ScriptedProvider) -> None:
    provider.reply(*in_slices(say("设置完成 🎉\u2028 ok"), finish(), usage()), DONE)
    assert text_of(read(model_at(provider))) == "设置完成 🎉\u2028 ok"


def test_an_emoji_whose_halves_come_in_two_chunks_is_one(provider: ScriptedProvider) -> None:
    first, second = (
        b'data: {"choices":[{"delta":{"content":"done ' + half + b'"}}]}\n\n'
        for half in (rb"\ud83c", rb"\udf89 \u0000")
    )
    provider.reply(first, second.replace(b"done ", b""), finish(), DONE)
    assert text_of(read(model_at(provider))) == "done 🎉 "


def test_a_half_character_that_stays_alone_is_marked_as_such(provider: ScriptedProvider) -> None:
    provider.reply(
        rb'data: {"choices":[{"delta":{"content":"a\ud83c"}}]}' + b"\n\n", finish(), DONE
    )
    assert text_of(read(model_at(provider))) == "a\ufffd"


def test_a_provider_that_ignores_streaming_is_read_all_the_same(
    provider: ScriptedProvider,
) -> None:
    whole = {
        "choices": [
            {"index": 0, "message": {"content": "Open Settings."}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 8, "completion_tokens": 3},
    }
    provider.reply(json.dumps(whole).encode(), Content_Type="application/json")
    events = read(model_at(provider))
    assert text_of(events) == "Open Settings."
    assert end_of(events).usage == Usage(8, 0, 3)


def test_a_proxy_that_compresses_all_the_same_is_read(provider: ScriptedProvider) -> None:
    stream = b"".join(
        f"data: {json.dumps(chunk)}\n\n".encode() for chunk in (say("Yes."), finish())
    )
    provider.reply(gzip.compress(stream), Content_Encoding="gzip")
    assert text_of(read(model_at(provider))) == "Yes."


def test_content_in_parts_shows_only_the_text(provider: ScriptedProvider) -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}, "odd"]
    provider.reply(say(None, content=parts), finish(), DONE)
    assert text_of(read(model_at(provider))) == "Yes."


def test_without_usage_an_estimate_is_given_and_flagged(provider: ScriptedProvider) -> None:
    provider.reply(say("Open the settings of your account."), finish(), DONE)
    counted = end_of(read(model_at(provider))).usage
    assert counted is not None
    assert counted.estimated
    assert counted.prompt_tokens > 0
    assert counted.completion_tokens == 9


def test_a_usage_of_zero_for_a_written_answer_is_not_believed(provider: ScriptedProvider) -> None:
    provider.reply(say("Open it."), finish(), usage(10, 0), DONE)
    counted = end_of(read(model_at(provider))).usage
    assert counted is not None
    assert counted.estimated


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_finish_reasons_are_understood(
    provider: ScriptedProvider, reason: str, meaning: str
) -> None:
    provider.reply(say("Hi"), finish(reason), usage(), DONE)
    assert end_of(read(model_at(provider))).reason == meaning


# Reasoning


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<think>secret</think>\n\nOpen it."], "Open it."),
        (["<thi", "nk>sec", "ret</", "think>", "\n", "\nOpen it."], "Open it."),
        (["Open ", "<THINK>", "secret", "</Think>it."], "Open it."),
        (["Open it.", "<think>secret that never ends"], "Open it."),
        (["secret is out</think>Open it."], "secret is outOpen it."),
        (["a < b <", "thin", "gs"], "a < b <things"),
        (["ends in <thi"], "ends in <thi"),
    ],
)
def test_reasoning_in_the_text_is_never_shown(
    provider: ScriptedProvider, pieces: list[str], shown: str
) -> None:
    provider.reply(*map(say, pieces), finish(), DONE)
    assert text_of(read(model_at(provider))) == shown


@pytest.mark.parametrize("size", [1, 3])
def test_reasoning_is_never_shown_however_it_is_cut(provider: ScriptedProvider, size: int) -> None:
    text = "<think>a < b</think>\n\nOpen **it** <b>now</b><thinking>x</thinking>."
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    provider.reply(*map(say, pieces), finish(), DONE)
    assert text_of(read(model_at(provider))) == "Open **it** <b>now</b>."


def test_reasoning_in_its_own_field_is_never_shown(provider: ScriptedProvider) -> None:
    provider.reply(
        say(None, reasoning_content="secret"),
        say("", reasoning="secret"),
        say("Hi"),
        finish(),
        DONE,
    )
    assert text_of(read(model_at(provider))) == "Hi"


# Tool calls


def calls_of(provider: ScriptedProvider, *chunks: Any) -> list[tuple[str, str, str]]:
    provider.reply(*chunks, finish("tool_calls"), usage(), DONE)
    end = end_of(read(model_at(provider)))
    assert end.reason == "tool_calls"
    return [(call.call_id, call.name, call.arguments) for call in end.calls]


def fn(name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_a_call_is_put_together_from_its_fragments(provider: ScriptedProvider) -> None:
    assert calls_of(
        provider,
        part(index=0, id="a", type="function", function=fn("search_articles", "")),
        part(index=0, function={"arguments": '{"que'}),
        part(index=0, function={"arguments": 'ry": "sso"}'}),
        part(index=1, id="b", function=fn("open_article", '{"ref"')),
        part(index=1, id="b", function=fn(None, ": 1}")),
    ) == [("a", "search_articles", '{"query": "sso"}'), ("b", "open_article", '{"ref": 1}')]


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [
                {"index": 0, "id": "a", "function": fn("one", '{"x":1}')},
                {"index": 0, "id": "b", "function": fn("two", '{"y":2}')},
            ],
            id="two ids under one index",
        ),
        pytest.param(
            [
                {"id": "a", "function": fn("one", '{"x":1}')},
                {"id": "b", "function": fn("two", '{"y"')},
                {"id": "b", "function": fn("two", ":2}")},
            ],
            id="no index",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": fn("one")},
                {"index": 1, "id": "b", "function": fn("two")},
                {"index": 0, "function": fn(None, '{"x":1}')},
                {"index": 1, "function": fn(None, '{"y":2}')},
            ],
            id="taking turns",
        ),
    ],
)
def test_two_calls_keep_their_own_arguments(
    provider: ScriptedProvider, fragments: list[dict[str, Any]]
) -> None:
    assert calls_of(provider, *(part(**fragment) for fragment in fragments)) == [
        ("a", "one", '{"x":1}'),
        ("b", "two", '{"y":2}'),
    ]


def test_calls_without_any_id_are_told_apart_by_their_names(provider: ScriptedProvider) -> None:
    assert calls_of(
        provider,
        part(function=fn("list_categories", {})),
        part(function=fn("search_articles", {"query": "sso"})),
        part(function=fn("search_articles", '{"query": "saml"}')),
    ) == [
        ("", "list_categories", "{}"),
        ("", "search_articles", '{"query": "sso"}'),
        ("", "search_articles", '{"query": "saml"}'),
    ]


def test_a_name_that_is_repeated_with_each_fragment_is_one_call(
    provider: ScriptedProvider,
) -> None:
    assert calls_of(
        provider,
        part(index=0, function=fn("search_articles", '{"query"')),
        part(index=0, function=fn("search_articles", ': "sso"}')),
    ) == [("", "search_articles", '{"query": "sso"}')]


def test_several_objects_in_one_call_are_several_calls(provider: ScriptedProvider) -> None:
    assert calls_of(provider, call("open_article", '{"ref": 1} {"ref": 2}')) == [
        ("a", "open_article", '{"ref": 1}'),
        ("", "open_article", '{"ref": 2}'),
    ]


@pytest.mark.parametrize(
    "arguments", ["", '{"query": "how do I res', "{query: refund,}", "[1]", "1 2"]
)
def test_broken_arguments_are_passed_on_as_they_are(
    provider: ScriptedProvider, arguments: str
) -> None:
    assert calls_of(provider, call("search_articles", arguments)) == [
        ("a", "search_articles", arguments)
    ]


def test_fragments_that_are_none_are_left_out(provider: ScriptedProvider) -> None:
    chunk = say(None, tool_calls=["odd", {"index": 0, "id": 3, "function": "odd"}])
    assert calls_of(provider, chunk) == [("", "", "")]


def test_calls_without_end_are_bounded(provider: ScriptedProvider) -> None:
    chunks = [part(index=number, id=f"c{number}", function=fn("x", "{}")) for number in range(99)]
    assert len(calls_of(provider, *chunks)) == 32


def test_names_and_arguments_without_end_are_cut(provider: ScriptedProvider) -> None:
    [(_id, name, arguments)] = calls_of(provider, call("x" * 9_000, "y" * 90_000))
    assert (len(name), len(arguments)) == (64, 20_000)


def test_calls_under_the_reason_stop_are_calls(provider: ScriptedProvider) -> None:
    provider.reply(call("search_articles", {"query": "sso"}), finish("stop"), DONE)
    assert end_of(read(model_at(provider))).reason == "tool_calls"


# Failures


def test_a_stream_that_ends_without_a_finish_reason_failed(provider: ScriptedProvider) -> None:
    provider.reply(say("Open the "), DONE)
    error = error_of(model_at(provider))
    assert (error.code, error.retryable) == ("unavailable", True)


def test_a_connection_that_drops_within_the_answer_is_not_tried_again(
    provider: ScriptedProvider,
) -> None:
    provider.reply(say("Open the "), Drop())
    error = error_of(model_at(provider))
    assert (error.code, error.retryable) == ("unavailable", True)
    assert len(provider.requests) == 1


def test_a_connection_that_drops_after_the_finish_reason_lost_nothing(
    provider: ScriptedProvider,
) -> None:
    provider.reply(say("Open it."), finish(), Drop())
    assert end_of(read(model_at(provider))).usage.estimated  # type: ignore[union-attr]


def test_a_connection_that_drops_before_the_first_word_is_tried_again(
    provider: ScriptedProvider,
) -> None:
    provider.reply(Drop())
    provider.reply(say("", role="assistant"), part(index=0, id="a"), Drop())
    provider.answer("Open it.")
    assert text_of(read(model_at(provider))) == "Open it."


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_passing_failures_are_tried_again_at_most_twice(
    provider: ScriptedProvider, status: int
) -> None:
    for _ in range(3):
        provider.refuse(status, {"message": "later"})
    error = error_of(model_at(provider))
    assert error.retryable
    assert error.code == ("rate_limited" if status == 429 else "unavailable")
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "refused"),
        (401, "misconfigured"),
        (403, "misconfigured"),
        (404, "misconfigured"),
        (422, "refused"),
    ],
)
def test_lasting_failures_are_not_tried_again(
    provider: ScriptedProvider, status: int, code: str
) -> None:
    provider.refuse(status, {"message": "no", "code": "some_code"})
    error = error_of(model_at(provider))
    assert (error.code, error.retryable) == (code, False)
    assert error.detail == f"status={status} code=some_code"


def test_an_exhausted_account_is_not_tried_again(provider: ScriptedProvider) -> None:
    provider.refuse(429, {"message": "You exceeded your quota", "code": "insufficient_quota"})
    assert error_of(model_at(provider)).code == "misconfigured"


def test_retry_after_is_waited_for(provider: ScriptedProvider) -> None:
    provider.refuse(503, {}, retry_after_ms="120")
    provider.answer("Open it.")
    model = model_at(provider)

    @async_to_sync
    async def timed() -> float:
        start = asyncio.get_running_loop().time()
        await collect(model)
        return asyncio.get_running_loop().time() - start

    assert timed() >= 0.12


def test_nobody_waits_for_a_retry_after_of_an_hour(provider: ScriptedProvider) -> None:
    provider.refuse(429, {}, retry_after="3600")
    error = error_of(model_at(provider))
    assert (error.code, error.retry_after) == ("rate_limited", 3600)


def test_retry_after_is_read_in_all_its_forms() -> None:
    assert told_to_wait({"retry-after": "2"}) == 2
    assert told_to_wait({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert told_to_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    for nonsense in ("soon", "-1", "nan", ""):
        assert told_to_wait({"retry-after": nonsense}) is None


def test_waits_double_and_end() -> None:
    patience, error = Patience(), ProviderError("unavailable", retryable=True)
    first, second = patience.delay(error, 1), patience.delay(error, 2)
    assert first is not None
    assert second is not None
    assert 0.3 <= first <= 0.5
    assert 0.6 <= second <= 1
    assert patience.delay(error, 3) is None
    assert patience.delay(ProviderError("refused"), 1) is None


def test_a_model_that_does_not_begin_in_time_is_given_up(provider: ScriptedProvider) -> None:
    provider.reply(say(""), Endless())
    error = error_of(model_at(provider, first_token_seconds=0.3))
    assert (error.code, error.retryable) == ("timeout", True)
    assert len(provider.requests) == 1, "all attempts together have that time"
    assert provider.requests[0].closed_by_client.wait(5)


def test_no_attempt_begins_that_could_not_end_in_time(provider: ScriptedProvider) -> None:
    provider.refuse(503, {}, retry_after="1")
    error = error_of(model_at(provider, first_token_seconds=0.9))
    assert (error.code, len(provider.requests)) == ("unavailable", 1)


def test_reasoning_is_a_sign_of_life() -> None:
    @async_to_sync
    async def waited(chunk: dict[str, Any]) -> str:
        reader = ChunkReader()
        clock = Clock(reader, first_token_seconds=0)
        reader.read([json.dumps(chunk)])
        return await clock.wait(asyncio.sleep(0.001, "next"))

    assert waited(say(None, reasoning_content="hm")) == "next"
    assert waited(part(index=0, id="a")) == "next"
    with pytest.raises(TimeoutError):
        waited(say(""))


def test_an_error_in_the_stream_before_the_first_word_is_tried_again(
    provider: ScriptedProvider,
) -> None:
    provider.reply({"error": {"message": "overloaded", "code": 502}})
    provider.answer("Open it.")
    assert text_of(read(model_at(provider))) == "Open it."


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "overloaded"}},
        b'event: error\ndata: {"error": "overloaded"}\n\n',
        {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
        b"data: {broken\n\n",
    ],
)
def test_an_error_within_the_answer_ends_it(provider: ScriptedProvider, chunk: Any) -> None:
    provider.reply(say("Open "), chunk)
    error = error_of(model_at(provider))
    assert (error.code, error.retryable) == ("unavailable", True)


def test_an_error_after_the_finish_reason_changes_nothing(provider: ScriptedProvider) -> None:
    provider.reply(say("Open it."), finish(), {"error": {"message": "too late"}}, DONE)
    assert text_of(read(model_at(provider))) == "Open it."


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "message": "filtered"},
        {"message": "The response was filtered due to Azure's content management policy."},
    ],
)
def test_a_filtered_question_is_told_apart(provider: ScriptedProvider, error: Any) -> None:
    provider.refuse(400, error)
    assert error_of(model_at(provider)).code == "content_filter"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "context_length_exceeded", "message": "too long, max_tokens counts"}),
        (400, {"message": "This model's maximum context length is 4096 tokens."}),
        (413, {"message": "request too large"}),
        (500, "the request exceeds the available context size"),
    ],
)
def test_a_history_that_is_too_long_is_told_apart(
    provider: ScriptedProvider, status: int, error: Any
) -> None:
    provider.refuse(status, error)
    found = error_of(model_at(provider))
    assert (found.code, found.retryable) == ("context_length", False)


def test_nobody_at_the_address_is_unavailable() -> None:
    model = OpenAIModel(name="scripted", base_url="http://127.0.0.1:9/v1", patience=IMPATIENT)
    error = error_of(model)
    assert (error.code, error.detail) == ("unavailable", "ConnectionRefusedError")


def test_an_event_without_end_is_given_up(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.providers.sse.MAX_EVENT_BYTES", 1000)
    provider.reply(b"data: " + b"x" * 2000, Endless())
    error = error_of(model_at(provider))
    assert (error.code, error.retryable) == ("unavailable", False)


def test_a_whole_answer_without_end_is_given_up(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.providers.sse.MAX_EVENT_BYTES", 1000)
    provider.reply(b" " * 2000, Endless(), Content_Type="application/json")
    assert error_of(model_at(provider)).code == "unavailable"


def test_logs_name_the_failure_and_neither_key_nor_words(
    provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.refuse(401, {"message": "Incorrect key sk-secret", "code": "invalid_api_key"})
    with caplog.at_level(logging.DEBUG, "assistant"):
        error_of(model_at(provider))
    [record] = [record for record in caplog.records if record.name.startswith("assistant")]
    assert record.getMessage() == "provider_failed"
    logged = repr(vars(record))
    assert "invalid_api_key" in logged
    assert "sk-secret" not in logged
    assert "export" not in logged


# What an endpoint refuses


@pytest.mark.field_report("B63")
def test_a_refused_parameter_is_left_out_from_then_on(provider: ScriptedProvider) -> None:
    provider.refuse(
        400,
        {
            "message": "Unsupported parameter: use 'max_completion_tokens' instead.",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        },
    )
    provider.refuse(400, {"message": "'temperature' does not support 0.2 with this model"})
    provider.refuse(422, '{"detail": [{"loc": ["body", "stream_options"], "msg": "extra"}]}')
    provider.answer("Open it.")
    provider.answer("Open it again.")
    model = model_at(provider)
    assert text_of(read(model)) == "Open it."
    assert text_of(read(model)) == "Open it again."
    for request in provider.requests[3:]:
        assert "max_completion_tokens" in request.body
        assert not {"max_tokens", "temperature", "stream_options"} & request.body.keys()


def test_a_parameter_that_is_refused_under_both_names_goes(provider: ScriptedProvider) -> None:
    provider.refuse(400, {"message": "no", "param": "max_tokens"})
    provider.refuse(400, {"message": "no", "param": "max_completion_tokens"})
    provider.answer("Open it.")
    read(model_at(provider))
    assert not {"max_tokens", "max_completion_tokens"} & provider.requests[2].body.keys()


def test_a_parameter_that_was_not_sent_cannot_be_left_out(provider: ScriptedProvider) -> None:
    provider.refuse(400, {"message": "no", "param": "max_completion_tokens"})
    assert error_of(model_at(provider)).code == "refused"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}),
        (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice to be set'}),
        (404, {"message": "No endpoints found that support tool use."}),
        (400, {"message": "Tools are not supported for this model"}),
        (400, {"message": "This model doesn't support function calling"}),
    ],
)
def test_a_model_without_tools_is_told_apart(
    provider: ScriptedProvider, status: int, error: Any
) -> None:
    provider.refuse(status, error)
    assert isinstance(error_of(model_at(provider)), ToolsRefusedError)


# Stopping


async def first_word(stream: AsyncIterator[ModelEvent]) -> str:
    return text_of([await anext(stream)])


def test_closing_the_stream_closes_the_socket_at_once(provider: ScriptedProvider) -> None:
    provider.reply(say("Open "), Endless())

    @async_to_sync
    async def stop_after_a_word() -> None:
        async with aclosing(model_at(provider).stream(QUESTION, ())) as stream:
            assert await first_word(stream) == "Open "
        assert await asyncio.to_thread(provider.requests[0].closed_by_client.wait, 5)

    stop_after_a_word()


def test_closing_the_stream_stops_the_provider_that_goes_on_sending(
    provider: ScriptedProvider,
) -> None:
    provider.reply(Endless(say("word ")))

    @async_to_sync
    async def stop_after_a_word() -> None:
        async with aclosing(model_at(provider).stream(QUESTION, ())) as stream:
            assert (await first_word(stream)).startswith("word ")
        assert await asyncio.to_thread(provider.requests[0].closed_by_client.wait, 5)

    stop_after_a_word()


@pytest.mark.parametrize("begun", [True, False])
def test_cancelling_the_task_closes_the_socket_at_once(
    provider: ScriptedProvider, begun: bool
) -> None:
    provider.reply(*([say("Open ")] if begun else []), Endless())
    model = model_at(provider)

    @async_to_sync
    async def cancel() -> None:
        started = asyncio.Event()

        async def turn() -> None:
            async with aclosing(model.stream(QUESTION, ())) as stream:
                async for _ in stream:
                    started.set()

        task = asyncio.ensure_future(turn())
        if begun:
            await started.wait()
        else:
            await asyncio.to_thread(_until, lambda: bool(provider.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(provider.requests[0].closed_by_client.wait, 5)

    cancel()


def test_a_response_that_stays_open_after_its_end_is_cut(provider: ScriptedProvider) -> None:
    provider.reply(say("Hi"), finish(), DONE, Endless())
    assert text_of(read(model_at(provider))) == "Hi"
    assert provider.requests[0].closed_by_client.wait(5)


def test_usage_that_never_comes_is_not_waited_for(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.providers.openai.TRAILER_SECONDS", 0.05)
    provider.reply(say("Hi"), finish(), Endless())
    assert end_of(read(model_at(provider))).reason == "stop"


def _until(condition: Any) -> None:
    waiting = threading.Event()
    while not condition():
        waiting.wait(0.001)


def test_the_call_type_is_what_the_agent_expects(provider: ScriptedProvider) -> None:
    provider.call("search_articles", {"query": "sso"})
    [asked] = end_of(read(model_at(provider))).calls
    assert asked == ToolCallRequest("a", "search_articles", '{"query": "sso"}')
