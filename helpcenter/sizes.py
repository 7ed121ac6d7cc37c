"""How large a request may be, looked at before anything of it is kept.

uvicorn's parser takes headers without end, and Django writes the whole of a body to disk before a
view can say what it thinks of it. So both are bounded where they come in.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, MutableMapping
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
_HEAD_TOO_LARGE = "The headers are too large."


class BoundedHttp(HttpToolsProtocol):
    """Ends a connection whose headers are too large, or do not end."""

    _unended_bytes = 0
    _is_in_head = True
    _has_ended_a_head = False

    def data_received(self, data: bytes) -> None:
        began_in_head, self._has_ended_a_head = self._is_in_head, False
        super().data_received(data)
        # A piece in which headers ended is no measure of them: most of it may be a body.
        if began_in_head and not self._has_ended_a_head and not self.transport.is_closing():
            self._unended_bytes += len(data)
            if self._unended_bytes > MAX_HEAD_BYTES:
                self.send_400_response(_HEAD_TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._is_in_head, self._has_ended_a_head, self._unended_bytes = False, True, 0
        # Each line has a colon, a space and its end.
        lines = sum(len(name) + len(value) + 4 for name, value in self.headers)
        if len(self.url) + lines > MAX_HEAD_BYTES:
            raise _HeadTooLargeError  # the parser stops, and the connection is answered 400
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
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

        def noted_send(message: Message) -> Awaitable[None]:
            nonlocal is_answered
            is_answered = True
            return send(message)

        try:
            await self._application(scope, bounded_receive, noted_send)
        except _BodyTooLargeError:
            if not is_answered:
                await _refuse(scope, send)


class _HeadTooLargeError(Exception):
    """More headers came than may."""


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
