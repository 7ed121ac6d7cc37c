"""A web process that is told to end while twenty answers are under way strands nobody.

DEPLOYS says how often; `make proof` ends twenty processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from assistant.models import Answer
from helpcenter.processes import Child
from tests.processes import answers, free_port, running, site_environment, wait_until
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage
from tests.streams import parsed_sse, verified

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

DEPLOYS = int(os.environ.get("DEPLOYS", "1"))
LIVE = 20
ANSWERS = "/api/v1/answers/"
REST = (say("and ended."), finish(), usage(), DONE)
UNREADY_SECONDS = 1


@contextmanager
def site(provider: ScriptedProvider) -> Iterator[tuple[Child, str]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = site_environment(
        PORT=str(port),
        SITE_URL=url,
        OPENAI_BASE_URL=provider.url,
        ASSISTANT_MODEL="scripted",
        ASSISTANT_TURNS_PER_VISITOR="1000",
        ASSISTANT_TURNS_PER_ADDRESS="1000",
    )
    with running("web", [sys.executable, "-m", "helpcenter.web"], environment) as child:
        wait_until(lambda: answers(f"{url}/healthz"), "the web server")
        yield child, url


async def visitor(url: str) -> httpx2.AsyncClient:
    """Somebody whose session and token a page has given them."""
    client = httpx2.AsyncClient(base_url=url, timeout=30)
    (await client.get("/chat/")).raise_for_status()
    client.headers.update({"X-CSRFToken": client.cookies["csrftoken"], "Origin": url})
    return client


async def ask(client: httpx2.AsyncClient, number: int, begun: list[str]) -> list[Any]:
    headers = {"Accept": "text/event-stream"}
    body, noted = "", False
    async with client.stream(
        "POST", ANSWERS, json={"question": f"How {number}?"}, headers=headers
    ) as response:
        async for text in response.aiter_text():
            body += text
            if not noted and "event: delta" in body:
                noted = True
                begun.append(json.loads(body.split("data: ", 1)[1].split("\n", 1)[0])["answer_id"])
    return verified(parsed_sse(body))


async def until(condition: Any, what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < deadline, f"waited for {what}"
        await asyncio.sleep(0.02)


@pytest.mark.usefixtures("collected_assets")
def test_sigterm_refuses_new_questions_and_lets_twenty_answers_finish() -> None:
    for _ in range(DEPLOYS):
        Answer.objects.all().delete()
        gate = threading.Event()
        with ScriptedProvider() as provider, site(provider) as (child, url):
            for _turn in range(LIVE):
                provider.reply(
                    say("Begun, "), Wait(gate), say("and ended."), finish(), usage(), DONE
                )

            async def body(url: str = url, child: Child = child, gate: Any = gate) -> list[Any]:
                client = await visitor(url)
                begun: list[str] = []
                asking = [asyncio.create_task(ask(client, n, begun)) for n in range(LIVE)]

                async def all_have_begun() -> bool:
                    return len(begun) == LIVE

                async def is_unready() -> bool:
                    return (await client.get("/readyz")).status_code == 503

                await until(all_have_begun, "the first words")
                child.signal(signal.SIGTERM)
                await until(is_unready, "the drain", seconds=UNREADY_SECONDS)
                refused = await client.post(ANSWERS, json={"question": "One more?"})
                assert (refused.status_code, refused.json()["error"]["code"]) == (
                    503,
                    "unavailable",
                )
                assert int(refused.headers["Retry-After"]) > 0
                live = (await client.get(f"{ANSWERS}{begun[0]}/")).json()
                assert live["text"].startswith("Begun,")
                gate.set()
                ended = await asyncio.gather(*asking)
                await client.aclose()
                return ended

            ended = asyncio.run(body())
            assert {events[-1]["text"] for events in ended} == {"Begun, and ended."}
            wait_until(lambda: child.exit_status() is not None, "the end of the process")
            assert child.exit_status() == 0
        stored = Answer.objects.values_list("status", "text")
        assert list(stored) == [("completed", "Begun, and ended.")] * LIVE
