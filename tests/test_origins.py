"""Which pages may talk to the chat: one table for WebSocket, server-sent events and JSON."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient

from assistant.models import Conversation
from helpcenter import csrf
from tests.chat_clients import ANSWERS, Person, Socket, in_loop

pytestmark = pytest.mark.django_db(transaction=True)

ALLOWED = [
    "http://testserver",
    "https://app.example",
    "https://shop.example",
    "https://eu.shop.example",
    "https://a.b.shop.example",
]
REFUSED = [
    "https://evil.example",
    "http://testserver.evil.example",
    "http://eviltestserver",
    "http://testserver:8001",
    "https://testserver",
    "ws://testserver",
    "http://user@testserver.evil.example",
    "http://testserver@evil.example",
    "http://app.example",
    "https://app.example:8443",
    "https://app.example.evil.example",
    "https://evilshop.example",
    "http://eu.shop.example",
    "https://shop.example.evil.example",
    "null",
    "testserver",
    "file://",
]


@pytest.fixture(autouse=True)
def other_pages(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CSRF_TRUSTED_ORIGINS = [
        "https://*.shop.example",
        "https://shop.example",
        "https://app.example",
    ]
    monkeypatch.setattr(csrf, "_CHECK", csrf._Check(HttpResponse))


async def over_each(person: Person, origin: str) -> dict[str, bool]:
    """Whether each transport lets a page of this origin in. A question that is none begins
    nothing."""
    socket = Socket(person.cookies, origin)
    lets_in = {"websocket": await socket.connect()}
    await socket.close()
    for name, headers in {"json": {}, "sse": {"Accept": "text/event-stream"}}.items():
        response = await person.post(ANSWERS, {"question": ""}, Origin=origin, **headers)
        code = response.json()["error"]["code"]
        assert (response.status_code, code) in [(400, "invalid_question"), (403, "forbidden")]
        lets_in[name] = code != "forbidden"
    return lets_in


@pytest.mark.field_report("B42")
def test_each_transport_lets_in_the_same_pages(subtests: pytest.Subtests) -> None:
    told: dict[str, dict[str, bool]] = {}

    async def body() -> None:
        person = await Person.visitor()
        for origin in (*ALLOWED, *REFUSED):
            told[origin] = await over_each(person, origin)

    in_loop(body)
    assert len(told) >= 20
    for origin, lets_in in told.items():
        with subtests.test(origin):
            assert set(lets_in.values()) == {origin in ALLOWED}, lets_in


def test_a_page_of_another_site_gets_nothing_without_a_session_either() -> None:
    async def body() -> None:
        without_session = Person(AsyncClient(enforce_csrf_checks=True))
        for origin in REFUSED:
            response = await without_session.post(ANSWERS, {"question": "How?"}, Origin=origin)
            assert response.status_code == 403, origin
            assert not without_session.cookies

    in_loop(body)
    assert not Conversation.objects.exists()


@pytest.mark.field_report("B42")
def test_without_an_origin_a_socket_is_refused_and_a_request_needs_its_token() -> None:
    """Browsers always send it with a socket; a program without a session may send requests."""

    async def body() -> None:
        person = await Person.visitor()
        for origin in (None, ""):
            socket = Socket(person.cookies, origin)
            assert not await socket.connect()
            await socket.close()
        response = await person.post(ANSWERS, {"question": ""})
        assert response.json()["error"]["code"] == "invalid_question"

    in_loop(body)


@pytest.mark.field_report("B42")
def test_a_refused_socket_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        person = await Person.visitor()
        nobody = Person(AsyncClient())
        for whose, origin in (
            (person, "https://evil.example"),
            (person, None),
            (person, "http://testserver"),
            (nobody, "http://testserver"),
        ):
            socket = Socket(whose.cookies, origin)
            await socket.connect()
            await socket.close()

    in_loop(body)
    refused = [record for record in caplog.records if record.msg == "socket_refused"]
    assert [(record.reason, record.origin) for record in refused] == [  # type: ignore[attr-defined]
        ("foreign_origin", "https://evil.example"),
        ("no_origin", None),
        ("no_session", "http://testserver"),
    ]
