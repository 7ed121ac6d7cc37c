"""Answering from one search, for models that cannot call tools.

A `Model` around another one. In place of the model it calls `search_articles` once, so
that the search stands in the ledger and the record like any other; then it sends the
passages, numbered, in the text before the question, and no tools; calls that the model makes
up all the same are not run. Where the endpoint turns out to refuse tools, it goes over to
this by itself, for good or until it is told otherwise (`learn`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from assistant.agent import (
    Finished,
    Message,
    Mode,
    Model,
    ModelEvent,
    ToolCallRequest,
    ToolSpec,
    Usage,
)
from assistant.classifiers.small_talk import is_small_talk
from assistant.providers.refusals import ToolsRefusedError

logger = logging.getLogger(__name__)


class ContextModel:
    """`inner` with tools while `mode` is `tools`; from one search when it is `context`."""

    def __init__(self, inner: Model, mode: Mode = "tools") -> None:
        self.mode: Mode = mode
        self._wanted: Mode = mode
        self._inner = inner

    @property
    def provider(self) -> str:
        return self._inner.provider

    @property
    def name(self) -> str:
        return self._inner.name

    def learn(self, *, refuses_tools: bool) -> None:
        """What is known of the endpoint now, by whichever process found out."""
        self.mode = "context" if refuses_tools else self._wanted

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        if self.mode == "tools":
            try:
                async with aclosing(self._inner.stream(messages, tools)) as events:
                    async for event in events:
                        yield event
                return
            except ToolsRefusedError:
                if not tools:
                    raise
                self.mode = "context"
                logger.warning("provider_has_no_tools", extra={"model": self.name})
        if search := _first_search(messages, tools):
            yield Finished("tool_calls", (search,), Usage())
            return
        async with aclosing(self._inner.stream(without_tools(messages), ())) as events:
            async for event in events:
                yield replace(event, calls=()) if isinstance(event, Finished) else event


def _first_search(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ToolCallRequest | None:
    """The search for a question that nothing was searched for yet."""
    asked = messages[-1]
    if not tools or asked["role"] != "user" or is_small_talk(asked["question"]):
        return None
    arguments = json.dumps({"query": asked["search"]}, ensure_ascii=False)
    return ToolCallRequest("", "search_articles", arguments)


def without_tools(messages: Sequence[Message]) -> list[Message]:
    """The same conversation with the results of tools as text before their questions."""
    flat: list[Message] = []
    for message in messages:
        if message["role"] == "system":
            flat.append({**message, "content": message.get("without_tools", message["content"])})
        elif message["role"] == "user":
            flat.append(dict(message))
        elif message["role"] == "tool":
            asked = next(each for each in reversed(flat) if each["role"] == "user")
            asked["content"] = f"{_as_text(message['content'])}\n\n{asked['content']}"
        elif message["content"]:
            flat.append({"role": "assistant", "content": message["content"]})
    return flat


def _as_text(result: str) -> str:
    """A tool's result as numbered passages."""
    documents = json.loads(result).get("documents", ())
    if not documents:
        return "(Nothing was found in the articles.)"
    return "\n\n".join(text for document in documents for text in _passages(document))


def _passages(document: Mapping[str, Any]) -> list[str]:
    name = f"[{document['ref']}] {document['title']}"
    if "body" in document:
        return [f"{name}\n{document['body']}"]
    passages = document.get("passages")
    if passages is None:
        return [f"{name} ({document['url']})"]
    return [
        f"{' › '.join(filter(None, [name, passage['heading']]))}\n{passage['text']}"
        for passage in passages
    ]
