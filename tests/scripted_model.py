"""A model that follows a script inside the process. For HTTP, see `tests.scripted_provider`.

    model = ScriptedModel(rounds(calls(call("search_articles", query="sso"))), says("Open it [1]."))

It fails on a round that the script does not have; `assert_finished` fails on one that was
never asked for. `requests` keeps what it was sent.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from copy import deepcopy
from typing import Any

from assistant.agent import (
    Finished,
    FinishReason,
    Message,
    Mode,
    ModelEvent,
    TextDelta,
    ToolCallRequest,
    ToolSpec,
    Usage,
)

Step = ModelEvent | Exception | Callable[[], Awaitable[None]]
Round = Sequence[Step]

USAGE = Usage(10, 2, 3)


class ScriptedModel:
    provider = "scripted"
    name = "scripted"

    def __init__(self, *script: Round, mode: Mode = "tools") -> None:
        self.mode: Mode = mode
        self.requests: list[tuple[list[Message], tuple[str, ...]]] = []
        self.closed = 0
        self._script = list(script)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append((deepcopy(list(messages)), tuple(tool.name for tool in tools)))
        assert self._script, f"the script has no round {len(self.requests)}"
        try:
            for step in self._script.pop(0):
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, TextDelta | Finished):
                    yield step
                else:
                    await step()
        finally:
            self.closed += 1

    def assert_finished(self) -> None:
        assert not self._script, f"{len(self._script)} rounds were never asked for"


def says(*texts: str, reason: FinishReason = "stop", usage: Usage | None = USAGE) -> Round:
    """A round that writes."""
    return [*map(TextDelta, texts), Finished(reason, (), usage)]


def calls(*requests: ToolCallRequest, text: str = "") -> Round:
    """A round that calls tools, perhaps after some words."""
    return [*map(TextDelta, filter(None, [text])), Finished("tool_calls", requests, USAGE)]


def call(name: str, call_id: str = "", **arguments: Any) -> ToolCallRequest:
    return ToolCallRequest(call_id, name, json.dumps(arguments))
