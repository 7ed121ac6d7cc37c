"""What turns and their viewers leave behind: no task, no connection, no key that stays for ever.

DISCONNECTS says how many viewers go in the middle, per transport; `make proof` has 500.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from django.db import connection

from assistant.database import db
from assistant.eventlog import EventLog
from assistant.turns.live import LiveTurns
from helpcenter.site_counts import TASKS
from tests.chat_clients import PATIENCE, Person, in_loop, read_sse, until
from tests.scripted_provider import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)

DISCONNECTS = int(os.environ.get("DISCONNECTS", "12"))

QUEUE = ("_kombu", "celery", "unacked")
"""What the queue of tasks consists of: it goes when its tasks are done."""

SECONDS = 5.0
"""Within which everything is as it was: a send whose viewer has gone still begins its turn."""

Leave = Callable[[Person, int], Awaitable[None]]


async def leave_sse(person: Person, number: int) -> None:
    response = await person.open_sse(f"How {number}?")
    await read_sse(response, until_type="started")


async def leave_websocket(person: Person, number: int) -> None:
    async with person.socket() as socket:
        await socket.send({"type": "ask", "question": f"How {number}?"})
        await socket.read_answer(until_type="started")


async def leave_json(person: Person, number: int) -> None:
    asking = asyncio.create_task(person.ask_json(f"How {number}?"))
    await asyncio.sleep(0.001 * (number % 20))
    asking.cancel()
    await asyncio.wait({asking})


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def backends() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


@pytest.mark.field_report("B38")
@pytest.mark.parametrize("leave", [leave_sse, leave_websocket, leave_json])
def test_viewers_who_go_leave_nothing_behind(
    provider: ScriptedProvider, settings: Any, leave: Leave
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = 10**6
    provider.forgives_unused = True  # a client that goes before its turn began asks nothing

    async def settled() -> tuple[int, int, int]:
        await LiveTurns.current().wait()
        log = EventLog.current()
        await until(lambda: not log._writers and not log._tail.feeds(), "the log's rest")
        await asyncio.sleep(0.1)
        return len(asyncio.all_tasks()), open_files(), await db(backends)

    async def body() -> None:
        person = await Person.visitor()
        for _ in range(3):
            provider.answer("Warm.")
            await leave(person, 19)
        tasks, files, connections = await settled()
        for number in range(DISCONNECTS):
            provider.answer("Nobody reads this to its end.")
            await leave(person, number)
        # Beside one more: what the pools of provider and Valkey keep open.
        most = (tasks + 1, files + 6, connections + 1)
        left = await settled()
        deadline = asyncio.get_running_loop().time() + SECONDS
        while _is_above(left, most) and asyncio.get_running_loop().time() < deadline:
            left = await settled()
        assert not _is_above(left, most), f"tasks, files, connections: {left}, at most {most}"

    in_loop(body, PATIENCE + DISCONNECTS)


def _is_above(left: tuple[int, ...], most: tuple[int, ...]) -> bool:
    return any(one > bound for one, bound in zip(left, most, strict=True))


def test_every_key_in_valkey_expires(
    provider: ScriptedProvider, settings: Any, valkey_client: redis.Redis
) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = settings.ASSISTANT_TOKENS_PER_DAY = 10**6
    provider.answer("Yes.")
    provider.refuse(401, {})

    async def body() -> None:
        person = await Person.visitor()
        end = (await person.ask_sse("How?", key="k"))[-1]
        await person.post(f"/api/v1/answers/{end['answer_id']}/stop/")
        await person.get("/search/", Accept="text/html")
        await person.ask_sse("And how?")

    in_loop(body)
    TASKS.add("a task", "done")
    keys = [key.decode() for key in valkey_client.scan_iter()]
    ours = [key for key in keys if not key.startswith(QUEUE)]
    assert {key.split(":")[0] for key in ours} >= {"answer", "limit", "circuit", "metrics"}
    assert {key: valkey_client.ttl(key) for key in ours if valkey_client.ttl(key) < 0} == {}
