"""Whose address a request counts for, where proxies stand in front: `TRUSTED_PROXIES`.

Each proxy appends to `X-Forwarded-For` the address that its connection came from, so the header
is true from its right end up to the first entry that a visitor may have written. Proxies are
named by their networks, or stated by their number. Named ones are believed only where the
connection comes from one of them. With a number every connection is believed to come from the
nearest of that many, so nothing but the proxies may reach the web server.

What is not believed changes nothing: the address and the scheme stay the connection's own.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Sequence

from helpcenter.request_ids import Application, Message, Receive, Send

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
SCHEMES = frozenset({"http", "https", "ws", "wss"})

logger = logging.getLogger(__name__)


class Proxies:
    """`stated` is the setting: addresses and networks, or one whole number, or nothing."""

    def __init__(self, stated: Sequence[str]) -> None:
        self.hops = int(stated[0]) if len(stated) == 1 and stated[0].isdecimal() else 0
        named = [] if self.hops else stated
        self._networks = [ipaddress.ip_network(one, strict=False) for one in named]
        self._has_warned = False

    def __contains__(self, host: object) -> bool:
        """Whether a connection from here comes from a proxy."""
        if self.hops:
            return True
        address = _address(str(host))
        return address is not None and any(address in network for network in self._networks)

    def visitor(self, peer: str, forwarded: str) -> str:
        """The visitor's address: of a connection from the proxy `peer`, with this header's value.

        The last entry that is no proxy's; where it is no address, or is not there, the nearest
        one that is known to be true: the proxy that wrote it, or the connection itself.
        """
        entries = [_host(entry.strip()) for entry in forwarded.split(",") if entry.strip()]
        if self.hops:
            if len(entries) < self.hops:
                self._warn(len(entries))
                return peer
            return entries[-self.hops] if _address(entries[-self.hops]) else peer
        nearest = peer
        for entry in reversed(entries):
            if _address(entry) is None:
                break
            nearest = entry
            if entry not in self:
                break
        return nearest

    def _warn(self, seen: int) -> None:
        """Once: visitors who go around the proxies could fill the log."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning("fewer_proxies_than_stated", extra={"stated": self.hops, "seen": seen})


class ProxyHeaders:
    """ASGI middleware: puts the visitor's address and scheme in the place of the proxy's."""

    def __init__(self, application: Application, proxies: Proxies) -> None:
        self._application = application
        self._proxies = proxies

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if client is not None and client[0] in self._proxies:
            if forwarded := _values(scope, b"x-forwarded-for"):
                visitor = self._proxies.visitor(client[0], ",".join(forwarded))
                scope["client"] = (visitor, client[1] if visitor == client[0] else 0)
            scheme = "".join(_values(scope, b"x-forwarded-proto")[-1:]).strip()
            if scheme in SCHEMES:
                secure = scheme in ("https", "wss")
                names = ("ws", "wss") if scope["type"] == "websocket" else ("http", "https")
                scope["scheme"] = names[secure]
        await self._application(scope, receive, send)


def _values(scope: Message, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _host(entry: str) -> str:
    """An entry without its port: `192.0.2.1:80` and `[2001:db8::1]:80` are written too."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


def _address(host: str) -> Address | None:
    """None where it is none. An IPv4 address that comes over IPv6 is the IPv4 address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
