"""Each request and socket has an id: in the header `X-Request-ID` of its response, and as
`request_id` in every log line that is written on its behalf.

A proxy in front may have given it one already, which then stands in the proxy's log as well. Its
id is taken where the proxy is trusted and the id is well formed; any other is made here. So this
has to stand where the connection's own address is still to be seen, outside of what replaces it
by the visitor's.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable, Container, MutableMapping
from typing import Any

from helpcenter import logs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

HEADER = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class RequestIds:
    """ASGI middleware. `proxies` holds the addresses of those whose ids are taken."""

    def __init__(self, application: Application, proxies: Container[str]) -> None:
        self._application = application
        self._proxies = proxies

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        given = self._given(scope)
        request_id = given.decode() if given else uuid.uuid4().hex

        def send_with_id(message: Message) -> Awaitable[None]:
            if message["type"] in ("http.response.start", "websocket.accept"):
                own = [pair for pair in message.get("headers", ()) if pair[0].lower() != HEADER]
                message["headers"] = [*own, (HEADER, request_id.encode())]
            return send(message)

        with logs.bound(request_id=request_id):
            await self._application(scope, receive, send_with_id)

    def _given(self, scope: Message) -> bytes | None:
        """The id that a trusted proxy gave; the last one, where there are several."""
        client = scope.get("client")
        if client is None or client[0] not in self._proxies:
            return None
        found = [value for name, value in scope["headers"] if name == HEADER]
        return found[-1] if found and _WELL_FORMED.fullmatch(found[-1]) else None
