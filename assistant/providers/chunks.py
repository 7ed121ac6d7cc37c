"""The meaning of a chat-completions stream, chunk by chunk.

`ChunkReader.read` takes the data of events and returns the text to show. What else a
chunk holds (calls, usage, the finish reason) is collected until `finished`. Chunks
come without choices, with null deltas, with usage apart or on each of them, and with
an error in place of an answer; none of that may reach a person.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from assistant import tokens
from assistant.agent import Finished, FinishReason, ProviderError, Usage
from assistant.providers.refusals import error_from
from assistant.providers.tool_calls import MAX_CALLS, ToolCallParts
from assistant.providers.visible import VisibleText
from assistant.providers.written_calls import WrittenCalls

logger = logging.getLogger(__name__)

DONE = "[DONE]"

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
}
_decode = json.JSONDecoder().decode
_REASONING = ("reasoning_content", "reasoning", "thinking")


class ChunkReader:
    """The state of one stream. `began`: the model has started to think, write or call."""

    def __init__(self) -> None:
        self.began = False
        self.done = False
        self.failure: ProviderError | None = None
        self._text = VisibleText()
        self._calls = ToolCallParts()
        self._written = WrittenCalls()
        self._reason = ""
        self._usage: Usage | None = None
        self._received: list[str] = []

    @property
    def has_finish(self) -> bool:
        return bool(self._reason)

    def read(self, events: Iterable[str]) -> str:
        """The visible text of events, up to the end or an error: that is in `failure`."""
        written: list[str] = []
        try:
            for data in events:
                written += map(self._read_chunk, _chunks(data))
                if data.endswith(DONE):
                    self.done = True
                    break
        except ProviderError as error:
            self.failure = error
        text = "".join(written)
        return self._written.feed(self._text.feed(text)) if text else ""

    def close(self) -> str:
        return self._written.feed(self._text.close()) + self._written.close()

    def finished(self, prompt_tokens: Callable[[], int]) -> Finished:
        """The end of the stream. `prompt_tokens` estimates them, where the provider was silent.

        Raises `ProviderError` where no finish reason came: the answer may lack its end.
        """
        if not self._reason:
            raise ProviderError("unavailable", "the stream ended without a finish", retryable=True)
        calls = self._calls.finished() + tuple(self._written.calls[:MAX_CALLS])
        reason = _REASONS.get(self._reason)
        if reason is None:
            logger.info("provider.unknown_finish_reason")
            reason = "stop"
        if calls and reason == "stop":
            reason = "tool_calls"
        return Finished(reason, calls, self._counted(prompt_tokens))

    def _read_chunk(self, chunk: dict[str, Any]) -> str:
        if chunk.get("error"):
            if self._reason:
                return ""
            raise error_from(chunk["error"])
        if usage := chunk.get("usage"):
            self._usage = _usage(usage) or self._usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        return self._read_choice(choice) if isinstance(choice, dict) else ""

    def _read_choice(self, choice: dict[str, Any]) -> str:
        delta = choice.get("delta") or choice.get("message")
        text = self._read_delta(delta) if isinstance(delta, dict) else ""
        reason = choice.get("finish_reason")
        if reason == "error":
            raise ProviderError("unavailable", "the provider ended in an error", retryable=True)
        if isinstance(reason, str) and reason:
            self._reason = reason
        return text

    def _read_delta(self, delta: dict[str, Any]) -> str:
        if calls := delta.get("tool_calls"):
            self._take_calls(calls)
        content = delta.get("content")
        if not isinstance(content, str):
            content = _text_of(content)
        thought = "" if content else "".join(_text_of(delta.get(name)) for name in _REASONING)
        self._received.append(content or thought)
        self.began = self.began or bool(content or thought or calls)
        return content

    def _take_calls(self, calls: object) -> None:
        for fragment in calls if isinstance(calls, list) else ():
            if isinstance(fragment, dict):
                self._calls.take(fragment)

    def _counted(self, prompt_tokens: Callable[[], int]) -> Usage:
        """The provider's count; an estimate where it has none, or one that cannot be."""
        received = tokens.estimate("".join(self._received))
        received += sum(tokens.estimate(call.arguments) for call in self._calls.finished())
        if self._usage and (self._usage.completion_tokens or not received):
            return self._usage
        return Usage(prompt_tokens(), 0, received, estimated=True)


def _text_of(content: object) -> str:
    """A field's text; some providers send a list of parts, reasoning among them."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _chunks(data: str) -> Iterable[dict[str, Any]]:
    """The chunk in an event; one per line where a server left out the empty lines."""
    try:
        chunk = _decode(data)
    except ValueError:
        return [chunk for line in data.splitlines() if isinstance(chunk := _object(line), dict)]
    return (chunk,) if isinstance(chunk, dict) else ()


def _object(line: str) -> object:
    if line.strip() in ("", DONE):
        return None
    try:
        return json.loads(line)
    except ValueError as error:
        raise ProviderError("unavailable", "a chunk is no JSON", retryable=True) from error


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
    cached = cached or _count(usage, "prompt_cache_hit_tokens")
    return Usage(prompt, min(cached, prompt), completion) if prompt else None


def _count(counts: dict[str, Any], name: str) -> int:
    count = counts.get(name)
    return count if isinstance(count, int) and count > 0 else 0
