"""How large a request may be, looked at before anything of it is kept.

uvicorn's parser takes headers without end, and Django writes the whole of a body to disk before a
view can say what it thinks of it. So both are bounded where they come in.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from helpcenter.request_ids import Application, Receive, Send

Message = MutableMapping[str, Any]

MAX_HEAD_BYTES = 64 * 1024
"""Of a request's first line and headers together."""

MAX_BODY_BYTES = 128 * 1024
"""Of whatever strangers may send: questions, votes, searches, the form to sign in."""

LARGER_BODIES = {"/admin/": 16 * 1024 * 1024, "/api/v1/manage/": 9 * 1024 * 1024}
"""Where staff and their programs send articles and pictures. What is beyond a view's own limit and
within these is refused by the view."""

_TOO_LARGE = "The request is too large."


class BoundedHttp(HttpToolsProtocol):
    """Ends a connection whose headers do not end."""

    _head_bytes = 0
    _is_in_head = True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.send_400_response("The headers are too large.")

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_complete()


class BoundedBodies:
    """ASGI middleware: answers 413 to a body that says that it is too large, or turns out to be."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        most, is_answered = _most(scope["path"]), False
        if _announced(scope) > most:
            await _refuse(scope, send)
            return
        received = 0

        async def bounded_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise _BodyTooLargeError
            return message

        async def noted_send(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            await self._application(scope, bounded_receive, noted_send)
        except _BodyTooLargeError:
            if not is_answered:
                await _refuse(scope, send)


class _BodyTooLargeError(Exception):
    """More came than may."""


def _most(path: str) -> int:
    found = (most for beginning, most in LARGER_BODIES.items() if path.startswith(beginning))
    return next(found, MAX_BODY_BYTES)


def _announced(scope: Message) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 20 else 0


async def _refuse(scope: Message, send: Send) -> None:
    """In the API's shape there, and in words elsewhere. The rest of the body is not read."""
    if scope["path"].startswith("/api/"):
        error = {"code": "too_large", "message": _TOO_LARGE}
        kind, body = b"application/json", json.dumps({"error": error}).encode()
    else:
        kind, body = b"text/plain; charset=utf-8", f"{_TOO_LARGE}\n".encode()
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
