"""Everything that providers do wrong, on the wire, and the one right ending of each turn.

A case is a script for the server, and what must be told and stored. The cases of a table run
at the same time, each with a server, a model and a visitor of its own.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from articles.access import ANONYMOUS
from assistant import chat
from assistant.access import Owner
from assistant.models import Answer
from assistant.providers.context import ContextModel
from assistant.providers.openai import OpenAIModel
from assistant.providers.retries import Patience
from assistant.questions import Ask
from assistant.turns.sending import Sender
from tests.chat_clients import follow, in_loop
from tests.scripted_provider import (
    DONE,
    Drop,
    Endless,
    ScriptedProvider,
    Step,
    call,
    finish,
    in_slices,
    part,
    say,
    usage,
)
from tests.search_index import make_indexed
from tests.streams import Event, verified

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = 8
SECRET = "sk-of-this-site"
Script = Callable[[ScriptedProvider], None]


@dataclass(frozen=True)
class Case:
    """`requests`: how many the provider gets. `ends`: status, and error or reason of a cut.
    `at`: the endpoint's address, where it is not the server's own."""

    name: str
    script: Script
    ends: tuple[str, str]
    text: str = ""
    requests: int = 1
    at: Callable[[ScriptedProvider], str] = lambda provider: provider.url
    self_signed: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    events: list[Event]
    answer: Answer
    provider: ScriptedProvider
    left: str

    @property
    def end(self) -> Event:
        return self.events[-1]


def play(cases: Sequence[Case]) -> dict[str, Outcome]:
    """Each case's turn. `left`: what of its script was not followed."""
    outcomes: dict[str, Outcome] = {}
    models = []  # kept until the loop ends, which closes their connections

    async def body() -> None:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(case: Case) -> None:
            left = ""
            async with room:
                try:
                    with ScriptedProvider(self_signed=case.self_signed) as provider:
                        case.script(provider)
                        models.append(_model(case, provider))
                        answer, events = await _turn(models[-1])
                except AssertionError as unfollowed:
                    left = str(unfollowed)
            outcomes[case.name] = Outcome(verified(events), answer, provider, left)

        async with asyncio.TaskGroup() as tasks:
            for case in cases:
                tasks.create_task(one(case))

    in_loop(body)
    for outcome in outcomes.values():
        outcome.answer.refresh_from_db()
    return outcomes


async def _turn(model: ContextModel) -> tuple[Answer, list[Event]]:
    opened = await chat.ask(_visitor(), Ask("How do I export?"), model)
    answer = Answer(pk=opened.answer_id, conversation_id=opened.conversation_id)
    return answer, await asyncio.wait_for(follow(answer), 20)


def _visitor() -> Sender:
    return Sender(Owner(visitor_id=uuid.uuid4()), ANONYMOUS, f"192.0.2.{uuid.uuid4()}", "en")


def _model(case: Case, provider: ScriptedProvider) -> ContextModel:
    options = {"first_token_seconds": 5.0, "patience": Patience(first_wait=0.001), **case.options}
    model = OpenAIModel(name="scripted", api_key=SECRET, base_url=case.at(provider), **options)
    return ContextModel(model)


def check(case: Case, outcome: Outcome) -> None:
    """What is told is what is stored, it ends as it must, and says nothing of why."""
    answer, end = outcome.answer, outcome.end
    assert not outcome.left
    status, why = case.ends
    assert (answer.status, answer.truncated_by or answer.error_code) == (status, why)
    assert answer.text == end["text"]
    if case.text:
        assert end["text"] == case.text
    assert len(outcome.provider.requests) == case.requests
    if status == "failed":
        assert (end["type"], end["code"]) == ("error", "unavailable")
        assert answer.grounding == "unavailable"
    else:
        assert (end["type"], end["status"]) == ("done", status)
    told = json.dumps(outcome.events)
    for hidden in (SECRET, "secret", "Traceback", "127.0.0.1", "<html>"):
        assert hidden not in told
        assert hidden not in answer.text + answer.model_text


def play_and_check(cases: Sequence[Case], subtests: pytest.Subtests) -> dict[str, Outcome]:
    assert len({case.name for case in cases}) == len(cases)
    outcomes = play(cases)
    for case in cases:
        with subtests.test(case.name):
            check(case, outcomes[case.name])
    return outcomes


# How scripts are written


def refusals(status: int, error: object = None, *, times: int = 1, **headers: str) -> Script:
    def script(provider: ScriptedProvider) -> None:
        for _ in range(times):
            provider.refuse(status, error or {"message": f"secret {SECRET}"}, **headers)

    return script


