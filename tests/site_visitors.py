"""A visitor of real web processes: over real sockets, on every transport, to any of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Self

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from tests.streams import Event, parsed_sse

ANSWERS = "/api/v1/answers/"
PATIENCE = 60.0
AGAIN_SECONDS = 0.05
LAST_TYPES = ("done", "error")
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
    """The site has refused what was asked of it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


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
        """What an answer over `json`, `sse` or `ws` ends with: the last event that came, or the
        answer. Raises what `CONNECTION_LOST` names, and `RefusedError`."""
        if transport == "json":
            response = await self.ask_json(url, question, **fields)
            if response.status_code != 200 and "Content-Location" not in response.headers:
                raise _refusal(response)
            told = response.json()
            return (
                {"type": "error", **told["error"]} if "error" in told else {"type": "done", **told}
            )
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
                raise _refusal(response)
            rest = ""
            async for text in response.aiter_text():
                *blocks, rest = (rest + text).split("\n\n")
                for event in parsed_sse("\n\n".join(blocks)):
                    yield event

    async def _ws(self, url: str, frame: Any) -> Events:
        """The events up to the end of the answer. Raises like `_sse`."""
        async with self.socket(url) as socket:
            await socket.send(json.dumps(frame))
            while True:
                event = json.loads(await socket.recv())
                if "seq" not in event:
                    raise RefusedError(event["code"])
                yield event
                if event["type"] in LAST_TYPES:
                    return


def _refusal(response: httpx2.Response) -> RefusedError:
    return RefusedError(response.json()["error"]["code"])


class Viewer:
    """Follows an answer until it has the end: whose connection breaks, or is cut, comes again and
    asks for what follows. `follow`: the events after a cursor, from whichever process."""

    def __init__(self, follow: Callable[[int], Events], after: int = 0) -> None:
        self.after = after
        self.told: list[Event] = []
        self._follow = follow
        self._connection: asyncio.Task[None] | None = None

    @property
    def has_end(self) -> bool:
        return bool(self.told) and self.told[-1]["type"] in LAST_TYPES

    def cut(self) -> None:
        if self._connection is not None:
            self._connection.cancel()

    async def run(self) -> Self:
        """Returns with the end, or where there is nothing after the cursor."""
        while not self.has_end:
            self._connection = asyncio.create_task(self._connected())
            await asyncio.wait({self._connection})
            if not self._connection.cancelled() and not self._is_lost(self._connection):
                break
            await asyncio.sleep(AGAIN_SECONDS)
        return self

    async def _connected(self) -> None:
        after = self.told[-1]["seq"] if self.told else self.after
        async with aclosing(self._follow(after)) as events:
            async for event in events:
                self.told.append(event)

    @staticmethod
    def _is_lost(connection: asyncio.Task[None]) -> bool:
        error = connection.exception()
        if error is not None and not may_come_again(error):
            raise error
        return error is not None


def may_come_again(error: BaseException) -> bool:
    """Whether this is nothing but a server that has gone, or is about to."""
    is_refused = isinstance(error, RefusedError) and error.code == "unavailable"
    return is_refused or isinstance(error, CONNECTION_LOST)
