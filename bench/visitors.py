"""Visitors of a running site that cost little: bare sockets, one process for hundreds of them.

Each asks by server-sent events and notes when the events came. Times are of the machine's
monotonic clock, so they can be compared with those that `bench.paced_provider` writes.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.paced_provider import MARK

_MARKED = re.compile(rf"{MARK}(\d+\.\d+)")
_COOKIE = re.compile(r"^set-cookie: (\w+)=([^;]+)", re.IGNORECASE | re.MULTILINE)


@dataclass
class Heard:
    """What one visitor heard: seconds from the send to the first event and to the first word,
    how late each word was (from the provider's write to here), the time between one piece of the
    text and the next (both with the moment of its arrival before it), and how the answer ended."""

    first_event: float = 0.0
    first_word: float = 0.0
    lateness: list[tuple[float, float]] = field(default_factory=list)
    gaps: list[tuple[float, float]] = field(default_factory=list)
    end: str = ""


class Visitor:
    """Somebody with a session on the site at `url`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._origin = url
        self._address = (parts.hostname or "", parts.port or 80)
        self._cookies: dict[str, str] = {}

    async def arrive(self) -> None:
        """Opens the chat page, which gives the cookies that a send needs."""
        await self.fetch("/chat/")

    async def fetch(self, path: str) -> float:
        """Fetches a page. Returns the seconds it took; raises where it is no 200."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection(*self._address)
        writer.write(self._request("GET", path, {"Connection": "close"}))
        response = await reader.read()
        writer.close()
        head = response.partition(b"\r\n\r\n")[0].decode()
        if " 200 " not in head.split("\r\n")[0]:
            raise RuntimeError(f"{path}: {head.splitlines()[0]}")
        self._cookies |= dict(_COOKIE.findall(head.replace("\r\n", "\n")))
        return time.monotonic() - began

    async def listen(self) -> asyncio.StreamWriter:
        """Opens a socket of the chat and leaves it open."""
        reader, writer = await asyncio.open_connection(*self._address)
        headers = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Origin": self._origin,
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        writer.write(self._request("GET", "/ws/v1/chat/", headers))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            raise RuntimeError(head.decode().splitlines()[0])
        return writer

    async def ask(self, question: str, *, html: bool = False) -> Heard:
        """Asks, and listens to the end of the answer."""
        heard, newest, last = Heard(), 0.0, 0.0
        sent = time.monotonic()
        reader, writer = await asyncio.open_connection(*self._address)
        body = json.dumps({"question": question}).encode()
        headers = {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Origin": self._origin,
            "X-CSRFToken": self._cookies["csrftoken"],
            "Connection": "close",
        }
        path = f"/api/v1/answers/{'?render=html' if html else ''}"
        writer.write(self._request("POST", path, headers) + body)
        while line := await reader.readline():
            if line.startswith(b"event: "):
                kind = line[7:].strip().decode()
                heard.first_event = heard.first_event or time.monotonic() - sent
            elif line.startswith(b"data: ") and kind in ("delta", "html"):
                now = time.monotonic()
                heard.first_word = heard.first_word or now - sent
                heard.gaps += [(now, now - last)] if last else []
                last = now
                # Rendered blocks repeat the words that were there already.
                for written in map(float, _MARKED.findall(line.decode())):
                    if written > newest:
                        newest = written
                        heard.lateness.append((now, now - written))
            elif line.startswith(b"data: ") and kind in ("done", "error"):
                heard.end = json.loads(line[6:]).get("status", kind)
            elif line.startswith(b"HTTP/") and b" 200 " not in line:
                raise RuntimeError(line.decode().strip())
        writer.close()
        return heard

    def _request(self, method: str, path: str, headers: dict[str, str]) -> bytes:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        host = f"{self._address[0]}:{self._address[1]}"
        lines = {"Host": host, **({"Cookie": cookies} if cookies else {}), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode()