def replies(*steps: Step, times: int = 1, **headers: str) -> Script:
    def script(provider: ScriptedProvider) -> None:
        for _ in range(times):
            provider.reply(*steps, status=200, **headers)

    return script


def then(*scripts: Script) -> Script:
    def script(provider: ScriptedProvider) -> None:
        for each in scripts:
            each(provider)

    return script


def answers(text: str) -> Script:
    return lambda provider: provider.answer(text)


def nothing(provider: ScriptedProvider) -> None:
    """Nobody asks this server."""


def lines(*chunks: Any, end: str = "\n", between: str = "") -> bytes:
    texts = [f"data: {json.dumps(chunk)}" for chunk in chunks]
    return "".join(f"{text}{end}{between}{end}" for text in texts).encode()


UNAVAILABLE = ("failed", "unavailable")
MISCONFIGURED = ("failed", "misconfigured")
COMPLETED = ("completed", "")
HTML = "<html><body>secret 502 Bad Gateway</body></html>"


BEFORE = [
    Case("nobody listens", nothing, UNAVAILABLE, requests=0, at=lambda _: "http://127.0.0.1:9/v1"),
    Case("no such host", nothing, UNAVAILABLE, requests=0, at=lambda _: "http://x.invalid/v1"),
    Case(
        "no TLS behind https",
        nothing,
        UNAVAILABLE,
        requests=0,
        at=lambda provider: provider.url.replace("http:", "https:"),
    ),
    Case(
        "a certificate that nobody vouches for", nothing, UNAVAILABLE, requests=0, self_signed=True
    ),
    *(
        Case(f"{status}", refusals(status), ends)
        for status, ends in {
            400: ("failed", "refused"),
            401: MISCONFIGURED,
            403: MISCONFIGURED,
            404: MISCONFIGURED,
            422: ("failed", "refused"),
        }.items()
    ),
    *(
        Case(f"{status}", refusals(status, times=3), UNAVAILABLE, requests=3)
        for status in (408, 409, 500, 503)
    ),
    Case("429", refusals(429, times=3), ("failed", "rate_limited"), requests=3),
    Case(
        "429 for a moment",
        then(refusals(429, retry_after="0"), answers("Yes.")),
        COMPLETED,
        "Yes.",
        requests=2,
    ),
    Case("429 for an hour", refusals(429, retry_after="3600"), ("failed", "rate_limited")),
    Case("502 with a page", refusals(502, HTML, times=3), UNAVAILABLE, requests=3),
    Case(
        "an error as JSON under 200",
        replies(b'{"error": {"message": "secret"}}', times=3, Content_Type="application/json"),
        UNAVAILABLE,
        requests=3,
    ),
    Case(
        "a page under 200",
        replies(HTML.encode(), times=3, Content_Type="text/html"),
        UNAVAILABLE,
        requests=3,
    ),
    Case("nothing under 200", replies(times=3), UNAVAILABLE, requests=3),
    Case("a reset after the headers", replies(Drop(), times=3), UNAVAILABLE, requests=3),
    Case(
        "a stream by another name",
        replies(say("Yes."), finish(), usage(), DONE, Content_Type="text/plain"),
        COMPLETED,
        "Yes.",
    ),
    Case(
        "headers and then silence",
        replies(Endless()),
        ("failed", "timeout"),
        options={"first_token_seconds": 1.5},
    ),
    Case(
        "comments and then nothing else",
        replies(b": waiting\n\n", Endless()),
        ("failed", "timeout"),
        options={"first_token_seconds": 1.5},
    ),
    Case(
        "twice down, then there",
        then(refusals(500), replies(Drop()), answers("Yes.")),
        COMPLETED,
        "Yes.",
        requests=3,
    ),
]


def test_before_the_first_word(subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture) -> None:
    outcomes = play_and_check(BEFORE, subtests)
    for name in ("no TLS behind https", "a certificate that nobody vouches for"):
        assert outcomes[name].provider.connections == 3, name
    logged = [getattr(record, "detail", "") for record in caplog.records]
    assert "SSLCertVerificationError" in logged, "the operator is told why"
    for name in ("400", "401", "403", "404", "422"):
        assert outcomes[name].end["retryable"] is False, name
    for name in ("500", "429", "headers and then silence", "nobody listens"):
        assert outcomes[name].end["retryable"] is True, name


OPEN_IT = ("Open ", "it.")
WORDS = (say("Open "), say("it."))
END = (finish(), usage(), DONE)


