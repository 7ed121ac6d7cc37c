"""What models and tools are to the loop of a turn. Pure: types, and how a call is written down.

A model streams text and ends in `Finished`; a toolbox runs its calls. Everything that a
provider, a tool or a test double has to be is here.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Message = dict[str, Any]
"""A message in the chat-completions shape."""

FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]
Mode = Literal["tools", "context", "extractive"]
Truncation = Literal["length", "content_filter", "tool_rounds"]
ErrorCode = Literal[
    "unavailable",
    "timeout",
    "rate_limited",
    "misconfigured",
    "context_length",
    "content_filter",
    "refused",
]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Visible text. Reasoning never arrives here."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A call as the model wrote it: `arguments` is its raw JSON text, valid or not."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a turn. `cached_tokens` are part of `prompt_tokens`."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a model's stream."""

    reason: FinishReason
    calls: tuple[ToolCallRequest, ...] = ()
    usage: Usage | None = None


ModelEvent = TextDelta | Finished
"""A stream ends with exactly one `Finished`, or raises `ProviderError`."""


class ProviderError(Exception):
    """The provider failed. `detail` is for the operator's log, never for a visitor.

    `retryable`: whether sending the same question again may help. `retry_after`: in
    how many seconds, where the provider said so.
    """

    def __init__(
        self,
        code: ErrorCode,
        detail: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code: ErrorCode = code
        self.detail = detail
        self.retryable = retryable
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told about it. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Model(Protocol):
    """Something that writes. The three names are stored with the answer.

    `mode`: in `context` every passage that was given may be shown as searched
    (`Ledger(show_uncited=True)`).
    """

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def mode(self) -> Mode: ...

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]: ...


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool did. What it showed the model is in the ledger already.

    `content`: JSON for the model. `count`: documents, None where counting says
    nothing. `label`: for people, in the past tense. `error`: set when the call
    failed; it is a result all the same. `declined`: the reason of `cannot_answer`.
    """

    content: str
    label: str
    count: int | None = None
    error: str = ""
    declined: str = ""


class Toolbox(Protocol):
    """The tools of a turn, with one reader's rights. `call` reports, it does not raise."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    def label(self, call: ToolCallRequest) -> str: ...

    async def call(self, call: ToolCallRequest) -> ToolOutcome: ...


_UNUSABLE_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def call_message(call: ToolCallRequest) -> dict[str, Any]:
    """The call as history for the model. Endpoints refuse invalid JSON and odd names in it."""
    return {
        "id": call.call_id,
        "type": "function",
        "function": {
            "name": _UNUSABLE_IN_NAMES.sub("_", call.name)[:64] or "unknown",
            "arguments": call.arguments if _is_json_object(call.arguments) else "{}",
        },
    }


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
