"""An OpenAI-compatible endpoint in a process of its own that writes at a steady pace.

Every token is an event and a write of its own, as real endpoints send them, and says when it was
written (seconds of the machine's monotonic clock), so that whoever gets it knows how late it is.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

import uvloop

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: keep-alive\r\n\r\n"
)
MARK = "t="
"""What stands before the time in a token."""

PARAGRAPH = 60
"""Tokens in a paragraph."""


@contextmanager
def paced_provider(tokens: int, per_second: float) -> Iterator[str]:
    """Inside, the endpoint's URL. Each of its answers has `tokens` tokens at `per_second`."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(there, tokens, per_second), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection, tokens: int, per_second: float) -> None:
    # The quickest loop there is: what the endpoint costs, the site it is measured with lacks.
    uvloop.run(_listen(pipe, tokens, per_second))


async def _listen(pipe: Connection, tokens: int, per_second: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await _read_request(reader)
                await _write_answer(writer, tokens, per_second)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1_000)
    pipe.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    await server.serve_forever()


async def _read_request(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    await reader.readexactly(length)


async def _write_answer(writer: asyncio.StreamWriter, tokens: int, per_second: float) -> None:
    writer.write(HEAD)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(tokens):
        await asyncio.sleep(began + number / per_second - loop.time())
        before = " " if number % PARAGRAPH else "\\n\\n"
        writer.write(_chunked(WORD % f"{before}{MARK}{time.monotonic():.4f}".encode()))
        await writer.drain()
    writer.write(_chunked(END) + _chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()


def _event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    chunk = {
        "id": "chatcmpl-paced",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "paced",
        "choices": [choice],
    }
    return f"data: {json.dumps(chunk)}\n\n".encode()


WORD = _event({"content": "%s"})
END = _event({}, finish_reason="stop")


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
