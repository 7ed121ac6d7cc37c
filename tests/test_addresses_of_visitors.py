"""Whose address a request counts for: the connection's, or what a trusted proxy says it is."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from assistant.limits import charge
from assistant.refusals import RateLimited
from helpcenter import asgi, web
from helpcenter.proxies import Proxies, ProxyHeaders

PROXY, OTHER_PROXY, STRANGER = "10.0.0.1", "10.0.0.2", "198.51.100.9"
TRUSTED = ["10.0.0.0/8"]


@pytest.fixture
def address_of(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """The address that the site sees of a request, over HTTP and over a socket."""
    seen: list[str | None] = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"] and scope["client"][0])

    monkeypatch.setattr(asgi, "application", site)

    def address_of(peer: str | None, *forwarded: str, trusted: list[str] = TRUSTED) -> str | None:
        settings.TRUSTED_PROXIES = trusted
        application = web.application()
        headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
        for kind in ("http", "websocket"):
            scope = {
                "type": kind,
                "scheme": "http" if kind == "http" else "ws",
                "headers": headers,
                "client": peer and (peer, 50_000),
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
        ["203.0.113.1, 192.0.2.7:443"],
        ["nonsense,, 192.0.2.7 ,"],
    ],
)
def test_of_a_trusted_proxy_the_last_that_is_no_proxy_is_the_visitor(
    address_of: Any, forwarded: list[str]
) -> None:
    assert address_of(PROXY, *forwarded) == "192.0.2.7"


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("nonsense", PROXY),
        ("", PROXY),
        (f"192.0.2.7, unknown, {OTHER_PROXY}", OTHER_PROXY),
        (f"{PROXY}, {OTHER_PROXY}", PROXY),
        ("[2001:db8::7]:443", "2001:db8::7"),
        ("[2001:db8::7", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[::ffff:10.0.0.2]:80", "::ffff:10.0.0.2"),
    ],
)
def test_the_nearest_that_is_known_is_believed(
    address_of: Any, forwarded: str, address: str
) -> None:
    assert address_of(PROXY, forwarded) == address


def test_a_proxy_is_known_however_its_address_is_written(address_of: Any) -> None:
    assert address_of("::ffff:10.0.0.1", "192.0.2.7") == "192.0.2.7"
    assert address_of(PROXY, "192.0.2.7", trusted=["10.0.0.77/8"]) == "192.0.2.7"
    assert address_of(None, "192.0.2.7") is None


@pytest.mark.parametrize(
    ("number", "forwarded", "address"),
    [
        ("1", ["192.0.2.7"], "192.0.2.7"),
        ("1", ["203.0.113.1, 127.0.0.1, 192.0.2.7"], "192.0.2.7"),
        ("1", ["203.0.113.1", "[2001:db8::7]:443"], "2001:db8::7"),
        ("2", ["192.0.2.7, 172.16.0.9"], "192.0.2.7"),
        ("2", ["203.0.113.1, 192.0.2.7:80, 172.16.0.9"], "192.0.2.7"),
        ("2", ["192.0.2.7"], STRANGER),  # it came past one of the two
        ("2", [""], STRANGER),
        ("1", ["unknown"], STRANGER),
        ("2", [], STRANGER),
    ],
)
def test_of_so_many_proxies_each_has_written_one_entry(
    address_of: Any, number: str, forwarded: list[str], address: str
) -> None:
    """From wherever the connection comes: the nearest of them is at its other end."""
    assert address_of(STRANGER, *forwarded, trusted=[number]) == address


def test_more_proxies_stated_than_there_are_is_logged_once(caplog: Any) -> None:
    proxies = Proxies(["2"])
    assert [proxies.visitor(PROXY, "192.0.2.7") for _ in range(3)] == [PROXY] * 3
    [record] = caplog.records
    assert (record.msg, record.stated, record.seen) == ("fewer_proxies_than_stated", 2, 1)


@pytest.mark.parametrize(
    ("kind", "forwarded", "seen"),
    [
        ("http", ["https"], "https"),
        ("http", ["wss"], "https"),
        ("http", ["http", "https"], "https"),
        ("http", ["gopher"], "http"),
        ("http", [], "http"),
        ("websocket", ["https"], "wss"),
        ("websocket", ["http"], "ws"),
    ],
)
def test_of_a_proxy_the_scheme_is_the_visitors(kind: str, forwarded: list[str], seen: str) -> None:
    told: list[str] = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        told.append(scope["scheme"])

    own = "http" if kind == "http" else "ws"
    headers = [(b"x-forwarded-proto", value.encode()) for value in forwarded]
    for peer in (PROXY, STRANGER):
        scope = {"type": kind, "scheme": own, "client": (peer, 1), "headers": headers}
        middleware: Any = ProxyHeaders(site, Proxies(TRUSTED))
        async_to_sync(middleware)(scope, None, None)
    assert told == [seen, own]


@pytest.mark.field_report("B119")
@pytest.mark.parametrize("trusted", [TRUSTED, ["1"]], ids=["named", "counted"])
def test_a_visitor_who_forges_addresses_is_limited_all_the_same(
    address_of: Any, settings: Any, trusted: list[str]
) -> None:
    """And a second one behind the same proxy has a bucket of their own."""
    settings.ASSISTANT_TURNS_PER_ADDRESS = 3
    settings.ASSISTANT_TURNS_PER_VISITOR = 100
    seen = partial(address_of, PROXY, trusted=trusted)
    passed = 0
    for number in range(30):
        try:
            charge("visitor:a", seen(f"203.0.113.{number}, 192.0.2.7"))
            passed += 1
        except RateLimited:
            pass
    assert passed == 3
    charge("visitor:b", seen("192.0.2.8"))
