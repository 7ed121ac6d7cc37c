"""A second model for the turns that the first one's endpoint fails.

One object for each turn. Where the first model fails before a word of its round, the second one
goes on with the same messages, and stays for the rest of the turn. What a provider refuses to
answer, or finds too long, is not sent to another one.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from assistant.agent import Message, Mode, Model, ModelEvent, ProviderError, ToolSpec
from assistant.metrics import FALLBACKS

_TAKEN_OVER = frozenset({"unavailable", "timeout", "rate_limited", "misconfigured"})

logger = logging.getLogger(__name__)


class FallbackModel:
    """`first`, and `second` from where it fails. Its names are those of the one that writes."""

    def __init__(self, first: Model, second: Model) -> None:
        self.models = (first, second)
        self._active = first

    @property
    def provider(self) -> str:
        return self._active.provider

    @property
    def name(self) -> str:
        return self._active.name

    @property
    def mode(self) -> Mode:
        return self._active.mode

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        first, second = self.models
        if self._active is first:
            began = False
            try:
                async with aclosing(first.stream(messages, tools)) as events:
                    async for event in events:
                        began = True
                        yield event
                return
            except ProviderError as error:
                if began or error.code not in _TAKEN_OVER:
                    raise
                extra = {"model": first.name, "fallback": second.name, "code": error.code}
                logger.warning("provider_fallback", extra=extra)
            self._active = second
            FALLBACKS.inc()
        async with aclosing(second.stream(messages, tools)) as events:
            async for event in events:
                yield event
