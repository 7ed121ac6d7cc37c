"""The loop of a turn: model, tools, model … until an answer is written.

Pure: the standard library, and this package's contracts, ledger, writer and events. Models,
tools and time come in from outside, so a turn runs in a test without a network, a database
or a clock.

`run` yields protocol events as they happen and an `Outcome` last. It bounds
rounds, calls, time and tokens, it answers every call (a call without a result
would make the history unusable), and it closes the model's stream at once when
it is closed itself. Errors of the provider and cancellation pass through it:
the door (`assistant.chat`) decides what the visitor is told.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeVar

from assistant.contracts import (
    Finished,
    FinishReason,
    Message,
    Mode,
    Model,
    ModelEvent,
    ProviderError,
    TextDelta,
    Toolbox,
    ToolCallRequest,
    ToolOutcome,
    ToolSpec,
    Truncation,
    Usage,
    call_message,
)
from assistant.deadline import Deadline
from assistant.events import Delta, References, SourceAdded, SourceEntry, Tool

if TYPE_CHECKING:
    from assistant.citations import CitationWriter
    from assistant.provenance import Ledger, Source

    Written = list[Delta | SourceAdded]

__all__ = [
    "CallRecord",
    "FinishReason",
    "Finished",
    "Limits",
    "Message",
    "Mode",
    "Model",
    "ModelEvent",
    "Outcome",
    "Progress",
    "ProviderError",
    "TextDelta",
    "ToolCallRequest",
    "ToolOutcome",
    "ToolSpec",
    "Toolbox",
    "Truncation",
    "Usage",
    "call_message",
    "run",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a turn may use. After `tool_rounds` one round follows without tools.

    `seconds` ends the turn; two thirds of it, or `tokens`, end the use of tools.
    `characters` is the longest text: a model that goes on is cut, as by a limit of its own.
    """

    tool_rounds: int = 6
    calls_per_round: int = 8
    seconds: float = 60.0
    tokens: int = 200_000
    characters: int = 100_000


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call as it is stored: arguments and result word for word. It began `after_ms` of the
    turn."""

    position: int
    round: int
    call_id: str
    name: str
    arguments: str
    result: str
    count: int | None
    error: str
    after_ms: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended that was neither stopped nor failed. `run` yields it last.

    `model_text` is everything the writer was fed: the model's text with its own
    references.
    """

    finish: Literal["completed", "truncated"]
    truncated: Truncation | None
    model_text: str
    calls: tuple[CallRecord, ...]
    usage: Usage
    declined: str


@dataclass(slots=True)
class Progress:
    """What a turn has said, called and used so far: for whoever stops it, or sees it fail.

    `rounds`: how many were begun. `counted`: how many of them, and of the parts of `text`, are
    in `usage`. Of a round that was cut short the model's provider says nothing.
    """

    text: list[str] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    declined: str = ""
    rounds: int = 0
    counted: tuple[int, int] = (0, 0)


T = TypeVar("T")
TurnEvent = Tool | References | Delta | SourceAdded

_SHARE_FOR_TOOLS = 2 / 3
_LONGEST_CALL_ID = 64


