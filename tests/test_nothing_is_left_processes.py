"""What a real web process keeps of those who have gone: no socket, no connection, no memory.

DISCONNECTS says how many viewers break off, per transport, and LONG_RUN how many turns the process
makes while its memory is watched; `make proof` has 500 and 5,000.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from django.db import connection

from assistant.database import db
from assistant.models import Answer
from tests.processes import WebProcess
from tests.scripted_provider import (
    DONE,
    Reply,
    Request,
    ScriptedProvider,
    Step,
    call,
    finish,
    say,
    usage,
)
from tests.search_index import make_indexed
from tests.site_visitors import ANSWERS, Visitor, until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

DISCONNECTS = int(os.environ.get("DISCONNECTS", "16"))
TURNS = int(os.environ.get("LONG_RUN", "120"))
WARM_TURNS = max(60, TURNS // 10)
AT_ONCE = 8
SECONDS = 5.0
MEMORY = 1.08
FILES = 2
FEW = 5

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER by which closing a socket sends a reset in place of a goodbye."""

Leave = Callable[[Visitor, str, int], Awaitable[None]]


class Searching(ScriptedProvider):
    """Searches, and then cites what was found; remembers nothing. It keeps no connection, so that
    each one that is there is in use."""

    def next_reply(self, request: Request) -> Reply:
        said: list[Step] = [call("search_articles", {"query": "export"}), finish("tool_calls")]
        if request.body["messages"][-1]["role"] == "tool":
            said = [say("Choose "), say("CSV [1]."), finish()]
        return Reply((*said, usage(), DONE), headers={"Connection": "close"})


@pytest.fixture(scope="module")
def script() -> Iterator[ScriptedProvider]:
    with Searching() as provider:
        yield provider


@pytest.fixture(autouse=True)
def article(transactional_db: None) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")


@pytest.fixture(scope="module")
def web(collected_assets: None, script: ScriptedProvider) -> Iterator[WebProcess]:
    process = WebProcess(
        OPENAI_BASE_URL=script.url,
        ASSISTANT_MODEL="scripted",
        ASSISTANT_TURNS_PER_VISITOR="1000000",
        ASSISTANT_TURNS_PER_ADDRESS="1000000",
        DATABASE_POOL_SIZE=str(AT_ONCE),
    )
    with process.running():
        yield process


@dataclass(frozen=True)
class Held:
    """What the process holds: open files, sockets to the provider, connections of the database."""

    files: int
    to_provider: int
    to_database: int

    def exceeds(self, other: Held) -> bool:
        """Of files a few more are no leak: the pools of connections to Valkey grow when more than
        ever ask at once. One that is kept for each viewer would be many more."""
        allowed = replace(other, files=other.files + FEW)
        return any(a > b for a, b in zip(astuple(self), astuple(allowed), strict=True))


def held(web: WebProcess, script: ScriptedProvider) -> Held:
    process = psutil.Process(web.child.pid)
    port = urlsplit(script.url).port
    sockets = [c for c in process.net_connections("tcp") if c.raddr and c.raddr.port == port]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        backends = int(cursor.fetchone()[0])
    return Held(process.num_fds(), len(sockets), backends)


# How viewers leave


async def leave_stream(visitor: Visitor, url: str, number: int) -> None:
    """In the middle of the answer."""
    head = {"Accept": "text/event-stream"}
    reader, writer = await sent(visitor, url, number, head)
    await reader.readuntil(b"event: started")
    break_off(writer)


async def leave_json(visitor: Visitor, url: str, number: int) -> None:
    """At any moment between the request and its answer."""
    _reader, writer = await sent(visitor, url, number, {})
    await asyncio.sleep(random.uniform(0, 0.05))
    break_off(writer)


async def leave_socket(visitor: Visitor, url: str, number: int) -> None:
    """In the middle of the answer, without the handshake of a close."""
    client = await visitor.socket(url)
    await client.send(json.dumps({"type": "ask", "question": f"How {number}?"}))
    assert json.loads(await client.recv())["type"] == "started"
    transport: Any = client.transport
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    transport.abort()
    await client.wait_closed()


async def sent(
    visitor: Visitor, url: str, number: int, headers: dict[str, str]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection of its own over which the question was sent."""
    address = urlsplit(url)
    body = json.dumps({"question": f"How {number}?"}).encode()
    fields = {
        "Host": address.netloc,
        "Cookie": visitor.cookie,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **visitor.headers(url, **headers),
    }
    lines = [f"POST {ANSWERS} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    return reader, writer


def break_off(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


@pytest.mark.parametrize("leave", [leave_stream, leave_socket, leave_json])
def test_viewers_who_break_off_leave_nothing_in_the_process(
    web: WebProcess, script: ScriptedProvider, leave: Leave
) -> None:
    async def many(visitor: Visitor, count: int, at_once: int = AT_ONCE) -> None:
        room = asyncio.Semaphore(at_once)

        async def one(number: int) -> None:
            async with room:
                await leave(visitor, web.url, number)

        await asyncio.gather(*(one(number) for number in range(count)))

    async def now() -> Held:
        return await db(held, web, script)

    async def body() -> None:
        async with Visitor.arriving(web.url) as visitor:
            # Now its pools have as many connections as they will need.
            await many(visitor, 4 * AT_ONCE, at_once=4 * AT_ONCE)
            await until(no_turn_runs, "the end of the turns")
            before = await now()
            await many(visitor, DISCONNECTS)
            deadline = time.monotonic() + SECONDS
            while (left := await now()).exceeds(before) or not await no_turn_runs():
                assert time.monotonic() < deadline, f"{left}, and before {before}"
                await asyncio.sleep(0.1)

    asyncio.run(body())


async def no_turn_runs() -> bool:
    running = Answer.objects.filter(status=Answer.Status.RUNNING)
    return not await db(running.exists)


def test_turns_leave_neither_memory_nor_files_in_the_process(
    web: WebProcess, script: ScriptedProvider
) -> None:
    """Turns that search and cite, over each transport, in conversations of their own."""
    process = psutil.Process(web.child.pid)

    async def many(count: int, at_once: int = AT_ONCE) -> int:
        """Returns what memory the process holds then, and closes all connections to it."""
        numbers = iter(range(count))

        async with Visitor.arriving(web.url) as visitor:

            async def one_after_the_other() -> None:
                for number in numbers:
                    transport = ("json", "sse", "ws")[number % 3]
                    end = await visitor.ask(transport, web.url, f"How do I export {number}?")
                    assert end["text"] == "Choose CSV [1]."

            await asyncio.gather(*(one_after_the_other() for _ in range(at_once)))
            await until(no_turn_runs, "the end of the turns")
        return int(process.memory_info().rss)

    async def body() -> None:
        # Now its pools have as many connections as they will need.
        await many(4 * AT_ONCE, at_once=4 * AT_ONCE)
        memory = await many(WARM_TURNS)
        before = await db(held, web, script)
        grown = await many(TURNS) / memory
        deadline = time.monotonic() + SECONDS
        while (left := await db(held, web, script)).files > before.files + FILES:
            assert time.monotonic() < deadline, f"{left}, and before {before}"
            await asyncio.sleep(0.1)
        print(f"{TURNS} turns: memory {memory >> 20} MB × {grown:.3f}, {before} → {left}")
        assert grown <= MEMORY

    asyncio.run(body())
