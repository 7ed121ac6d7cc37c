"""The loop of a turn: what it yields, what it bounds, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from assistant.agent import (
    Finished,
    Limits,
    Outcome,
    Progress,
    ProviderError,
    TextDelta,
    ToolCallRequest,
    ToolOutcome,
    ToolSpec,
    TurnEvent,
    Usage,
    run,
)
from assistant.citations import CitationWriter
from assistant.events import Delta, References, SourceAdded, SourceEntry, Tool
from assistant.provenance import Document, Exposure, Ledger, Source
from tests.scripted_model import Round, ScriptedModel, call, calls, says

QUESTION = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "How?"}]
SSO = Document("7", "Set up SSO", "/articles/sso/")
ROLES = Document("8", "Roles", "/articles/roles/")
APOLOGY = {"tool_rounds": "Nothing was found.", "length": "Cut.", "content_filter": "Filtered."}


@dataclass
class FakeToolbox:
    """Tools that expose one article. `fail` and `wait` change what a call does."""

    ledger: Ledger
    called: list[str] = field(default_factory=list)
    wait: Callable[[], Coroutine[Any, Any, None]] | None = None
    specs: Sequence[ToolSpec] = (ToolSpec("search", "", {}), ToolSpec("open", "", {}))

    def label(self, request: ToolCallRequest) -> str:
        return f"{request.name}…"

    async def call(self, request: ToolCallRequest) -> ToolOutcome:
        self.called.append(request.name)
        if self.wait:
            await self.wait()
        if request.name == "open":
            ref = self.ledger.expose(SSO, Exposure.FULL, text="Open Security.")
            return ToolOutcome(json.dumps({"ref": ref}), "opened", count=1)
        if request.name == "search":
            self.ledger.expose(SSO, Exposure.EXCERPT, text="Open Security.")
            return ToolOutcome("{}", "searched", count=1)
        if request.name == "list":
            self.ledger.expose(SSO, Exposure.TITLE)
            self.ledger.expose(ROLES, Exposure.EXCERPT, text="Roles.")
            return ToolOutcome("{}", "listed", count=2)
        if request.name == "decline":
            return ToolOutcome("{}", "declined", declined="not_in_docs")
        return ToolOutcome('{"error": "no"}', "failed", error="no")


@dataclass
class Turn:
    """One turn with a scripted model, and what came of it."""

    model: ScriptedModel
    limits: Limits = field(default_factory=Limits)
    messages: list[dict[str, Any]] = field(default_factory=lambda: [*QUESTION])
    show_uncited: bool = False
    now: Callable[[], float] = lambda: 0.0
    progress: Progress = field(default_factory=Progress)
    events: list[TurnEvent] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(show_uncited=self.show_uncited)
        self.writer = CitationWriter(self.ledger)
        self.toolbox = FakeToolbox(self.ledger)

    def start(self) -> Any:
        return run(
            messages=self.messages,
            model=self.model,
            toolbox=self.toolbox,
            ledger=self.ledger,
            writer=self.writer,
            describe=describe,
            references=self.references,
            limits=self.limits,
            without_answer=APOLOGY,  # type: ignore[arg-type]
            progress=self.progress,
            clock=self.now,
        )

    async def read(self) -> None:
        async with aclosing(self.start()) as events:
            async for event in events:
                (self.outcomes if isinstance(event, Outcome) else self.events).append(event)

    def run(self) -> Turn:
        asyncio.run(self.read())
        self.model.assert_finished()
        return self

    def references(self) -> tuple[SourceEntry, ...]:
        return tuple(
            SourceEntry(entry.document.id, "", entry.document.title, None, None, None, entry.via)
            for entry in self.ledger.entries()
        )

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Delta))

    @property
    def outcome(self) -> Outcome:
        [outcome] = self.outcomes
        return outcome

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def describe(source: Source) -> SourceEntry:
    return SourceEntry(
        source.document.id,
        "",
        source.document.title,
        source.document.url,
        source.number,
        source.consulted,
        source.via,
    )


# The course of a turn


def test_an_answer_without_tools_is_its_text_and_its_outcome() -> None:
    turn = Turn(ScriptedModel(says("Hel", "lo."))).run()
    assert turn.events == [Delta("Hel"), Delta("lo.")]
    assert turn.outcome == Outcome("completed", None, "Hello.", (), Usage(10, 2, 3), "")


def test_a_call_is_told_twice_then_its_references_then_its_source() -> None:
    turn = Turn(ScriptedModel(calls(call("open", "a")), says("Open Security [1]."))).run()
    assert turn.events[:2] == [
        Tool("a", "open", "open…", "running"),
        Tool("a", "open", "opened", "finished", 1),
    ]
    assert isinstance(turn.events[2], References)
    assert turn.events[2].references[0].title == "Set up SSO"
    assert isinstance(turn.events[3], SourceAdded)
    assert turn.events[3].source.number is None
    assert turn.text == "Open Security [1]."


def test_a_source_is_told_again_when_it_gets_its_number_before_the_text_that_cites_it() -> None:
    turn = Turn(ScriptedModel(calls(call("open")), says("Open it [1]. ", "Again [1]."))).run()
    told = turn.of(SourceAdded)
    assert [event.source.number for event in told] == [None, 1]
    assert turn.events.index(told[1]) < turn.events.index(turn.of(Delta)[0])


def test_an_excerpt_is_a_source_from_its_first_citation() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Open it [1].", " Yes [1]."))).run()
    assert [event.source.number for event in turn.of(SourceAdded)] == [1]


def test_an_excerpt_that_is_not_cited_is_none() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Open it."))).run()
    assert turn.of(SourceAdded) == []


def test_a_source_is_told_once_and_a_title_that_is_linked_is_none() -> None:
    words = says("We have [1]. ", "See [2]. ", "And [SSO](/articles/sso/#x).")
    rounds = [calls(call("list")), calls(call("open")), words]
    told = Turn(ScriptedModel(calls(call("list")), words)).run().of(SourceAdded)
    assert [(event.source.id, event.source.number) for event in told] == [("8", 1)]
    told = Turn(ScriptedModel(*rounds)).run().of(SourceAdded)
    assert [(event.source.id, event.source.number) for event in told] == [
        ("7", None),
        ("7", 1),
        ("8", 2),
    ]


def test_what_was_searched_and_not_cited_is_not_told_as_a_source_on_the_way() -> None:
    """Whether context mode shows it is known at the end, with the verdict."""
    model = ScriptedModel(calls(call("search")), says("Open it."))
    turn = Turn(model, show_uncited=True).run()
    assert turn.of(SourceAdded) == []
    assert turn.text == "Open it."
    assert [source.number for source in turn.ledger.sources()] == [None]


def test_the_history_holds_the_calls_with_valid_json_usable_names_and_their_results() -> None:
    broken = ToolCallRequest("b", "multi_tool_use.parallel", '{"query": "how do I res')
    first = ToolCallRequest("a", "search", '{"query": "sso"}')
    nameless = ToolCallRequest("c", "", "[1]")
    turn = Turn(ScriptedModel(calls(first, broken, nameless, text="Wait. "), says("Done."))).run()
    sent, _tools = turn.model.requests[1]
    assert sent[:2] == QUESTION
    assert sent[2]["content"] == "Wait. "
    assert [asked["function"] for asked in sent[2]["tool_calls"]] == [
        {"name": "search", "arguments": '{"query": "sso"}'},
        {"name": "multi_tool_use_parallel", "arguments": "{}"},
        {"name": "unknown", "arguments": "{}"},
    ]
    assert [message["tool_call_id"] for message in sent[3:]] == ["a", "b", "c"]
    assert all(message["role"] == "tool" for message in sent[3:])


def test_the_record_keeps_what_the_model_wrote() -> None:
    broken = ToolCallRequest("b", "odd.name", "{broken")
    ticks = iter(range(100))
    turn = Turn(
        ScriptedModel(calls(call("search", "a")), calls(broken), says("Done.")),
        now=lambda: next(ticks) * 1.25,
    ).run()
    first, second = turn.outcome.calls
    assert (first.duration_ms, second.duration_ms) == (1250, 1250)
    assert (first.after_ms, second.after_ms) == (2500, 6250)
    assert (first.position, first.round, first.name, first.count) == (0, 1, "search", 1)
    assert (second.position, second.round, second.error) == (1, 2, "no")
    assert (second.name, second.arguments, second.result) == (
        "odd.name",
        "{broken",
        '{"error": "no"}',
    )


def test_a_failed_call_is_told_as_failed_and_the_turn_goes_on() -> None:
    turn = Turn(ScriptedModel(calls(call("nonsense", "a")), says("Done."))).run()
    assert [event.state for event in turn.of(Tool)] == ["running", "failed"]
    assert turn.text == "Done."


def test_calls_without_an_id_or_with_a_used_one_get_their_own() -> None:
    taken = call("search", "call00002")
    rounds = [
        calls(call("search", "a"), taken),
        calls(call("search", "a"), call("search")),
        calls(call("search", "x" * 65), call("search", "y" * 64)),
        says("Done."),
    ]
    turn = Turn(ScriptedModel(*rounds)).run()
    ids = [record.call_id for record in turn.outcome.calls]
    assert ids[:2] == ["a", "call00002"]
    assert ids[-1] == "y" * 64
    assert len(set(ids)) == 6
    assert all(0 < len(call_id) <= 64 for call_id in ids)


def test_an_id_that_the_history_has_is_given_to_no_other_call() -> None:
    earlier = {"role": "assistant", "tool_calls": [{"id": "a"}]}
    model = ScriptedModel(calls(call("search", "a")), says("Done."))
    turn = Turn(model, messages=[*QUESTION, earlier]).run()
    assert turn.outcome.calls[0].call_id != "a"


def test_a_reason_given_to_decline_is_kept() -> None:
    rounds = [calls(call("decline")), calls(call("open")), says("I could not find it.")]
    assert Turn(ScriptedModel(*rounds)).run().outcome.declined == "not_in_docs"


def test_texts_of_rounds_stand_in_paragraphs_of_their_own() -> None:
    rounds = [calls(call("search"), text="Let me look."), says("\n", " \nOpen", " it.")]
    turn = Turn(ScriptedModel(*rounds)).run()
    assert turn.text == "Let me look.\n\nOpen it."
    assert turn.outcome.model_text == turn.text


def test_white_space_before_the_first_words_of_a_later_round_goes() -> None:
    rounds = [calls(call("search"), text="\n"), calls(call("search"), text=" "), says("\nOpen it.")]
    assert Turn(ScriptedModel(*rounds)).run().text.strip() == "Open it."


def test_white_space_before_the_first_words_of_all_stays() -> None:
    assert Turn(ScriptedModel(says(" \n", "Hi."))).run().outcome.model_text == " \nHi."


def test_usage_adds_up_and_a_missing_one_makes_it_an_estimate() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Done.", usage=None))).run()
    assert turn.outcome.usage == Usage(10, 2, 3, estimated=True)


def test_the_caller_sees_the_progress() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Open", " it."))).run()
    assert "".join(turn.progress.text) == "Open it."
    assert len(turn.progress.calls) == 1


def test_a_turn_may_run_without_anybody_watching_its_progress() -> None:
    turn = Turn(ScriptedModel(says("Hello.")))

    async def read() -> list[TurnEvent | Outcome]:
        running = run(
            messages=QUESTION,
            model=turn.model,
            toolbox=turn.toolbox,
            ledger=turn.ledger,
            writer=turn.writer,
            describe=describe,
            references=turn.references,
            limits=turn.limits,
        )
        async with aclosing(running) as events:
            return [event async for event in events]

    hello, outcome = asyncio.run(read())
    assert hello == Delta("Hello.")
    assert isinstance(outcome, Outcome)
    assert turn.progress == Progress()


# Limits


def test_after_the_last_tool_round_the_model_is_asked_without_tools() -> None:
    rounds = [*[calls(call("search"))] * 2, says("That is all I found [1].")]
    turn = Turn(ScriptedModel(*rounds), Limits(tool_rounds=2)).run()
    assert [tools for _messages, tools in turn.model.requests] == [
        ("search", "open"),
        ("search", "open"),
        (),
    ]
    assert (turn.outcome.finish, turn.outcome.truncated) == ("completed", None)


def test_a_model_that_only_ever_searches_ends_in_words_all_the_same() -> None:
    rounds = [calls(call("search"))] * 3
    turn = Turn(ScriptedModel(*rounds), Limits(tool_rounds=2)).run()
    assert len(turn.toolbox.called) == 2
    assert turn.text == "Nothing was found."
    assert (turn.outcome.finish, turn.outcome.truncated) == ("truncated", "tool_rounds")
    assert turn.outcome.model_text == ""


@pytest.mark.parametrize("text", ["", "I found this. "])
def test_calls_after_the_last_tool_round_end_a_turn_that_is_truncated(text: str) -> None:
    rounds = [calls(call("search")), calls(call("search"), text=text)]
    turn = Turn(ScriptedModel(*rounds), Limits(tool_rounds=1)).run()
    assert len(turn.toolbox.called) == 1
    assert turn.text == (text or "Nothing was found.")
    assert turn.outcome.truncated == "tool_rounds"


def test_a_model_that_says_nothing_after_the_last_tool_round_is_truncated() -> None:
    rounds = [calls(call("search")), says(" ")]
    turn = Turn(ScriptedModel(*rounds), Limits(tool_rounds=1)).run()
    assert turn.text == "Nothing was found."
    assert turn.outcome.truncated == "tool_rounds"


def test_calls_beyond_the_rounds_limit_are_answered_but_not_run() -> None:
    rounds = [calls(*[call("search")] * 4), says("Done.")]
    turn = Turn(ScriptedModel(*rounds), Limits(calls_per_round=2)).run()
    assert len(turn.toolbox.called) == 2
    assert [bool(record.error) for record in turn.outcome.calls] == [False, False, True, True]
    sent, _tools = turn.model.requests[1]
    assert sum(message["role"] == "tool" for message in sent) == 4


@pytest.mark.parametrize(
    ("limits", "now"),
    [
        (Limits(tokens=13), [0.0] * 99),
        (Limits(seconds=60), [0.0, 0.0, *[41.0] * 99]),
        (Limits(seconds=60), [0.0, 0.0, *[40.0] * 99]),
        (Limits(seconds=60), [500.0, 539.0, *[541.0] * 99]),
    ],
)
def test_tokens_and_time_end_the_use_of_tools(limits: Limits, now: list[float]) -> None:
    times = iter(now)
    rounds = [calls(call("search")), says("Done.")]
    turn = Turn(ScriptedModel(*rounds), limits, now=lambda: next(times)).run()
    assert [bool(tools) for _messages, tools in turn.model.requests] == [True, False]


def test_a_turn_that_takes_too_long_fails_and_closes_the_model() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    turn = Turn(ScriptedModel([TextDelta("Open "), forever]), Limits(seconds=0.05))
    with pytest.raises(ProviderError) as caught:
        turn.run()
    assert (caught.value.code, caught.value.retryable) == ("timeout", True)
    assert turn.model.closed == 1
    assert turn.text.strip() == "Open"


def test_a_step_that_takes_a_moment_is_in_time() -> None:
    async def moment() -> None:
        await asyncio.sleep(0)

    turn = Turn(ScriptedModel([moment, *says("Hi.")]), now=lambda: 500.0).run()
    assert turn.text == "Hi."


def test_a_tool_that_takes_too_long_ends_the_turn() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    turn = Turn(ScriptedModel(calls(call("search"))), Limits(seconds=0.05))
    turn.toolbox.wait = forever
    with pytest.raises(ProviderError):
        turn.run()


def test_without_a_toolbox_of_tools_none_are_offered() -> None:
    turn = Turn(ScriptedModel(says("Hello.")))
    turn.toolbox.specs = ()
    turn.run()
    assert turn.model.requests[0][1] == ()


def test_calls_of_tools_that_were_not_offered_are_not_run() -> None:
    turn = Turn(ScriptedModel(calls(call("search"), text="Hello.")))
    turn.toolbox.specs = ()
    turn.run()
    assert turn.toolbox.called == []
    assert (turn.text, turn.outcome.truncated) == ("Hello.", None)


# Ends


def test_an_answer_that_ran_out_of_tokens_is_truncated_and_keeps_its_text() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Open the [1", reason="length"))).run()
    assert turn.text == "Open the "
    assert turn.outcome.truncated == "length"


def test_what_is_half_written_in_a_complete_answer_is_text() -> None:
    assert Turn(ScriptedModel(says("Open the [1"))).run().text == "Open the [1"


def test_reasoning_that_used_up_all_tokens_says_that_no_answer_was_produced() -> None:
    assert Turn(ScriptedModel(says(reason="length"))).run().text == "Cut."


def test_a_text_without_end_is_cut_and_the_models_stream_closed() -> None:
    flood: Round = [TextDelta("word "), TextDelta("word [1"), TextDelta("never read")]
    turn = Turn(ScriptedModel(flood), Limits(characters=8)).run()
    assert turn.text.rstrip() == "word wor"
    assert turn.outcome.truncated == "length"
    assert turn.progress.counted == (0, 0), "its usage is known to nobody"
    assert turn.progress.rounds == 1


def test_a_text_may_have_as_many_characters_as_are_allowed() -> None:
    flood: Round = [TextDelta("1234567"), TextDelta("8"), TextDelta("9")]
    turn = Turn(ScriptedModel(flood), Limits(characters=8)).run()
    assert turn.outcome.model_text == "12345678"


def test_what_was_counted_is_kept_with_the_progress() -> None:
    turn = Turn(ScriptedModel(calls(call("search")), says("Open ", "it."))).run()
    assert (turn.progress.rounds, turn.progress.counted) == (2, (2, 2))


def test_a_filtered_answer_runs_no_calls() -> None:
    filtered: Round = [TextDelta("Op"), Finished("content_filter", (call("open"),))]
    turn = Turn(ScriptedModel(filtered)).run()
    assert turn.toolbox.called == []
    assert turn.outcome.truncated == "content_filter"


@pytest.mark.parametrize("before", [[], [calls(call("search"))]])
def test_a_model_that_writes_nothing_failed(before: list[Round]) -> None:
    turn = Turn(ScriptedModel(*before, says(" ", "\n")))
    with pytest.raises(ProviderError) as caught:
        turn.run()
    assert (caught.value.code, caught.value.retryable) == ("unavailable", True)


def test_a_stream_without_an_end_failed() -> None:
    with pytest.raises(ProviderError) as caught:
        Turn(ScriptedModel([TextDelta("Open ")])).run()
    assert (caught.value.code, caught.value.retryable) == ("unavailable", True)


def test_a_providers_error_passes_through_and_what_was_written_stays() -> None:
    error = ProviderError("rate_limited", "status=429", retryable=True, retry_after=3)
    turn = Turn(ScriptedModel([TextDelta("Open "), error]))
    with pytest.raises(ProviderError) as caught:
        turn.run()
    assert caught.value is error
    assert str(error) == "rate_limited: status=429"
    assert turn.text.strip() == "Open"
    assert turn.outcomes == []


def test_closing_the_turn_closes_the_models_stream_at_once() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def stop_after_a_word(turn: Turn) -> None:
        async with aclosing(turn.start()) as events:
            assert isinstance(await anext(events), Delta)
            assert turn.model.closed == 0
        assert turn.model.closed == 1

    asyncio.run(stop_after_a_word(Turn(ScriptedModel([TextDelta("Open "), forever]))))


def test_cancelling_in_a_tool_call_leaves_no_half_of_it_in_the_record() -> None:
    started = asyncio.Event()

    async def forever() -> None:
        started.set()
        await asyncio.Event().wait()

    async def cancel(turn: Turn) -> None:
        turn.toolbox.wait = forever
        task = asyncio.create_task(turn.read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    turn = Turn(ScriptedModel(calls(call("search"))))
    asyncio.run(cancel(turn))
    assert turn.progress.calls == []
    assert turn.outcomes == []


def test_an_error_without_details_is_its_code() -> None:
    assert str(ProviderError("unavailable")) == "unavailable"
