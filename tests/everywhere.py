"""One answer through the whole product: asked over JSON, SSE and WebSocket, stored, and audited.

    told = everywhere(provider, opened("Reset password"), "See [«Reset password»].")

The model first makes the given calls, then writes the text, cut into small pieces, with
each «title» replaced by the reference that the results gave that article. Every channel has
to tell the same; what comes back is what they all told.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from assistant.models import Answer
from tests.chat_clients import ANSWERS, Person, in_loop
from tests.dom import Element, parse
from tests.scripted_provider import (
    DONE,
    Reply,
    Request,
    ScriptedProvider,
    Step,
    call,
    finish,
    say,
    usage,
)
from tests.streams import Event, html_of, of_type, text_of

PIECE = 3
"""Characters in a chunk: markers and links arrive broken into several."""

Call = tuple[str, dict[str, Any]]


def opened(*slugs: str) -> list[Call]:
    return [("open_article", {"slug": slug}) for slug in slugs]


def searched(*queries: str) -> list[Call]:
    return [("search_articles", {"query": query}) for query in queries]


class ActingProvider(ScriptedProvider):
    """Makes `calls` for each question, then writes `text`."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Sequence[Call] = ()
        self.text = ""
        self.piece = PIECE

    def next_reply(self, request: Request) -> Reply:
        self.requests.append(request)
        messages = request.body["messages"]
        if self.calls and messages[-1]["role"] == "user":
            chunks = [
                call(name, arguments, call_id=f"c{at}", index=at)
                for at, (name, arguments) in enumerate(self.calls)
            ]
            return Reply((*chunks, finish("tool_calls"), usage(), DONE))
        text = _with_refs(self.text, messages)
        pieces = [text[at : at + self.piece] for at in range(0, len(text), self.piece)]
        steps: list[Step] = [say(piece) for piece in pieces]
        return Reply((*steps, finish(), usage(), DONE))


def _with_refs(text: str, messages: Sequence[dict[str, Any]]) -> str:
    refs: dict[str, int] = {}
    for message in messages:
        if message["role"] == "tool":
            for document in json.loads(message["content"]).get("documents", ()):
                refs[document["title"]] = document["ref"]
    return re.sub("«(.*?)»", lambda match: str(refs[match[1]]), text)


@dataclass
class Told:
    """What every channel told of one answer. `events`: of the stream of rendered blocks."""

    payload: dict[str, Any]
    events: list[Event] = field(default_factory=list)
    audit: str = ""

    @property
    def text(self) -> str:
        return str(self.payload["text"])

    @property
    def row(self) -> list[tuple[str, int | None]]:
        """Titles and numbers of the Sources row."""
        shown = [source for source in self.payload["sources"] if source["consulted"]]
        return [(source["title"], source["number"]) for source in shown]

    @property
    def html(self) -> Element:
        return parse(self.payload["html"])

    @property
    def links(self) -> list[tuple[str, str]]:
        """The text and the address of each link, citations too."""
        return [(link.text, link.attributes["href"]) for link in self.html.all("a")]

    @property
    def stored(self) -> Answer:
        return Answer.objects.get(pk=self.payload["id"])

    @property
    def dropped(self) -> list[tuple[str, str]]:
        return list(self.stored.dropped.values_list("text", "reason"))


def everywhere(
    provider: ActingProvider,
    calls: Sequence[Call],
    text: str,
    *,
    question: str = "How does it work?",
    person: Person | None = None,
) -> Told:
    """The answer as all channels told it, each in a conversation of its own."""
    provider.calls, provider.text = calls, text
    told: list[Told] = []

    async def body() -> None:
        asking = person or await Person.visitor()
        waited, *streams = await asyncio.gather(
            asking.ask_json(question),
            asking.ask_sse(question),
            asking.ask_sse(question, html=True),
            asking.ask_ws(question),
        )
        told.append(Told(waited.json()))
        for events in streams:
            stored = await asking.get(f"{ANSWERS}{events[0]['answer_id']}/")
            told.append(Told(stored.json(), events))

    in_loop(body)
    first = told[0]
    for other in told[1:]:
        _assert_same(first, other)
    return Told(first.payload, told[2].events, _audited(first))


def _assert_same(one: Told, other: Told) -> None:
    end = other.events[-1]
    for name in ("text", "html", "sources", "grounding"):
        assert end[name] == other.payload[name] == one.payload[name], name
    if of_type(other.events, "delta"):
        assert text_of(other.events) == one.text
    if of_type(other.events, "html"):
        assert html_of(other.events) == one.payload["html"]
    assert one.stored.text == other.stored.text == one.text


def _audited(told: Told) -> str:
    """The page of the answer in the admin."""
    colleague = User.objects.filter(is_superuser=True).first()
    if colleague is None:
        colleague = User.objects.create_superuser("auditor")
    client = Client()
    client.force_login(colleague)
    page = client.get(reverse("admin:assistant_answer_change", args=[told.payload["id"]]))
    assert page.status_code == 200
    return page.content.decode()
