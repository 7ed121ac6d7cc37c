"""The id of a request: whose is taken, and where it is to be seen."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from helpcenter import logs
from helpcenter.proxies import Proxies
from helpcenter.request_ids import Message, RequestIds

PROXY = ["10.0.0.0/8"]
GIVEN = "3f2a-from.the_proxy"


class Site:
    """An application that answers, with an `X-Request-ID` of its own for good measure."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        self.seen.append(logs.ids()["request_id"])
        kind = "websocket.accept" if scope["type"] == "websocket" else "http.response.start"
        headers = [] if kind == "websocket.accept" else [(b"x-request-id", b"another")]
        await send({"type": kind, "headers": headers})
        await send({"type": "http.response.body"})


def answered(
    *values: str, peer: str | None = "10.1.2.3", proxies: list[str] = PROXY, kind: str = "http"
) -> tuple[str, str]:
    """The id in the response's header, and the one in the log's lines."""
    site, sent = Site(), []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    headers = [(b"x-request-id", value.encode()) for value in values]
    client = None if peer is None else (peer, 5000)
    scope = {"type": kind, "client": client, "headers": headers}
    asyncio.run(RequestIds(site, Proxies(proxies))(scope, receive, send))
    [(_name, value)] = sent[0]["headers"]
    return value.decode(), site.seen[0]


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_the_id_of_a_trusted_proxy_is_in_the_response_and_in_the_log(kind: str) -> None:
    assert answered(GIVEN, kind=kind) == (GIVEN, GIVEN)


def test_the_proxy_nearest_to_the_site_has_the_last_word() -> None:
    assert answered("of-a-visitor", GIVEN)[0] == GIVEN


@pytest.mark.parametrize("bad", ["", "short", "x" * 65, "two words", "new\nline", "ünïcödë-id"])
def test_an_id_that_is_not_well_formed_is_replaced(bad: str) -> None:
    shown, logged = answered(bad)
    assert shown == logged
    assert len(shown) == 32
    assert shown != bad


@pytest.mark.parametrize(
    ("peer", "proxies"), [("192.0.2.7", PROXY), ("10.1.2.3", []), (None, PROXY), ("::1", PROXY)]
)
def test_nobody_else_names_a_request(peer: str | None, proxies: list[str]) -> None:
    assert answered(GIVEN, peer=peer, proxies=proxies)[0] != GIVEN


def test_the_nearest_of_so_many_proxies_names_a_request() -> None:
    assert answered(GIVEN, peer="192.0.2.7", proxies=["2"])[0] == GIVEN


def test_two_requests_never_share_an_id() -> None:
    assert answered()[0] != answered()[0]