DURING = [
    Case("comments", replies(b": x\n\n", WORDS[0], b": x\n\n", WORDS[1], *END), COMPLETED),
    Case("CRLF", replies(lines(*WORDS, finish(), usage(), end="\r\n"), DONE), COMPLETED),
    Case(
        "data in several lines",
        replies(b'data: {"choices": [{"delta":\ndata: {"content": "Open "}}]}\n\n', WORDS[1], *END),
        COMPLETED,
    ),
    Case("one byte at a time", replies(*in_slices(*WORDS, finish()), DONE), COMPLETED),
    Case(
        "characters split between packets",
        replies(*in_slices(say("Öffne "), say("es: 開く 👩‍🚒."), finish()), DONE),
        COMPLETED,
        "Öffne es: 開く 👩‍🚒.",
    ),
    Case(
        "empty choices and null deltas",
        replies(
            {"choices": []},
            WORDS[0],
            {"choices": [{"delta": None}]},
            {"choices": None},
            say(None),
            WORDS[1],
            *END,
        ),
        COMPLETED,
    ),
    Case("an unknown finish", replies(*WORDS, finish("tired"), usage(), DONE), COMPLETED),
    Case("two finishes", replies(*WORDS, finish(), finish(), usage(), DONE), COMPLETED),
    Case("text after the finish", replies(WORDS[0], finish(), WORDS[1], usage(), DONE), COMPLETED),
    Case("no usage", replies(*WORDS, finish(), DONE), COMPLETED),
    Case("usage twice", replies(*WORDS, finish(), usage(7, 2), usage(9, 3), DONE), COMPLETED),
    Case("no [DONE]", replies(*WORDS, finish(), usage()), COMPLETED),
]
CUT = [
    Case(
        "an error event",
        replies(WORDS[0], {"error": {"message": "secret", "code": 500}}),
        UNAVAILABLE,
    ),
    Case("a reset", replies(WORDS[0], Drop()), UNAVAILABLE),
    Case("no finish reason", replies(WORDS[0], DONE), UNAVAILABLE),
    Case("no finish reason and no [DONE]", replies(WORDS[0]), UNAVAILABLE),
    Case("broken JSON", replies(WORDS[0], b"data: {broken\n\n"), UNAVAILABLE),
    Case("length", replies(WORDS[0], finish("length"), usage(), DONE), ("truncated", "length")),
    Case(
        "a filter",
        replies(WORDS[0], finish("content_filter"), usage(), DONE),
        ("truncated", "content_filter"),
    ),
]


def test_within_the_answer(subtests: pytest.Subtests) -> None:
    outcomes = play_and_check([*DURING, *CUT], subtests)
    for case in DURING:
        assert outcomes[case.name].end["text"] == (case.text or "Open it."), case.name
    for case in CUT:
        assert outcomes[case.name].end["text"].strip() == "Open", case.name
    usage_of = {name: outcome.answer for name, outcome in outcomes.items()}
    assert usage_of["usage twice"].prompt_tokens == 9
    assert usage_of["usage twice"].usage_estimated is False
    assert usage_of["no usage"].usage_estimated is True
    assert usage_of["no usage"].completion_tokens > 0


ENDLESS = [
    Case("a stall", replies(say("Open "), Endless()), ("failed", "timeout")),
    Case("a drip of words", replies(say("Open "), Endless(say("."))), ("failed", "timeout")),
    Case("a drip of nothing", replies(say("Open "), Endless(say(""))), ("failed", "timeout")),
    Case(
        "thinking for ever",
        replies(Endless(say(None, reasoning_content="secret"))),
        ("failed", "timeout"),
    ),
]


def test_what_never_ends_is_ended_by_the_turns_limit(
    subtests: pytest.Subtests, settings: Any
) -> None:
    settings.ASSISTANT_TURN_SECONDS = 1
    outcomes = play_and_check(ENDLESS, subtests)
    for outcome in outcomes.values():
        assert outcome.provider.requests[0].closed_by_client.wait(5)
    assert outcomes["a stall"].end["text"].strip() == "Open"


def test_a_chunk_of_a_megabyte_and_words_without_end_are_cut(subtests: pytest.Subtests) -> None:
    cases = [
        Case(
            "a megabyte",
            replies(say("word " * 200_000), Endless()),
            ("truncated", "length"),
        ),
        Case(
            "a flood",
            replies(*[say("word " * 200)] * 100, Endless(say("word " * 200))),
            ("truncated", "length"),
        ),
        Case(
            "a megabyte of thoughts",
            replies(say(None, reasoning_content="secret " * 150_000), *WORDS, *END),
            COMPLETED,
            "Open it.",
        ),
    ]
    outcomes = play_and_check(cases, subtests)
    for name in ("a megabyte", "a flood"):
        assert 90_000 < len(outcomes[name].end["text"]) <= 100_000
        assert outcomes[name].provider.requests[0].closed_by_client.wait(5)


