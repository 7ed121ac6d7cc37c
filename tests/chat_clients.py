"""Clients of the chat over its three transports, and the loop that tests of turns run in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.test import AsyncClient

from articles.access import ANONYMOUS
from assistant import chat
from assistant.eventlog import EventLog, log
from assistant.frames import Encoder
from assistant.models import Answer
from assistant.turns import live
from assistant.turns.live import LiveTurns
from helpcenter.asgi import application
from tests.streams import Event, parsed_sse, verified

PATIENCE = 30.0
ANSWERS = "/api/v1/answers/"


def in_loop(body: Callable[[], Awaitable[None]], seconds: float = PATIENCE) -> None:
    """Runs an async body as tests that touch the database must; turns end before it does."""

    async def whole() -> None:
        try:
            await asyncio.wait_for(body(), seconds)
        finally:
            await asyncio.wait_for(LiveTurns.current().wait(), PATIENCE)

    async_to_sync(whole)()


async def until(condition: Callable[[], object], what: str = "something") -> None:
    """Waits for a condition that has no event of its own."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110, there is no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"waited for {what}") from None


@asynccontextmanager
async def other_process() -> AsyncGenerator[EventLog, None]:
    """Inside, code runs as in a process that shares nothing with this one but the servers."""
    loop = asyncio.get_running_loop()
    here, turns, there = EventLog.current(), LiveTurns.current(), EventLog()
    log._logs[loop], live._live[loop] = there, LiveTurns()
    try:
        yield there
    finally:
        await there.aclose()
        log._logs[loop], live._live[loop] = here, turns


async def follow(answer: Answer, after: int = 0, *, html: bool = False) -> list[Event]:
    """The events of an answer as the door gives them to a reader of public articles."""
    encoder = Encoder(answer.pk, answer.conversation_id)
    batches = chat.events(answer.pk, ANONYMOUS, after=after, html=html)
    return [json.loads(encoder.json(entry)) async for batch in batches for entry in batch]


class Person:
    """Somebody with a browser: a session that the chat page issued, and its CSRF token."""

    def __init__(self, http: AsyncClient) -> None:
        self.http = http

    @classmethod
    async def visitor(cls) -> Person:
        person = cls(AsyncClient(enforce_csrf_checks=True))
        await person.open_page()
        return person

    @classmethod
    async def signed_in(cls, user: User) -> Person:
        person = cls(AsyncClient(enforce_csrf_checks=True))
        await sync_to_async(person.http.force_login)(user)
        await person.open_page()
        return person

    async def open_page(self) -> None:
        response = await self.http.get("/chat/")
        assert response.status_code == 200

    @property
    def cookies(self) -> SimpleCookie:
        return self.http.cookies

    def headers(self, **more: str) -> dict[str, str]:
        token = self.cookies["csrftoken"].value if "csrftoken" in self.cookies else ""
        return {"X-CSRFToken": token, **more}

    async def post(self, url: str, data: Any = None, **headers: str) -> Any:
        body = data if isinstance(data, bytes | str) else json.dumps({} if data is None else data)
        return await self.http.post(
            url, body, content_type="application/json", headers=self.headers(**headers)
        )

    async def get(self, url: str, **headers: str) -> Any:
        return await self.http.get(url, headers=headers)

    async def delete(self, url: str) -> Any:
        return await self.http.delete(url, headers=self.headers())

    # One question over each transport

    async def ask_json(self, question: str, **fields: Any) -> Any:
        return await self.post(ANSWERS, {"question": question, **fields})

    async def ask_sse(self, question: str, *, html: bool = False, **fields: Any) -> list[Event]:
        response = await self.open_sse(question, html=html, **fields)
        return verified(await read_sse(response))

    async def open_sse(self, question: str, *, html: bool = False, **fields: Any) -> Any:
        url = f"{ANSWERS}?render=html" if html else ANSWERS
        body = {"question": question, **fields}
        response = await self.post(url, body, Accept="text/event-stream")
        assert response.status_code == 200, response.content
        return response

    async def resume_sse(
        self, answer_id: str, after: int = 0, *, html: bool = False
    ) -> list[Event]:
        query = f"?after={after}" + ("&render=html" if html else "")
        response = await self.get(f"{ANSWERS}{answer_id}/events/{query}")
        assert response.status_code == 200
        return verified(await read_sse(response), after)

    async def ask_ws(self, question: str, **fields: Any) -> list[Event]:
        async with self.socket() as socket:
            await socket.send({"type": "ask", "question": question, **fields})
            return verified(await socket.read_answer())

    @asynccontextmanager
    async def socket(self, origin: str = "http://testserver") -> AsyncGenerator[Socket, None]:
        socket = Socket(self.cookies, origin)
        assert await socket.connect()
        try:
            yield socket
        finally:
            await socket.close()


async def read_sse(response: Any, until_type: str = "") -> list[Event]:
    """The events of a response: all, or up to the first of a type, the connection then cut."""
    body = ""
    chunks = aiter(response)
    async for chunk in chunks:
        body += chunk.decode()
        events = parsed_sse(body)
        if until_type and any(event["type"] == until_type for event in events):
            await chunks.aclose()
            break
    response.close()
    return parsed_sse(body)


class Socket:
    """A WebSocket of the chat, in this process. Made by hand: the one that Channels has for
    tests wants another server installed."""

    def __init__(
        self,
        cookies: SimpleCookie,
        origin: str | None = "http://testserver",
        path: str = "/ws/v1/chat/",
    ) -> None:
        cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items())
        headers = [(b"host", b"testserver"), (b"cookie", cookie.encode())]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 50000),
            "subprotocols": [],
        }
        communicator: Any = ApplicationCommunicator
        self._app = communicator(application, scope)

    async def connect(self) -> bool:
        await self._app.send_input({"type": "websocket.connect"})
        answer = await self._app.receive_output(PATIENCE)
        return bool(answer["type"] == "websocket.accept")

    async def send(self, frame: Any) -> None:
        text = frame if isinstance(frame, str) else json.dumps(frame)
        await self._app.send_input({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        await self._app.send_input({"type": "websocket.receive", "bytes": data})

    async def receive(self) -> Event:
        message = await self._app.receive_output(PATIENCE)
        assert message["type"] == "websocket.send", message
        return dict(json.loads(message["text"]))

    async def read_answer(self, until_type: str = "") -> list[Event]:
        """The next events, to the end of an answer or the first of a type."""
        events: list[Event] = []
        while not events or events[-1]["type"] not in ("done", "error", until_type):
            events.append(await self.receive())
        return events

    async def close(self) -> None:
        await self._app.send_input({"type": "websocket.disconnect", "code": 1001})
        await self._app.wait(PATIENCE)
