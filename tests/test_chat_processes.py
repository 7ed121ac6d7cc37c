"""The chat over real sockets, on two real web processes.

SEND_ROUNDS says how often fifty sends are one; `make proof` plays a hundred rounds.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import httpx2
import pytest
from django.db.models import QuerySet
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from assistant import tasks
from assistant.database import db
from assistant.models import Answer, Conversation
from tests.processes import WebProcess, wait_until, web_process
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.site_visitors import ANSWERS, CONNECTION_LOST, Visitor, until
from tests.streams import Event, parsed_sse, verified
from tests.web_that_dies import LAST_QUESTION

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SENDS = 50
ROUNDS = int(os.environ.get("SEND_ROUNDS", "2"))
REAPER_SECONDS = 4
TRANSPORTS = ("json", "sse", "ws")


@pytest.fixture(scope="module")
def script() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def sites(collected_assets: None, script: ScriptedProvider) -> Iterator[list[str]]:
    """The URLs of two web processes."""
    with ExitStack() as stack:
        yield [stack.enter_context(web_process(**variables(script))) for _ in range(2)]


def variables(script: ScriptedProvider) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": script.url,
        "ASSISTANT_MODEL": "scripted",
        "ASSISTANT_REAPER_SECONDS": str(REAPER_SECONDS),
        "ASSISTANT_TURNS_PER_VISITOR": "1000",
        "ASSISTANT_TURNS_PER_ADDRESS": "1000",
    }


@pytest.fixture
def quick_reaper(settings: Any) -> None:
    settings.ASSISTANT_REAPER_SECONDS = REAPER_SECONDS


class Browser:
    """A visitor with a session, who may talk to either process."""

    def __init__(self, sites: list[str]) -> None:
        self.sites = sites
        self.http = httpx2.Client(timeout=30)
        self.http.get(f"{sites[0]}/chat/").raise_for_status()

    def headers(self, site: int, **more: str) -> dict[str, str]:
        token = self.http.cookies["csrftoken"]
        return {"X-CSRFToken": token, "Origin": self.sites[site], **more}

    def post(self, url: str, data: Any = None, site: int = 0, **headers: str) -> Any:
        return self.http.post(
            f"{self.sites[site]}{url}", json=data or {}, headers=self.headers(site, **headers)
        )

    def stream(self, question: str, site: int = 0, **fields: Any) -> Any:
        return self.http.stream(
            "POST",
            f"{self.sites[site]}{ANSWERS}",
            json={"question": question, **fields},
            headers=self.headers(site, Accept="text/event-stream"),
        )

    def resume(self, answer_id: str, after: int = 0, site: int = 0) -> list[Event]:
        url = f"{self.sites[site]}{ANSWERS}{answer_id}/events/?after={after}"
        return verified(parsed_sse(self.http.get(url).text), after)

    def text(self, answer_id: str, site: int = 0) -> str:
        return str(self.http.get(f"{self.sites[site]}{ANSWERS}{answer_id}/").json()["text"])

    def socket(self, site: int = 0) -> ClientConnection:
        cookie = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        address = self.sites[site].replace("http://", "ws://")
        return connect(
            f"{address}/ws/v1/chat/",
            origin=Origin(self.sites[site]),
            additional_headers={"Cookie": cookie},
        )


@pytest.fixture
def browser(sites: list[str], transactional_db: None) -> Iterator[Browser]:
    visitor = Browser(sites)
    yield visitor
    visitor.http.close()
    # A turn goes on when its visitor leaves: a test is over when its turns are.
    wait_until(lambda: not _running_turns().exists(), "the end of the turns")


def _running_turns() -> QuerySet[Answer]:
    return Answer.objects.filter(status=Answer.Status.RUNNING)


def read_until(response: Any, kind: str) -> list[Event]:
    body = ""
    for chunk in response.iter_text():
        body += chunk
        events = parsed_sse(body)
        if any(event["type"] == kind for event in events):
            return events
    raise AssertionError(f"no {kind} came")


def read_socket(socket: ClientConnection, until: str = "") -> list[Event]:
    events: list[Event] = []
    while not events or events[-1]["type"] not in ("done", "error", until):
        events.append(json.loads(socket.recv(30)))
    return events


def test_an_answer_over_a_real_socket_and_a_real_stream(
    browser: Browser, script: ScriptedProvider
) -> None:
    script.answer("Over the socket.")
    script.answer("Over the stream.")
    with browser.socket() as socket:
        socket.send(json.dumps({"type": "ask", "question": "How?", "key": "1"}))
        assert verified(read_socket(socket))[-1]["text"] == "Over the socket."
        socket.send("{")
        assert read_socket(socket)[-1]["code"] == "malformed"
    with browser.stream("How?") as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Content-Encoding" not in response.headers
        events = verified(parsed_sse(response.read().decode()))
    assert events[-1]["text"] == "Over the stream."


@pytest.mark.field_report("B37")
def test_words_arrive_one_by_one(browser: Browser, script: ScriptedProvider) -> None:
    go_on = threading.Event()
    script.reply(say("First, "), say("then"), Wait(go_on), say(" last."), finish(), usage(), DONE)
    with browser.stream("How?") as response:
        assert read_until(response, "delta")[-1]["text"].startswith("First,")
        go_on.set()


def test_sends_of_one_key_over_all_transports_to_both_processes_are_one_turn(
    browser: Browser, script: ScriptedProvider
) -> None:
    """Fifty at once. Another question under their key is refused by either process, and another
    visitor's equal key is another send."""

    async def one_round(number: int) -> None:
        asked, key = len(script.requests), f"round {number}"
        script.answer(f"Answer {number} for all.")
        async with Visitor.arriving(browser.sites[number % 2]) as visitor:
            ends = await asyncio.gather(
                *(
                    visitor.ask(TRANSPORTS[sent // 2 % 3], browser.sites[sent % 2], "How?", key=key)
                    for sent in range(SENDS)
                )
            )
            assert {end["text"] for end in ends} == {f"Answer {number} for all."}
            refused = [await visitor.ask_json(url, "Why?", key=key) for url in browser.sites]
            assert {response.status_code for response in refused} == {422}
        assert len(script.requests) == asked + 1

    for number in range(ROUNDS):
        asyncio.run(one_round(number))
        assert Answer.objects.count() == Conversation.objects.count() == number + 1
    script.answer("For somebody else.")
    assert browser.post(ANSWERS, {"question": "How?", "key": "round 0"}).status_code == 200
    assert Answer.objects.count() == ROUNDS + 1


@pytest.mark.parametrize("begun", [False, True], ids=["before the model", "in the model's hands"])
@pytest.mark.usefixtures("quick_reaper")
def test_a_process_that_is_killed_between_commit_and_reply_leaves_one_turn(
    browser: Browser, script: ScriptedProvider, begun: bool
) -> None:
    """Whoever sends again, to the other process, joins that turn: it is ended as interrupted
    within the reaper's time, no model is asked for it again, and Retry brings the answer."""
    asked = len(script.requests)
    module = "helpcenter.web" if begun else "tests.web_that_dies"
    if begun:
        script.reply(Endless())
    site = browser.sites[0]

    async def is_asked() -> bool:
        return len(script.requests) > asked

    async def body(web: WebProcess) -> list[Event]:
        async with Visitor.arriving(web.url) as visitor:
            sending = asyncio.create_task(visitor.ask_json(web.url, LAST_QUESTION, key="k"))
            if begun:
                await until(is_asked, "a call")
                web.child.kill()
            with pytest.raises(CONNECTION_LOST):
                await sending
            again = [
                asyncio.create_task(last(visitor.ask_sse(site, LAST_QUESTION, key="k"))),
                asyncio.create_task(last(visitor.ask_ws(site, LAST_QUESTION, key="k"))),
            ]
            waiting = asyncio.create_task(visitor.ask_json(site, LAST_QUESTION, key="k"))
            await until(partial(db, tasks.end_interrupted_turns), "the reaper")
            ends = await asyncio.gather(*again)
            told = await waiting
            assert (told.status_code, told.json()["error"]["code"]) == (503, "interrupted")
            assert {(end["code"], end["retryable"], end["text"]) for end in ends} == {
                ("interrupted", True, "")
            }
            assert len(script.requests) == asked + begun
            script.answer("At last.")
            retry_of = ends[0]["answer_id"]
            retried = await visitor.ask_json(site, LAST_QUESTION, key="k2", retry_of=retry_of)
            assert retried.json()["text"] == "At last."
            return ends

    with WebProcess(module, **variables(script)).running() as web:
        ends = asyncio.run(body(web))
        assert web.child.exit_status() == -signal.SIGKILL
    assert len(script.requests) == asked + begun + 1
    assert Conversation.objects.count() == 1
    stored = list(Answer.objects.order_by("turn").values_list("key", "status", "text"))
    assert stored == [("k", "interrupted", ""), ("k2", "completed", "At last.")]
    assert {end["answer_id"] for end in ends} == {str(Answer.objects.get(key="k").pk)}


async def last(events: Any) -> Event:
    return verified([event async for event in events])[-1]


def test_the_other_process_follows_resumes_and_stops(
    browser: Browser, script: ScriptedProvider
) -> None:
    script.reply(say("Begun, "), say("and"), Endless())
    with browser.stream("How?", site=0) as response:
        seen = read_until(response, "delta")
        answer_id = seen[0]["answer_id"]
        with browser.socket(site=1) as socket:
            frame = {"type": "resume", "answer_id": answer_id, "after": 1}
            socket.send(json.dumps(frame))
            assert read_socket(socket, "delta")[-1] == seen[-1]
            stopped = browser.post(f"{ANSWERS}{answer_id}/stop/", site=1).json()
            assert stopped["status"] == "stopped"
            assert read_socket(socket)[-1]["status"] == "stopped"
    assert script.requests[-1].closed_by_client.wait(1)
    assert browser.resume(answer_id, site=1)[-1]["text"] == stopped["text"]


@pytest.mark.usefixtures("quick_reaper")
@pytest.mark.field_report("B32")
def test_a_process_that_is_killed_strands_nobody(
    browser: Browser, script: ScriptedProvider
) -> None:
    script.reply(say("Begun, "), say("and"), Endless())
    with WebProcess(**variables(script)).running() as web:
        browser.sites = [*browser.sites, web.url]
        with browser.stream("How?", site=2) as response:
            seen = read_until(response, "delta")
            answer_id = seen[0]["answer_id"]
            wait_until(lambda: browser.text(answer_id, site=1).startswith("Begun,"), "the log")
            web.child.kill()
        wait_until(tasks.end_interrupted_turns, "the reaper")
        events = browser.resume(answer_id, site=1)
        assert (events[-1]["code"], events[-1]["retryable"]) == ("interrupted", True)
        assert events[-1]["text"].startswith("Begun,")
        address = f"/api/v1/conversations/{seen[0]['conversation_id']}/"
        [stored] = browser.http.get(f"{browser.sites[1]}{address}").json()["turns"]
        assert (stored["status"], stored["error"]["retryable"]) == ("interrupted", True)
        script.answer("The whole answer.")
        with browser.stream("How?", site=1, retry_of=answer_id) as response:
            again = verified(parsed_sse(response.read().decode()))
        assert again[-1]["text"] == "The whole answer."
        assert again[0]["conversation_id"] == seen[0]["conversation_id"]
