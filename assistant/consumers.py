"""The chat over a WebSocket: frames in, the same events out. A skin over `assistant.chat`.

Channels dispatches a socket's messages one at a time, so nothing is waited for in
`receive`: each frame is handled by a task of its own. Closing the socket ends those tasks,
never a turn. The session is read anew for every frame; a socket whose person has signed in
or out since it was opened can do nothing more.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from io import BytesIO
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from articles.access import Reader
from assistant import chat
from assistant.access import Owner
from assistant.background import end, spawn
from assistant.callers import sender_by_session
from assistant.chat import Found
from assistant.database import DATABASE_DOWN, db
from assistant.endpoints import database_down
from assistant.frames import Encoder
from assistant.questions import parse_ask, parse_cursor, parse_object
from assistant.refusals import Forbidden, Malformed, RateLimited, Refusal
from assistant.turns.sending import Sender
from helpcenter import logs
from helpcenter.csrf import origin_refusal

MAX_TASKS = 16
"""How many frames of a socket are handled, and answers followed, at a time."""

TRY_AGAIN_LATER = 1013
"""The close code of a socket whose session could not be looked up."""

logger = logging.getLogger(__name__)

Frame = dict[str, Any]


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    """`ask`, `stop` and `resume`; the first and the last may say `"render": "html"`."""

    async def connect(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._owner: Owner | None = None
        handshake = _as_request(self.scope)
        self._language = translation.get_language_from_request(handshake)
        why = origin_refusal(handshake)
        try:
            sender = await db(self._sender) if why is None else None
        except DATABASE_DOWN as error:
            # A refused handshake says nothing that a page could read.
            await self.accept()
            await self._refuse({}, database_down(error))
            await self.close(TRY_AGAIN_LATER)
            return
        if sender is None:
            origin = handshake.headers.get("Origin")
            logger.warning(
                "socket_refused", extra={"reason": why or "no_session", "origin": origin}
            )
            await self.close()
            return
        self._owner = sender.owner
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(self._tasks) >= MAX_TASKS:
            await self._refuse({}, RateLimited(_("Too much is under way on this connection.")))
            return
        task = spawn(self._handle(text_data), "socket frame", logs.ids())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def disconnect(self, code: int) -> None:
        await end(*self._tasks)

    async def _handle(self, text: str | None) -> None:
        """Does what a frame says. A refusal becomes an `error` event, and the socket stays."""
        translation.activate(self._language)
        frame: Frame = {}
        try:
            if text is None:
                raise Malformed(_("Frames are text."))
            frame = parse_object(text)
            await self._obey(frame)
        except Refusal as refusal:
            await self._refuse(frame, refusal)
        except DATABASE_DOWN as error:
            await self._refuse(frame, database_down(error))

    async def _obey(self, frame: Frame) -> None:
        match frame.get("type"):
            case "ask":
                await self._ask(frame)
            case "resume":
                await self._resume(frame)
            case "stop":
                found = await self._find(frame, await db(self._present_sender))
                await chat.stop(found)
            case _:
                raise Malformed(_("The frame’s type is none of ask, stop and resume."))

    async def _ask(self, frame: Frame) -> None:
        question = parse_ask(frame)
        asked = await chat.ask_as(self._present_sender, question)
        found = Found(asked.opened.answer_id, asked.opened.conversation_id, is_running=True)
        await self._follow(frame, found, asked.sender.reader, after=0)

    async def _resume(self, frame: Frame) -> None:
        after = parse_cursor(frame.get("after"))
        sender = await db(self._present_sender)
        await self._follow(frame, await self._find(frame, sender), sender.reader, after)

    async def _follow(self, frame: Frame, found: Found, reader: Reader, after: int) -> None:
        encoder = Encoder(found.answer_id, found.conversation_id)
        html = frame.get("render") == "html"
        events = chat.events(found.answer_id, reader, after=after, html=html)
        async with aclosing(events) as batches:
            async for batch in batches:
                for entry in batch:
                    await self.send(text_data=encoder.json(entry))

    async def _find(self, frame: Frame, sender: Sender) -> Found:
        answer_id = frame.get("answer_id")
        if not isinstance(answer_id, str):
            raise Malformed(fields={"answer_id": [_("Expected a text.")]})
        return await chat.find_answer(sender.owner, answer_id)

    def _present_sender(self) -> Sender:
        """Who sends, as the session says now. Somebody else, or nobody, may not."""
        sender = self._sender()
        if sender is None or sender.owner != self._owner:
            raise Forbidden
        return sender

    def _sender(self) -> Sender | None:
        """Asks the database."""
        handshake = _as_request(self.scope)
        session_key = handshake.COOKIES.get(settings.SESSION_COOKIE_NAME)
        return sender_by_session(session_key, handshake) if session_key else None

    async def _refuse(self, frame: Frame, refusal: Refusal) -> None:
        """An `error` event that belongs to no answer's events: it has no `seq`, but the `key` or
        `answer_id` of the frame."""
        named = {
            name: frame[name]
            for name in ("key", "answer_id")
            if isinstance(frame.get(name), str) and len(frame[name]) <= 100
        }
        event = {
            "type": "error",
            **refusal.payload()["error"],
            "retryable": refusal.retry_after is not None,
            "text": "",
            "sources": [],
            **named,
        }
        if refusal.retry_after is not None:
            event["retry_after"] = refusal.retry_after
        await self.send(text_data=json.dumps(event))


def _as_request(scope: Any) -> ASGIRequest:
    """The handshake as the HTTP request it was."""
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    http = {**scope, "type": "http", "method": "GET", "scheme": scheme}
    return ASGIRequest(http, BytesIO())
