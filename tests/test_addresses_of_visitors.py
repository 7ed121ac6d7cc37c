"""Whose address a request counts for: the connection's, or what a trusted proxy says it is."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from assistant.limits import charge
from assistant.refusals import RateLimited
from helpcenter import asgi, web

PROXY, OTHER_PROXY, STRANGER = "10.0.0.1", "10.0.0.2", "198.51.100.9"
TRUSTED = ["10.0.0.0/8"]


@pytest.fixture
def address_of(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """The address that the site sees of a request, over HTTP and over a socket."""
    seen: list[str] = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    monkeypatch.setattr(asgi, "application", site)

    def address_of(peer: str, *forwarded: str, trusted: list[str] = TRUSTED) -> str:
        settings.TRUSTED_PROXIES = trusted
        application = web.application()
        headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
        for kind in ("http", "websocket"):
            scope = {
                "type": kind,
                "scheme": "http" if kind == "http" else "ws",
                "headers": headers,
                "client": (peer, 50_000),
                "path": "/",
            }
            async_to_sync(application)(scope, None, None)  # type: ignore[arg-type]
        one, other = seen[-2:]
        assert one == other
        return one

    return address_of


@pytest.mark.parametrize(
    "forged", ["192.0.2.1", "192.0.2.1, 10.0.0.1", "127.0.0.1", "nonsense", ""]
)
def test_what_a_stranger_writes_counts_for_nothing(address_of: Any, forged: str) -> None:
    assert address_of(STRANGER, forged) == STRANGER
    assert address_of(STRANGER, forged, trusted=[]) == STRANGER
    assert address_of(PROXY, forged, trusted=[]) == PROXY


@pytest.mark.parametrize(
    "forwarded",
    [
        ["192.0.2.7"],
        ["203.0.113.1, 192.0.2.7"],
        ["127.0.0.1, 10.9.9.9, 203.0.113.1, 192.0.2.7"],
        [f"192.0.2.7, {OTHER_PROXY}"],
        [f"203.0.113.1, 192.0.2.7, {OTHER_PROXY}, 10.0.0.3"],
        ["203.0.113.1", "192.0.2.7"],
    ],
)
def test_of_a_trusted_proxy_the_last_that_is_no_proxy_is_the_visitor(
    address_of: Any, forwarded: list[str]
) -> None:
    assert address_of(PROXY, *forwarded) == "192.0.2.7"


def test_a_visitor_who_forges_addresses_is_limited_all_the_same(
    address_of: Any, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_ADDRESS = 3
    settings.ASSISTANT_TURNS_PER_VISITOR = 100
    passed = 0
    for number in range(30):
        try:
            charge("visitor:a", address_of(PROXY, f"203.0.113.{number}, 192.0.2.7"))
            passed += 1
        except RateLimited:
            pass
    assert passed == 3
    charge("visitor:b", address_of(PROXY, "192.0.2.8"))