async def run(
    *,
    messages: Sequence[Message],
    model: Model,
    toolbox: Toolbox,
    ledger: Ledger,
    writer: CitationWriter,
    describe: Callable[[Source], SourceEntry],
    references: Callable[[], tuple[SourceEntry, ...]],
    limits: Limits,
    without_answer: Mapping[Truncation, str] = MappingProxyType({}),
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[TurnEvent | Outcome, None]:
    """One turn: yields its events, then its `Outcome`.

    `without_answer`: what the visitor reads where the turn was cut before the model
    wrote a word. `progress` is kept up to date for the caller. Raises `ProviderError`;
    what was yielded by then is final, and the caller ends the text with `writer.stop()`.
    """
    feed = _SourceFeed(ledger, describe)
    turn = _Turn(list(messages), writer, feed, limits, clock, progress or Progress())
    try:
        while True:
            tools = turn.begin_round(toolbox.specs)
            async with aclosing(model.stream(turn.messages, tools)) as stream:
                while (text := await turn.next_text(stream)) is not None:
                    for written in turn.write(text):
                        yield written
                    if turn.is_full():
                        break
            if not turn.wants_tools():
                break
            for call in turn.take_calls():
                yield Tool(call.call_id, call.name, toolbox.label(call), "running")
                outcome = await turn.call(toolbox, call)
                state: Literal["failed", "finished"] = "failed" if outcome.error else "finished"
                yield Tool(call.call_id, call.name, outcome.label, state, outcome.count)
                yield References(references())
                for source in turn.sources.fresh():
                    yield source
    finally:
        turn.deadline.cancel()
    for written in turn.close(without_answer):
        yield written
    yield turn.outcome()


@dataclass(slots=True)
class _SourceFeed:
    """Says which sources are new, or were given their number, since it was last asked."""

    ledger: Ledger
    describe: Callable[[Source], SourceEntry]
    told: dict[str, int | None] = field(default_factory=dict)
    changes: int = -1

    def fresh(self) -> list[SourceAdded]:
        if self.changes == self.ledger.changes:
            return []
        self.changes = self.ledger.changes
        fresh = []
        for source in self.ledger.earned():
            told = self.told.get(source.document.id, 0)
            if source.consulted and told != source.number:
                self.told[source.document.id] = source.number
                fresh.append(SourceAdded(self.describe(source)))
        return fresh


@dataclass(slots=True)
class _Turn:
    """The state of a turn."""

    messages: list[Message]
    writer: CitationWriter
    sources: _SourceFeed
    limits: Limits
    clock: Callable[[], float]
    progress: Progress
    started: float = 0.0
    rounds: int = 0
    offered: bool = False
    finished: Finished = field(default_factory=lambda: Finished("stop"))
    round_starts: int = 0
    room: int = 0
    call_ids: set[str] = field(default_factory=set)
    deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.deadline = Deadline(self.limits.seconds)
        self.room = self.limits.characters
        self.call_ids = {
            call["id"] for message in self.messages for call in message.get("tool_calls", ())
        }

    def begin_round(self, specs: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
        """The tools for the next round; none when the turn has used up what it may."""
        self.rounds += 1
        self.progress.rounds = self.rounds
        self.round_starts = len(self.progress.text)
        spent = self.clock() - self.started
        self.offered = bool(specs) and (
            self.rounds <= self.limits.tool_rounds
            and spent < self.limits.seconds * _SHARE_FOR_TOOLS
            and self.progress.usage.total < self.limits.tokens
        )
        return specs if self.offered else ()

    async def next_text(self, stream: AsyncGenerator[ModelEvent, None]) -> str | None:
        """The next visible text, or None at the end of the model's stream."""
        event = await self._in_time(lambda: anext(stream, None))
        if event is None:
            raise ProviderError("unavailable", "the stream ended unfinished", retryable=True)
        if isinstance(event, TextDelta):
            return event.text
        self.finished = event
        self.progress.usage += event.usage or Usage(estimated=True)
        self.progress.counted = (self.rounds, len(self.progress.text))
        return None

    def write(self, text: str) -> Written:
        """Delivers a piece of the model's text: what of it is decided, and new sources."""
        if self.rounds > 1 and len(self.progress.text) == self.round_starts:
            text = self._begin_paragraph(text)
        text = text[: self.room]
        if not text:
            return []
        self.room -= len(text)
        self.progress.text.append(text)
        return self._deliver(self.writer.feed(text))

    def is_full(self) -> bool:
        """Whether the text is as long as it may be. The round then ends as one that was cut."""
        if self.room > 0:
            return False
        self.finished = Finished("length")
        return True

    def wants_tools(self) -> bool:
        """Whether the round ends in calls that may be run. A filtered answer is over."""
        return (
            self.offered and bool(self.finished.calls) and self.finished.reason != "content_filter"
        )

    def take_calls(self) -> list[ToolCallRequest]:
        """The round's calls, each with an id of its own, entered into the history."""
        calls = [replace(call, call_id=self._own_id(call.call_id)) for call in self.finished.calls]
        self.messages.append(
            {
                "role": "assistant",
                "content": "".join(self.progress.text[self.round_starts :]),
                "tool_calls": [call_message(call) for call in calls],
            }
        )
        return calls

    async def call(self, toolbox: Toolbox, call: ToolCallRequest) -> ToolOutcome:
        """Runs a call, records it and enters its result into the history."""
        began = self.clock()
        in_round = sum(record.round == self.rounds for record in self.progress.calls)
        if in_round < self.limits.calls_per_round:
            outcome = await self._in_time(lambda: toolbox.call(call))
        else:
            outcome = _refused(toolbox.label(call), self.limits.calls_per_round)
        self.progress.declined = outcome.declined or self.progress.declined
        self.messages.append(
            {"role": "tool", "tool_call_id": call.call_id, "content": outcome.content}
        )
        self.progress.calls.append(
            CallRecord(
                position=len(self.progress.calls),
                round=self.rounds,
                call_id=call.call_id,
                name=call.name,
                arguments=call.arguments,
                result=outcome.content,
                count=outcome.count,
                error=outcome.error,
                after_ms=round((began - self.started) * 1000),
                duration_ms=round((self.clock() - began) * 1000),
            )
        )
        return outcome

    def close(self, without_answer: Mapping[Truncation, str]) -> Written:
        """The end of the text. A turn that was cut before a word was written says so."""
        apology = ""
        if not self._has_words():
            truncated = self._truncated()
            if truncated is None:
                raise ProviderError("unavailable", "the model wrote nothing", retryable=True)
            apology = self.writer.feed(without_answer.get(truncated, ""))
        end = self.writer.stop() if self._truncated() else self.writer.close()
        return self._deliver(apology + end)

    def outcome(self) -> Outcome:
        truncated = self._truncated()
        return Outcome(
            finish="truncated" if truncated else "completed",
            truncated=truncated,
            model_text="".join(self.progress.text),
            calls=tuple(self.progress.calls),
            usage=self.progress.usage,
            declined=self.progress.declined,
        )

    def _truncated(self) -> Truncation | None:
        reason = self.finished.reason
        if reason in ("length", "content_filter"):
            return reason
        cut = not self.offered and (self.finished.calls or not self._has_words())
        return "tool_rounds" if cut and self.rounds > 1 else None

    def _has_words(self) -> bool:
        return any(part.strip() for part in self.progress.text)

    def _begin_paragraph(self, text: str) -> str:
        """The first text of a later round stands in a paragraph of its own."""
        text = text.lstrip()
        return f"\n\n{text}" if text and self._has_words() else text

    def _deliver(self, text: str) -> Written:
        return [*self.sources.fresh(), *([Delta(text)] if text else [])]

    async def _in_time(self, step: Callable[[], Awaitable[T]]) -> T:
        try:
            return await self.deadline.wait(step)
        except TimeoutError as error:
            raise ProviderError("timeout", "the turn took too long", retryable=True) from error

    def _own_id(self, call_id: str) -> str:
        """The call's id, or another where it is missing or was used in this conversation."""
        number = len(self.call_ids)
        while not call_id or call_id in self.call_ids or len(call_id) > _LONGEST_CALL_ID:
            number += 1
            call_id = f"call{number:05d}"
        self.call_ids.add(call_id)
        return call_id


def _refused(label: str, limit: int) -> ToolOutcome:
    error = f"Not run: at most {limit} calls are run in one round."
    return ToolOutcome(json.dumps({"error": error}), label, error=error)
