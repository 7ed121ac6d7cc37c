"""A web process that is told to end while twenty answers are under way strands nobody.

DEPLOYS says how often; `make proof` ends twenty processes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from assistant.models import Answer
from tests.processes import WebProcess, wait_until
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage
from tests.site_visitors import ANSWERS, Visitor, until
from tests.streams import Event, verified

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.django_db(transaction=True)]

DEPLOYS = int(os.environ.get("DEPLOYS", "1"))
LIVE = 20
UNREADY_SECONDS = 1 if DEPLOYS > 1 else 3
"""One second is promised, and `make proof` holds it, alone on the machine. Beside other tests the
machine may stand still for longer."""


def site(provider: ScriptedProvider) -> WebProcess:
    return WebProcess(
        OPENAI_BASE_URL=provider.url,
        ASSISTANT_MODEL="scripted",
        ASSISTANT_TURNS_PER_VISITOR="1000",
        ASSISTANT_TURNS_PER_ADDRESS="1000",
    )


async def ask(visitor: Visitor, url: str, number: int, begun: list[str]) -> list[Event]:
    events: list[Event] = []
    async for event in visitor.ask_sse(url, f"How {number}?"):
        events.append(event)
        if event["type"] == "delta" and event["answer_id"] not in begun:
            begun.append(event["answer_id"])
    return verified(events)


async def deployed(web: WebProcess, gate: threading.Event) -> list[list[Event]]:
    """Twenty answers while their process is told to end."""
    begun: list[str] = []
    async with Visitor.arriving(web.url) as visitor:
        asking = [asyncio.create_task(ask(visitor, web.url, n, begun)) for n in range(LIVE)]

        async def all_have_begun() -> bool:
            return len(begun) == LIVE

        async def is_unready() -> bool:
            return (await visitor.get(web.url, "/readyz")).status_code == 503

        await until(all_have_begun, "the first words")
        web.child.signal(signal.SIGTERM)
        await until(is_unready, "the drain", seconds=UNREADY_SECONDS)
        refused = await visitor.ask_json(web.url, "One more?")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
        assert int(refused.headers["Retry-After"]) > 0
        live = (await visitor.get(web.url, f"{ANSWERS}{begun[0]}/")).json()
        assert live["text"].startswith("Begun,")
        gate.set()
        return await asyncio.gather(*asking)


@pytest.mark.usefixtures("collected_assets")
def test_sigterm_refuses_new_questions_and_lets_twenty_answers_finish() -> None:
    for _ in range(DEPLOYS):
        Answer.objects.all().delete()
        gate = threading.Event()
        with ScriptedProvider() as provider, site(provider).running() as web:
            for _turn in range(LIVE):
                provider.reply(
                    say("Begun, "), Wait(gate), say("and ended."), finish(), usage(), DONE
                )

            ended = asyncio.run(deployed(web, gate))
            assert {events[-1]["text"] for events in ended} == {"Begun, and ended."}
            wait_until(lambda: web.child.exit_status() is not None, "the end of the process")
            assert web.child.exit_status() == 0
        stored = Answer.objects.values_list("status", "text")
        assert list(stored) == [("completed", "Begun, and ended.")] * LIVE
