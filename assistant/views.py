"""Answers over HTTP: asked and waited for as JSON, or followed as server-sent events.

Plain async views over `assistant.chat`; see "The chat's API" in the manual.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.urls import reverse

from articles.access import Reader
from assistant import chat
from assistant.callers import caller_of, sender_of
from assistant.chat import Found
from assistant.database import db
from assistant.endpoints import endpoint, read_object, refused
from assistant.frames import Encoder
from assistant.questions import parse_ask, parse_cursor
from assistant.refusals import Unavailable

JSON = "application/json"
EVENT_STREAM = "text/event-stream"


@endpoint("POST")
async def answers(request: HttpRequest) -> HttpResponseBase:
    """Asks. Gives the answer once it is finished, or its events as they come."""
    data = read_object(request)
    if key := request.headers.get("Idempotency-Key"):
        data["key"] = key
    question = parse_ask(data)
    asked = await chat.ask_as(partial(sender_of, request), question)
    opened, reader = asked.opened, asked.sender.reader
    found = Found(opened.answer_id, opened.conversation_id, is_running=True)
    if request.get_preferred_type([JSON, EVENT_STREAM]) == EVENT_STREAM:
        return EventStream(_events(request, found, reader, 0))
    await chat.wait(opened.answer_id)
    payload = await chat.payload(found, reader)
    return _failed(payload) if "error" in payload else _named(JsonResponse(payload), found)


@endpoint("GET")
async def answer(request: HttpRequest, answer_id: str) -> HttpResponseBase:
    """The answer, finished or not."""
    caller = await db(caller_of, request)
    found = await chat.find_answer(caller.owner, answer_id)
    return _named(JsonResponse(await chat.payload(found, caller.reader)), found)


@endpoint("GET")
async def answer_events(request: HttpRequest, answer_id: str) -> HttpResponseBase:
    """What was missed since `Last-Event-ID` or `?after=`, then what comes. 204 where the client
    has everything, which also keeps a browser's EventSource from connecting again."""
    cursor = request.headers.get("Last-Event-ID") or request.GET.get("after")
    after = parse_cursor(cursor)
    caller = await db(caller_of, request)
    found = await chat.find_answer(caller.owner, answer_id)
    if not found.is_running and 0 < after == found.last_seq:
        return HttpResponse(status=204)
    return EventStream(_events(request, found, caller.reader, after))


@endpoint("POST")
async def answer_stop(request: HttpRequest, answer_id: str) -> HttpResponseBase:
    """Ends the turn early; what was delivered is kept. Doing it again changes nothing."""
    caller = await db(caller_of, request)
    found = await chat.find_answer(caller.owner, answer_id)
    await chat.stop(found)
    return _named(JsonResponse(await chat.payload(found, caller.reader)), found)


async def _events(
    request: HttpRequest, found: Found, reader: Reader, after: int
) -> AsyncGenerator[bytes, None]:
    if request.session.modified:
        # A new session was just stored on the request's own thread, which would keep its
        # connection until the stream ends.
        await sync_to_async(connections.close_all)()
    encoder = Encoder(found.answer_id, found.conversation_id)
    html = request.GET.get("render") == "html"
    events = chat.events(found.answer_id, reader, after=after, html=html)
    async with aclosing(events) as batches:
        async for batch in batches:
            yield encoder.sse(batch)


class EventStream(StreamingHttpResponse):
    """Server-sent events. They are bytes already: nothing looks at each of them again."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, content_type=EVENT_STREAM)
        self._events = events
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._events


def _named(response: JsonResponse, found: Found) -> JsonResponse:
    response["Cache-Control"] = "no-store"
    response["Content-Location"] = reverse("assistant:answer", args=[found.answer_id])
    return response


def _failed(payload: dict[str, Any]) -> JsonResponse:
    """A turn that failed, for a client that waited for it. What was written is at its address."""
    refusal = Unavailable(payload["error"]["message"])
    refusal.code = payload["error"]["code"]
    response = refused(refusal)
    response["Content-Location"] = reverse("assistant:answer", args=[payload["id"]])
    return response