# Tool calls

TO_SEARCH = '{"query": "export"}'
FINISH_CALLS = (finish("tool_calls"), usage(), DONE)


def fn(name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def round_of(*chunks: Any) -> Script:
    return replies(*chunks, *FINISH_CALLS)


def asked_then_answered(name: str, *chunks: Any) -> Case:
    """A round of calls, then an answer."""
    return Case(name, then(round_of(*chunks), answers("Choose CSV [1].")), COMPLETED, requests=2)


RUN = [
    asked_then_answered(
        "no index",
        part(id="a", function=fn("search_articles", '{"query": ')),
        part(id="a", function=fn(None, '"export"}')),
        part(id="b", function=fn("list_categories", "{}")),
    ),
    asked_then_answered(
        "no id",
        part(index=0, function=fn("search_articles", TO_SEARCH)),
        part(index=1, function=fn("list_categories", "{}")),
    ),
    asked_then_answered(
        "neither index nor id",
        part(function=fn("search_articles", '{"query": ')),
        part(function=fn(None, '"export"}')),
        part(function=fn("list_categories", "{}")),
    ),
    asked_then_answered(
        "taking turns",
        part(index=0, id="a", function=fn("search_articles")),
        part(index=1, id="b", function=fn("list_categories")),
        part(index=0, function=fn(None, '{"query": "exp')),
        part(index=1, function=fn(None, "{}")),
        part(index=0, function=fn(None, 'ort"}')),
    ),
    asked_then_answered(
        "two ids under one index",
        part(index=0, id="a", function=fn("search_articles", TO_SEARCH)),
        part(index=0, id="b", function=fn("list_categories", "{}")),
    ),
    asked_then_answered(
        "arguments as objects",
        part(index=0, id="a", function=fn("search_articles", {"query": "export"})),
        part(index=1, id="b", function=fn("list_categories", {})),
    ),
]
WRITTEN = [
    Case(
        name,
        then(replies(say(text), finish(), usage(), DONE), answers("Choose CSV [1].")),
        COMPLETED,
        "Choose CSV [1].",
        requests=2,
    )
    for name, text in {
        "a call in tags": '<tool_call>\n{"name": "search_articles", "arguments": %s}\n</tool_call>',
        "a call in tags, unclosed": '<tool_call>{"name": "search_articles", "arguments": %s}',
        "a call in brackets": '[TOOL_CALLS] [{"name": "search_articles", "arguments": %s}]',
        "a call behind a special token": (
            '<|python_tag|>{"name": "search_articles", "parameters": %s}'
        ),
        "a call and nothing else": '{"name": "search_articles", "parameters": %s}',
        "a call in a fence": '```json\n{"name": "search_articles", "arguments": %s}\n```',
    }.items()
    for text in [text % TO_SEARCH]
]
ERRING = [
    asked_then_answered(f"arguments {arguments}", call("search_articles", arguments))
    for arguments in (
        "",
        '{"query": "how do I res',
        "{query: refund,}",
        "[1]",
        "7",
        "null",
        '{"query": 7}',
        '{"query": ["export"]}',
        '{"wrong": "field"}',
    )
] + [
    asked_then_answered(f"the tool “{name}”", call(name, TO_SEARCH))
    for name in ("search_knowledgebase_v2", "multi_tool_use.parallel", "")
]


@pytest.mark.field_report("B52")
def test_calls_are_run_however_they_are_sent(subtests: pytest.Subtests) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    outcomes = play_and_check([*RUN, *WRITTEN], subtests)
    for case in RUN:
        with subtests.test(f"{case.name}: both ran"):
            ran = list(outcomes[case.name].answer.tool_calls.values_list("name", "error"))
            assert ran == [("search_articles", ""), ("list_categories", "")]
    for case in WRITTEN:
        with subtests.test(f"{case.name}: it ran, and nobody saw it"):
            outcome = outcomes[case.name]
            [one] = outcome.answer.tool_calls.all()
            assert (one.name, json.loads(one.arguments)) == ("search_articles", {"query": "export"})
            assert [source["number"] for source in outcome.end["sources"]] == [1]


@pytest.mark.field_report("B54", "B55", "B57")
def test_calls_that_make_no_sense_are_answered_with_an_error(subtests: pytest.Subtests) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    outcomes = play_and_check(ERRING, subtests)
    for case in ERRING:
        with subtests.test(f"{case.name}: the model is told, the visitor is not"):
            outcome = outcomes[case.name]
            [ran] = outcome.answer.tool_calls.all()
            assert ran.error
            *_, asked, result = outcome.provider.requests[1].body["messages"]
            assert result["tool_call_id"] == asked["tool_calls"][0]["id"]
            assert "error" in json.loads(result["content"])
            json.loads(asked["tool_calls"][0]["function"]["arguments"])
            assert outcome.end["sources"] == []
            assert "Choose CSV" in outcome.end["text"]


@pytest.mark.field_report("B59")
def test_calls_without_end_are_bounded(subtests: pytest.Subtests) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    hundred = [
        part(index=number, id=f"c{number}", function=fn("list_categories", "{}"))
        for number in range(100)
    ]
    same = then(*[round_of(call("search_articles", TO_SEARCH))] * 7)
    cases = [
        asked_then_answered("a hundred at once", *hundred),
        Case("the same one for ever", same, ("truncated", "tool_rounds"), requests=7),
    ]
    outcomes = play_and_check(cases, subtests)
    calls = outcomes["a hundred at once"].answer.tool_calls
    assert (calls.count(), calls.filter(error="").count()) == (32, 8)
    messages = outcomes["a hundred at once"].provider.requests[1].body["messages"]
    assert sum(message["role"] == "tool" for message in messages) == 32, "each call has a result"
    for_ever = outcomes["the same one for ever"]
    assert ["tools" in sent.body for sent in for_ever.provider.requests] == [True] * 6 + [False]
    assert "could not find" in for_ever.end["text"]


# Reasoning

THOUGHT = "<think>secret [1] \n</think>\n\nChoose CSV [1]."
REASONED = [
    ("its own field", (say(None, reasoning_content="secret [1]"), say("Choose CSV [1]."))),
    ("another field", (say("", reasoning="secret [1]"), say("Choose CSV [1]."))),
    ("tags", (say(THOUGHT),)),
    *(
        (f"tags in pieces of {size}", tuple(map(say, pieces)))
        for size in (1, 2, 5)
        for pieces in [[THOUGHT[at : at + size] for at in range(0, len(THOUGHT), size)]]
    ),
    ("tags that never close", (say("Choose CSV [1]."), say("<think>secret [1]"))),
]


def test_reasoning_is_neither_shown_nor_stored_nor_cited(subtests: pytest.Subtests) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")
    search = round_of(call("search_articles", TO_SEARCH))
    cases = [
        Case(name, then(search, replies(*chunks, *END)), COMPLETED, "Choose CSV [1].", requests=2)
        for name, chunks in REASONED
    ]
    only = [
        Case(
            f"nothing but {name}",
            then(search, replies(chunk, *END)),
            UNAVAILABLE,
            requests=2,
        )
        for name, chunk in {
            "reasoning": say(None, reasoning_content="secret [1]"),
            "an open tag": say("<think>secret [1]"),
        }.items()
    ]
    outcomes = play_and_check([*cases, *only], subtests)
    for case in only:
        answer = outcomes[case.name].answer
        assert (answer.text, answer.model_text) == ("", "")
        assert not answer.documents.filter(consulted=True).exists()


# What a model does not take


@pytest.mark.field_report("B63")
@pytest.mark.parametrize(
    ("refused", "gone", "instead"),
    [
        ({"param": "max_tokens", "message": "no"}, "max_tokens", "max_completion_tokens"),
        ({"message": "'temperature' does not support 0.2"}, "temperature", ""),
        ({"message": "Unknown parameter: stream_options"}, "stream_options", ""),
        ({"message": "this model does not support tools"}, "tools", ""),
    ],
)
def test_what_a_model_refuses_is_left_out_once_and_for_all(
    refused: Any,
    gone: str,
    instead: str,
    provider: ScriptedProvider,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="assistant")
    provider.refuse(400, refused)
    provider.answer("Hello.")
    provider.answer("Hello again.")

    async def body() -> None:
        for _ in range(2):
            opened = await chat.ask(_visitor(), Ask("Hi"))
            await chat.wait(opened.answer_id)

    in_loop(body)
    assert [gone in sent.body for sent in provider.requests] == [True, False, False]
    assert not instead or all(instead in sent.body for sent in provider.requests[1:])
    assert set(Answer.objects.values_list("status", flat=True)) == {"completed"}
    told = ("provider_parameter_left_out", "provider_has_no_tools")
    logged = [record for record in caplog.records if record.getMessage() in told]
    assert [getattr(record, "parameter", "tools") for record in logged] == [gone]
    assert [getattr(record, "model", "") for record in logged] == ["scripted"]
