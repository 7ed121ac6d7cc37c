"""The chat over real sockets, on two real web processes."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from django.db.models import QuerySet
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from assistant import tasks
from assistant.models import Answer
from tests.processes import wait_until, web_process
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.streams import Event, parsed_sse, verified

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ANSWERS = "/api/v1/answers/"


@pytest.fixture(scope="module")
def script() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def sites(collected_assets: None, script: ScriptedProvider) -> Iterator[list[str]]:
    """The URLs of two web processes."""
    variables = {
        "OPENAI_BASE_URL": script.url,
        "ASSISTANT_MODEL": "scripted",
        "ASSISTANT_REAPER_SECONDS": "2",
        "ASSISTANT_TURNS_PER_VISITOR": "1000",
        "ASSISTANT_TURNS_PER_ADDRESS": "1000",
    }
    with ExitStack() as stack:
        yield [stack.enter_context(web_process(**variables)) for _ in range(2)]


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


def test_words_arrive_one_by_one(browser: Browser, script: ScriptedProvider) -> None:
    go_on = threading.Event()
    script.reply(say("First, "), say("then"), Wait(go_on), say(" last."), finish(), usage(), DONE)
    with browser.stream("How?") as response:
        assert read_until(response, "delta")[-1]["text"].startswith("First,")
        go_on.set()


def test_sends_of_one_key_to_both_processes_are_one_turn(
    browser: Browser, script: ScriptedProvider
) -> None:
    asked = len(script.requests)
    script.answer("Once.")
    texts: list[str] = []

    def send(site: int) -> None:
        with httpx2.Client(timeout=30, cookies=browser.http.cookies) as http:
            response = http.post(
                f"{browser.sites[site]}{ANSWERS}",
                json={"question": "How?", "key": "same"},
                headers=browser.headers(site),
            )
            texts.append(response.json()["text"])

    threads = [threading.Thread(target=send, args=[number % 2]) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert texts == ["Once."] * 10
    assert Answer.objects.count() == 1
    assert len(script.requests) == asked + 1


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


def test_a_process_that_is_killed_strands_nobody(
    browser: Browser, script: ScriptedProvider, collected_assets: None
) -> None:
    script.reply(say("Begun, "), say("and"), Endless())
    variables = {
        "OPENAI_BASE_URL": script.url,
        "ASSISTANT_MODEL": "scripted",
        "ASSISTANT_REAPER_SECONDS": "2",
    }
    with ExitStack() as stack:
        url = stack.enter_context(web_process(**variables))
        browser.sites = [*browser.sites, url]
        with browser.stream("How?", site=2) as response:
            seen = read_until(response, "delta")
            answer_id = seen[0]["answer_id"]
            wait_until(lambda: browser.text(answer_id, site=1).startswith("Begun,"), "the log")
            _kill(url)
        wait_until(tasks.end_interrupted_turns, "the reaper")
        events = browser.resume(answer_id, site=1)
        assert (events[-1]["code"], events[-1]["retryable"]) == ("interrupted", True)
        assert events[-1]["text"].startswith("Begun,")
        script.answer("The whole answer.")
        with browser.stream("How?", site=1, retry_of=answer_id) as response:
            again = verified(parsed_sse(response.read().decode()))
        assert again[-1]["text"] == "The whole answer."
        assert again[0]["conversation_id"] == seen[0]["conversation_id"]


def _kill(url: str) -> None:
    import psutil

    port = int(url.rsplit(":", 1)[1])
    for process in psutil.Process().children(recursive=True):
        if any(c.laddr and c.laddr.port == port for c in process.net_connections()):
            process.send_signal(signal.SIGKILL)
            process.wait(10)
            return
    raise AssertionError("the process was not found")
