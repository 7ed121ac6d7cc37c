"""The site's connections to PostgreSQL, under a crowd and when PostgreSQL ends them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2
import pytest
from django.db import connection
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.processes import web_process

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

NAME = "site-with-a-pool"
POOL = 6


@pytest.fixture(scope="module")
def site(collected_assets: None) -> Iterator[str]:
    """A web process whose connections have a name, and may be so many."""
    variables = {
        "PGAPPNAME": NAME,
        "DATABASE_POOL_SIZE": str(POOL),
        "ASSISTANT_TURNS_PER_VISITOR": "1000",
        "ASSISTANT_TURNS_PER_ADDRESS": "1000",
    }
    with web_process(**variables) as url:
        yield url


COUNT = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
TERMINATE = COUNT.replace("*", "pg_terminate_backend(pid)")


def backends(query: str = COUNT) -> int:
    """How many connections the site has, or had before they were ended."""
    with connection.cursor() as cursor:
        cursor.execute(query, [NAME])
        return int(cursor.fetchone()[0])


@contextmanager
def visitor(site: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=site, timeout=30) as client:
        client.get("/chat/").raise_for_status()
        client.headers.update({"X-CSRFToken": client.cookies["csrftoken"], "Origin": site})
        yield client


def ask(client: httpx2.Client, question: str) -> int:
    return client.post("/api/v1/answers/", json={"question": question}).status_code


@pytest.mark.field_report("B47")
def test_a_hundred_questions_twenty_at_a_time_share_a_pool(site: str) -> None:
    seen: list[int] = []

    with visitor(site) as client, ThreadPoolExecutor(20) as people:
        asked = [people.submit(ask, client, f"Hello {number}?") for number in range(100)]
        while not all(each.done() for each in asked):
            seen.append(backends())
    assert {each.result() for each in asked} == {200}
    assert 1 < max(seen) <= POOL
    assert backends() <= POOL


@pytest.mark.field_report("B48")
def test_terminated_connections_are_replaced(site: str) -> None:
    with visitor(site) as client:
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        address = f"{site.replace('http://', 'ws://')}/ws/v1/chat/"
        headers = {"Cookie": cookie}
        with connect(address, origin=Origin(site), additional_headers=headers) as socket:
            assert ask(client, "Hi") == 200
            for question in ("Hello?", "And now?"):
                assert backends(TERMINATE) > 0
                socket.send(json.dumps({"type": "ask", "question": question}))
                events = [json.loads(socket.recv(30))]
                while events[-1]["type"] not in ("done", "error"):
                    events.append(json.loads(socket.recv(30)))
                assert events[-1]["type"] == "done", events[-1]
        assert [ask(client, "Hello?") for _ in range(3)] == [200] * 3
