"""A visitor of real web processes: over real sockets, on every transport, to any of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from tests.streams import Event, parsed_sse

ANSWERS = "/api/v1/answers/"
PATIENCE = 60.0
CONNECTION_LOST = (httpx2.TransportError, WebSocketException, OSError)
"""What a client is told whose server has gone."""

Events = AsyncGenerator[Event, None]


async def until(
    condition: Callable[[], Awaitable[object]], what: str, seconds: float = PATIENCE
) -> None:
    """Returns as soon as `condition` gives something true; fails, naming `what` was waited for."""
    deadline = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < deadline, f"waited for {what}"
        await asyncio.sleep(0.02)


class RefusedError(Exception):
    """The site has answered with an error in place of events."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(f"{response.status_code}: {response.text[:200]}")
        self.response = response


class Visitor:
    """Somebody whose session and token a page of the site has given them. `url`: of the process
    that is talked to."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    @classmethod
    @asynccontextmanager
    async def arriving(cls, url: str) -> AsyncGenerator[Self, None]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http:
            (await http.get(f"{url}/chat/")).raise_for_status()
            yield cls(http)

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())

    def headers(self, url: str, **more: str) -> dict[str, str]:
        return {"X-CSRFToken": self.http.cookies["csrftoken"], "Origin": url, **more}

    async def get(self, url: str, path: str) -> httpx2.Response:
        return await self.http.get(f"{url}{path}")

    async def post(self, url: str, path: str, data: Any = None) -> httpx2.Response:
        return await self.http.post(f"{url}{path}", json=data or {}, headers=self.headers(url))

    async def ask_json(self, url: str, question: str, **fields: Any) -> httpx2.Response:
        return await self.post(url, ANSWERS, {"question": question, **fields})

    def ask_sse(self, url: str, question: str, **fields: Any) -> Events:
        headers = self.headers(url, Accept="text/event-stream")
        return self._sse("POST", f"{url}{ANSWERS}", headers, {"question": question, **fields})

    def ask_ws(self, url: str, question: str, **fields: Any) -> Events:
        return self._ws(url, {"type": "ask", "question": question, **fields})

    def resume_sse(self, url: str, answer_id: str, after: int = 0) -> Events:
        path = f"{ANSWERS}{answer_id}/events/?after={after}"
        return self._sse("GET", f"{url}{path}", self.headers(url))

    def resume_ws(self, url: str, answer_id: str, after: int = 0) -> Events:
        return self._ws(url, {"type": "resume", "answer_id": answer_id, "after": after})

    async def ask(self, transport: str, url: str, question: str, **fields: Any) -> Event:
        """The end of an answer over `json`, `sse` or `ws`: the last event, or the answer."""
        if transport == "json":
            response = await self.ask_json(url, question, **fields)
            if response.status_code != 200:
                raise RefusedError(response)
            return dict(response.json())
        ask = self.ask_sse if transport == "sse" else self.ask_ws
        return [event async for event in ask(url, question, **fields)][-1]

    def socket(self, url: str) -> connect:
        address = url.replace("http://", "ws://")
        headers = {"Cookie": self.cookie}
        return connect(
            f"{address}/ws/v1/chat/", origin=Origin(url), additional_headers=headers, proxy=None
        )

    async def _sse(
        self, method: str, url: str, headers: dict[str, str], body: Any = None
    ) -> Events:
        """The events up to the end of the response, which may come early. Raises `RefusedError`,
        and what `CONNECTION_LOST` names. None where there is nothing more to tell."""
        async with self.http.stream(method, url, json=body, headers=headers) as response:
            if response.status_code not in (200, 204):
                await response.aread()
                raise RefusedError(response)
            rest = ""
            async for text in response.aiter_text():
                *blocks, rest = (rest + text).split("\n\n")
                for event in parsed_sse("\n\n".join(blocks)):
                    yield event

    async def _ws(self, url: str, frame: Any) -> Events:
        """The events up to the end of the answer. A refusal is an event without a number."""
        async with self.socket(url) as socket:
            await socket.send(json.dumps(frame))
            while True:
                event = await _received(socket)
                yield event
                if event["type"] in ("done", "error"):
                    return


async def _received(socket: ClientConnection) -> Event:
    return dict(json.loads(await socket.recv()))
