"""Any OpenAI-compatible chat-completions endpoint, as a `Model`.

The openai client carries the request (addresses, keys, TLS, pools); its retries are
off and its own reading of the stream is not used: lines are parsed here, at a
twentieth of the cost. One loop retries, at most as often as `Patience` allows and only before
anything was yielded, so a visitor never reads a beginning twice; all attempts together have
`first_token_seconds` until the first sign of life. What an endpoint refuses (a parameter, the
usage in streams) is left out from then on. A `Circuit` may forbid a call.

Closing the generator closes the provider's socket at once.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, aclosing, nullcontext, suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2
import openai

from assistant import tokens
from assistant.agent import Message, Mode, ModelEvent, ProviderError, TextDelta, ToolSpec
from assistant.metrics import PROVIDER_ERRORS
from assistant.providers.chunks import ChunkReader
from assistant.providers.circuit import Circuit
from assistant.providers.pace import Pace
from assistant.providers.refusals import ParameterRefusedError, error_from
from assistant.providers.retries import Patience, told_to_wait
from assistant.providers.sse import EventDecoder, OversizedEventError, WholeBody

T = TypeVar("T")

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0

TRAILER_SECONDS = 2.0
"""How long the usage may come after the finish reason."""

DRAIN_SECONDS = 0.05
"""How long the end of the response may come after its last event; then it is cut."""

_WIRE_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
_SUCCESSORS = {"max_tokens": "max_completion_tokens"}


class _Connection(NamedTuple):
    client: openai.AsyncOpenAI
    lifetime: AsyncGenerator[openai.AsyncOpenAI, None]


class OpenAIModel:
    """A model behind an endpoint. One object serves all turns of a process.

    Raises `ProviderError`; `ToolsRefusedError` where the endpoint has no tools.
    """

    mode: Mode = "tools"

    def __init__(
        self,
        *,
        name: str,
        api_key: str = "",
        base_url: str = "",
        first_token_seconds: float = 15.0,
        max_tokens: int = 4096,
        patience: Patience | None = None,
        circuit: Circuit | None = None,
    ) -> None:
        self.name = name
        self.provider = (urlsplit(base_url).hostname or "openai")[:40]
        self._api_key = api_key or "none"
        self._base_url = base_url or "https://api.openai.com/v1"
        self._first_token_seconds = first_token_seconds
        self._patience = patience or Patience()
        self.circuit = circuit
        self._options: dict[str, Any] = {
            "temperature": 0.2,
            "max_tokens": max_tokens,
            "stream_options": {"include_usage": True},
        }
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connection] = (
            WeakKeyDictionary()
        )

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        attempt, began, clock = 1, False, asyncio.get_running_loop().time
        deadline = clock() + self._first_token_seconds
        while True:
            try:
                body = self._body(messages, tools)
                async with (
                    self.circuit.attempt() if self.circuit else nullcontext(),
                    aclosing(self._attempt(body, deadline - clock())) as events,
                ):
                    async for event in events:
                        began = True
                        yield event
                return
            except ParameterRefusedError as refusal:
                self._leave_out(refusal)
                continue
            except ProviderError as error:
                self._log(error, attempt)
                PROVIDER_ERRORS.labels(error.code).inc()
                delay = None if began else self._patience.delay(error, attempt)
                if delay is None or clock() + delay >= deadline:
                    raise
            await asyncio.sleep(delay)
            attempt += 1

    async def _attempt(
        self, body: dict[str, Any], first_token_seconds: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """One request, within the times that a stream may take. What has come since the last
        reading is one event."""
        reader = ChunkReader()
        clock = Clock(reader, first_token_seconds)
        pace, loop = Pace.current(), asyncio.get_running_loop()
        try:
            async with AsyncExitStack() as stack:
                decoder, pieces = await self._open(body, clock, stack)
                stack.enter_context(pace.stream())
                while not reader.done:
                    piece = await clock.wait(anext(pieces, None))
                    data = decoder.close() if piece is None else decoder.feed(piece)
                    if text := reader.read(data):
                        yield TextDelta(text)
                    if reader.failure is not None:
                        raise reader.failure
                    if piece is None:
                        break
                    if reader.began and not reader.has_finish:
                        await pace.rest(loop)
                else:
                    await _drain(pieces)
        except TimeoutError:
            if not reader.has_finish:
                raise ProviderError("timeout", "no first token", retryable=True) from None
        except openai.APIStatusError as error:
            raise _status_error(error) from error
        except OversizedEventError as error:
            raise ProviderError("unavailable", str(error)) from error
        except (openai.OpenAIError, httpx2.RequestError) as error:
            if not reader.has_finish:
                raise ProviderError("unavailable", _root(error), retryable=True) from error
        if text := reader.close():
            yield TextDelta(text)
        yield reader.finished(lambda: tokens.estimate(json.dumps(body["messages"])))

    async def _open(
        self, body: dict[str, Any], clock: Clock, stack: AsyncExitStack
    ) -> tuple[EventDecoder | WholeBody, AsyncGenerator[bytes, None]]:
        client = await self._client()
        # Not by `create`, which walks through all messages and tools by their types, for a
        # millisecond, and sends them as they are.
        request = client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            options={"headers": {"Accept-Encoding": "identity"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        received = (await clock.wait(request)).response
        stack.push_async_callback(received.aclose)
        is_json = received.headers.get("content-type", "").startswith("application/json")
        # Bytes as they came: that nothing is compressed was asked for, and decoding nothing costs.
        is_compressed = "content-encoding" in received.headers
        pieces = received.aiter_bytes() if is_compressed else received.aiter_raw()
        await stack.enter_async_context(aclosing(pieces))
        return WholeBody() if is_json else EventDecoder(), pieces

    def _body(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, Any]:
        body = {
            "model": self.name,
            "messages": [
                {field: message[field] for field in _WIRE_FIELDS if field in message}
                for message in messages
            ],
            "stream": True,
            **self._options,
        }
        if tools:
            body["tools"] = [_tool(spec) for spec in tools]
        return body

    def _leave_out(self, refusal: ParameterRefusedError) -> None:
        """From now on the refused parameter goes by its newer name, or not at all.

        Raises the refusal where the request did not hold the parameter.
        """
        if refusal.parameter not in self._options:
            self._log(refusal, attempt=1)
            raise refusal
        value = self._options.pop(refusal.parameter)
        if successor := _SUCCESSORS.get(refusal.parameter):
            self._options[successor] = value
        logger.info(
            "provider_parameter_left_out",
            extra={"model": self.name, "parameter": refusal.parameter},
        )

    async def _client(self) -> openai.AsyncOpenAI:
        """A client per event loop, closed when its loop shuts down its generators."""
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            lifetime = self._lifetime()
            self._connections[loop] = _Connection(await anext(lifetime), lifetime)
        return self._connections[loop].client

    async def _lifetime(self) -> AsyncGenerator[openai.AsyncOpenAI, None]:
        async with openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
            # Its other transport costs five times as much for each piece of a stream.
            http_client=openai.DefaultAioHttpClient(),
        ) as client:
            yield client

    def _log(self, error: ProviderError, attempt: int) -> None:
        logger.warning(
            "provider_failed",
            extra={
                "model": self.name,
                "provider": self.provider,
                "code": error.code,
                "detail": error.detail,
                "attempt": attempt,
            },
        )


class Clock:
    """Bounds the wait for a sign of life, and for what follows the finish reason.

    In between only the turn's own limit holds: a model may think and write slowly.
    """

    def __init__(self, reader: ChunkReader, first_token_seconds: float) -> None:
        self._reader = reader
        self._loop = asyncio.get_running_loop()
        self._first_token = self._loop.time() + first_token_seconds
        self._trailer: float | None = None

    async def wait(self, step: Awaitable[T]) -> T:
        if self._reader.has_finish:
            self._trailer = self._trailer or self._loop.time() + TRAILER_SECONDS
        elif self._reader.began:
            return await step
        async with asyncio.timeout_at(self._trailer or self._first_token):
            return await step


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Reads the end of a finished response, so that its connection can serve again."""
    with suppress(TimeoutError, httpx2.RequestError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _root(error: BaseException) -> str:
    """What was at the bottom of a failed connection: a refusal, a name, a certificate."""
    while error.__cause__ is not None:
        error = error.__cause__
    return type(error).__name__


def _status_error(error: openai.APIStatusError) -> ProviderError:
    meaning = error_from(error.body, error.status_code)
    meaning.retry_after = told_to_wait(error.response.headers)
    return meaning


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}
