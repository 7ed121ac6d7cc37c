"""Requests are bounded where they come in: headers, bodies and frames."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from uvicorn.server import ServerState
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from helpcenter.sizes import (
    LARGER_BODIES,
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    BoundedBodies,
    BoundedHttp,
)


class Site:
    """Reads a body as Django does, then answers with its length."""

    def __init__(self) -> None:
        self.read = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            self.read += len(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


def sent(path: str, *pieces: bytes, announced: int | None = None) -> tuple[int, bytes, int]:
    """Status and body of the answer, and how much of the request the site has read."""
    site, answer = Site(), list[Any]()
    waiting = [
        {"type": "http.request", "body": piece, "more_body": number < len(pieces) - 1}
        for number, piece in enumerate(pieces)
    ]

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        answer.append(message)

    headers = [] if announced is None else [(b"content-length", str(announced).encode())]
    scope = {"type": "http", "path": path, "headers": headers}
    async_to_sync(BoundedBodies(site))(scope, receive, send)
    assert len(answer) == 2
    return answer[0]["status"], answer[1]["body"], site.read


CASES = [
    ("/api/v1/answers/", MAX_BODY_BYTES),
    ("/sign-in/", MAX_BODY_BYTES),
    ("/admin", MAX_BODY_BYTES),
    ("/admin/articles/article/add/", LARGER_BODIES["/admin/"]),
    ("/api/v1/manage/articles/", LARGER_BODIES["/api/v1/manage/"]),
]


@pytest.mark.parametrize(("path", "most"), CASES)
def test_a_body_may_be_so_large_by_its_path(path: str, most: int) -> None:
    whole = b"x" * most
    assert sent(path, whole, announced=most) == (200, b"ok", most)
    status, _body, read = sent(path, whole, announced=most + 1)
    assert (status, read) == (413, 0), "nothing of it is read"
    status, _body, read = sent(path, whole, b"x", b"never read")
    assert (status, read) == (413, most), "one that does not say how large it is ends there"


def test_the_refusal_has_the_shape_of_where_it_is_given() -> None:
    _status, body, _read = sent("/api/v1/answers/", b"", announced=10**12)
    assert json.loads(body)["error"]["code"] == "too_large"
    _status, body, _read = sent("/sign-in/", b"", announced=10**12)
    assert body == b"The request is too large.\n"


@pytest.mark.parametrize("length", ["-1", "x", "9" * 400, ""])
def test_a_length_that_is_none_is_the_servers_to_refuse(length: str) -> None:
    assert sent("/x", b"ok", announced=length)[0] == 200  # type: ignore[arg-type]


# Headers


class Wire(asyncio.Transport):
    """What a connection's protocol writes to; keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.is_closed = b"", False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def statuses(*pieces: bytes) -> list[bytes]:
    """What a connection answers that receives these pieces, one after the other."""

    async def body() -> bytes:
        config = uvicorn.Config(Site(), lifespan="off", log_config=None, access_log=False)
        config.load()
        protocol = BoundedHttp(config, ServerState(), {})
        wire = Wire()
        protocol.connection_made(wire)
        for piece in pieces:
            if not wire.is_closed:
                protocol.data_received(piece)
                for _ in range(5):
                    await asyncio.sleep(0)  # the site reads and answers
        protocol.connection_lost(None)
        return wire.written

    return re.findall(rb"HTTP/1\.1 (\d+)", asyncio.run(body()))


HEAD = b"POST /api/v1/manage/documents/a/ HTTP/1.1\r\nHost: a\r\n"


def post(size: int) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % size + b"x" * size


@pytest.mark.parametrize("size", [1000, MAX_HEAD_BYTES, 200_000])
def test_a_body_is_no_header_however_it_arrives(size: int) -> None:
    request = post(size)
    assert statuses(request) == [b"200"], "in one piece"
    middle = request.index(b"\r\n\r\n") + 4
    assert statuses(request[:middle] + request[middle:]) == [b"200"]
    pieces = [request[:20], request[20:middle], request[middle:-5], request[-5:]]
    assert statuses(*(piece for piece in pieces if piece)) == [b"200"]


def test_a_body_does_not_count_for_the_next_request_of_its_connection() -> None:
    more = HEAD + b"X-Fine: " + b"x" * 8000 + b"\r\n"
    end = b"Content-Length: 0\r\n\r\n"
    assert statuses(post(60_000), more, end, post(60_000), more, end) == [b"200"] * 4


def test_headers_that_are_too_large_end_the_connection_however_they_arrive() -> None:
    line = b"X-More: " + b"x" * 1000 + b"\r\n"
    many = MAX_HEAD_BYTES // len(line) + 1
    end = b"Content-Length: 0\r\n\r\n"
    assert statuses(HEAD + line * many + end) == [b"400"], "in one piece"
    assert statuses(HEAD, *[line] * 1000) == [b"400"], "without an end"
    assert statuses(HEAD, b"X-Long: ", *[b"x" * 1000] * 1000) == [b"400"], "in one line"
    assert statuses(post(10), HEAD, *[line] * 1000) == [b"200", b"400"], "of a later request"
    assert statuses(HEAD + line * (many - 2) + end) == [b"200"]


# The real server


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_web_process_bounds_headers_bodies_and_frames(live_site: str, owner: User) -> None:
    netloc = urlsplit(live_site).netloc
    host, port = netloc.split(":")

    def answer_to(*pieces: bytes) -> bytes:
        """What comes back before the connection ends. Whether it takes all does not matter."""
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            try:
                for piece in pieces:
                    connection.sendall(piece)
                return connection.recv(1000)
            except ConnectionError:
                return b"reset"

    start = f"GET / HTTP/1.1\r\nHost: {netloc}\r\n".encode()
    endless = [start, *[b"X-More: " + b"x" * 1000 + b"\r\n"] * 1000]
    assert answer_to(*endless)[:12] in (b"HTTP/1.1 400", b"reset")
    assert answer_to(start, b"X-Long: ", *[b"x" * 1000] * 1000)[:12] in (b"HTTP/1.1 400", b"reset")
    assert answer_to(start, b"X-Fine: " + b"x" * 8000, b"\r\n\r\n").startswith(b"HTTP/1.1 200")
    post = f"POST /api/v1/answers/ HTTP/1.1\r\nHost: {netloc}\r\nContent-Length: ".encode()
    assert answer_to(post, b"99999999999\r\n\r\n").startswith(b"HTTP/1.1 413")
    connection = http.client.HTTPConnection(netloc, timeout=10)
    for _ in range(2):
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b'{"status": "ok"}')
    connection.close()

    client = Client()
    client.force_login(owner)
    cookie = f"sessionid={client.cookies['sessionid'].value}"

    async def too_large_a_frame() -> int:
        headers = {"Cookie": cookie, "Origin": live_site}
        url = f"ws://{netloc}/ws/v1/chat/"
        async with connect(url, additional_headers=headers) as chat:
            await chat.send("x" * 60_000)
            assert json.loads(await chat.recv())["code"] == "malformed"
            await chat.send("x" * 70_000)
            with pytest.raises(ConnectionClosed) as closed:
                await chat.recv()
            assert closed.value.rcvd is not None
            return closed.value.rcvd.code

    assert asyncio.run(too_large_a_frame()) == 1009
