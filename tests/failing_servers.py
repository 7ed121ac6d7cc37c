"""Servers that a test can stop, freeze and slow, and what stands in their way.

    with Wire("/run/valkey.sock") as valkey:
        web_process(REDIS_URL=f"redis://127.0.0.1:{valkey.port}/0")
        valkey.fail("stop"); …; valkey.mend()

A stopped server refuses and cuts, a frozen one takes everything and says nothing, in old and
new connections alike, and a slow one lets each piece wait.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

from articles.embeddings import HashedEmbedder

Fault = Literal["stop", "freeze", "slow"]

SLOW_SECONDS = 0.03
"""What each piece of data waits on a slow wire, in each direction."""

SLOW_ANSWER_SECONDS = 0.5
WORD_SECONDS = 0.02

_GONE = (OSError, asyncio.IncompleteReadError, asyncio.CancelledError)
"""What a handler meets where its client or the test ends; asyncio logs what it does not catch."""


class _Loop:
    """An event loop on a thread of its own."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self._run(self._end())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self, work: Awaitable[None]) -> None:
        async def whole() -> None:
            await work

        asyncio.run_coroutine_threadsafe(whole(), self._loop).result(20)

    async def _start(self) -> None:
        raise NotImplementedError

    async def _end(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            with suppress(*_GONE):
                await task


class Wire(_Loop):
    """A TCP port of this machine that leads to a Unix socket."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._delay = 0.0
        self.port = 0

    def fail(self, fault: Fault) -> None:
        self._run({"stop": self._stop, "freeze": self._freeze, "slow": self._slow}[fault]())

    def mend(self) -> None:
        self._run(self._mend())

    async def _start(self) -> None:
        self._flows = asyncio.Event()
        self._flows.set()
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        await self._stop()
        await super()._end()

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for end in self._ends:
            end.transport.abort()

    async def _freeze(self) -> None:
        self._flows.clear()

    async def _slow(self) -> None:
        self._delay = SLOW_SECONDS

    async def _mend(self) -> None:
        self._delay = 0.0
        self._flows.set()
        if self._server is None:
            await self._start()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flows.wait()
        there = await asyncio.open_unix_connection(self._socket)
        ends = {writer, there[1]}
        self._ends |= ends
        try:
            await asyncio.gather(self._pump(reader, there[1]), self._pump(there[0], writer))
        except _GONE:
            pass
        finally:
            self._ends -= ends
            for end in ends:
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await asyncio.sleep(self._delay)
            await self._flows.wait()
            writer.write(data)
            await writer.drain()
        writer.close()


class ModelEndpoint(_Loop):
    """An OpenAI-compatible endpoint: vectors of hashed words, and a model that searches, opens
    what it finds and cites it. `faults` holds what is wrong, by the end of a path: `embeddings`,
    `completions`."""

    DIMENSIONS = 64

    def __init__(self) -> None:
        self.faults: dict[str, Fault] = {}
        self.asked = {"embeddings": 0, "completions": 0}
        self._embedder = HashedEmbedder(self.DIMENSIONS)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        await super()._end()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().lower():
                length = int(head.split("content-length: ")[1].split("\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                kind = head.split(" ")[1].rsplit("/", 1)[1]
                self.asked[kind] += 1
                if not await self._passes(kind):
                    return
                replies = {"embeddings": self._embeddings, "completions": self._completion}
                await replies[kind](body, writer)
        except _GONE:
            pass
        finally:
            writer.transport.abort()

    async def _passes(self, kind: str) -> bool:
        """Whether this request is answered; a frozen one is when the fault is over."""
        match self.faults.get(kind):
            case "stop":
                return False
            case "slow":
                await asyncio.sleep(SLOW_ANSWER_SECONDS)
            case "freeze":
                while self.faults.get(kind) == "freeze":  # noqa: ASYNC110, set by another thread
                    await asyncio.sleep(0.05)
        return True

    async def _embeddings(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        vectors = self._embedder.embed(body["input"])
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        reply = json.dumps({"object": "list", "data": data, "model": body["model"]}).encode()
        head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
        writer.write(f"{head}{len(reply)}\r\n\r\n".encode() + reply)
        await writer.drain()

    async def _completion(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
        writer.write(f"{head}\r\n\r\n".encode())
        for event in [*_round(body["messages"]), "[DONE]"]:
            data = event if isinstance(event, str) else json.dumps(event)
            line = f"data: {data}\n\n".encode()
            writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            await writer.drain()
            await asyncio.sleep(WORD_SECONDS)
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _round(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model says next: a search, an article, then words with a citation."""
    asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
    results = [json.loads(one["content"]) for one in messages[asked:] if one["role"] == "tool"]
    if not results:
        return _calls("search_articles", query=messages[asked]["content"])
    found = [document["ref"] for document in results[0].get("documents", [])]
    if found and len(results) == 1:
        return _calls("open_article", ref=found[0])
    words = ["Open", " the", " settings", " and", " do", " as", " it", " says"]
    end = f" [{found[0]}]." if found else "."
    chunks: list[dict[str, Any]] = [{"content": word} for word in [*words, end]]
    return [*map(_chunk, chunks), _chunk({}, "stop")]


def _calls(name: str, **arguments: Any) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "a", "type": "function", "function": function}
    return [_chunk({"tool_calls": [call]}), _chunk({}, "tool_calls")]


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
