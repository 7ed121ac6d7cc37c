"""Addresses in Markdown: what they lead to, and where they stand in a text.

Pure. An address is judged as a browser would read it after Markdown has resolved
entities and escapes; what cannot be judged with certainty is unsafe.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

Kind = Literal["site", "foreign", "unsafe"]

BREAKERS = (
    r"\s\x00-\x1f\x7f|\\\"'`“”‘’„‚«»‹›\[\]{}<>"
    "。，、；：！？（）「」『』【】《》〈〉〔〕…・"
)
"""Ends a bare address, beside an unbalanced closing parenthesis."""

ADDRESS_RUN = re.compile(rf"[^{BREAKERS}()]*")
TRAILING = ".,;:!?*_~"
"""Punctuation that ends a sentence, not an address."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_UNPARSABLE = re.compile(r"[\s\x00-\x1f\x7f\\<>]")
_AUTHORITY = re.compile(r"//([^/?#]*)")
_ORIGIN = re.compile(rf"(?:{_SCHEME.pattern})?(?:{_AUTHORITY.pattern})?")
_HOST = re.compile(r"[^\s@\[\]\\]+\Z|\[[0-9A-Fa-f:.]+\](?::\d+)?\Z")
_FRAGMENT = re.compile(r"[\w\-.~!$&'*+,;=:@/?%]+\Z")
_PAIRING = re.compile(r"[\\`\[\]]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

_BARE = re.compile(r"(?<![A-Za-z])https?://", re.IGNORECASE)
_SCHEMED = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>\x00-\x1f]*")
_MAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", re.ASCII)
_POINTED = re.compile(r"<([^\s<>]+)>")
_DESTINATION = re.compile(r"\](?:\(|:)[ \t]*+(?:\n[ \t]*+)?(?:<([^<>\n]*)>)?")
_PLAIN_RUN = re.compile(r"[^()\s<>]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A destination, taken apart. `path` is comparable with `path_key` of a document's url."""

    kind: Kind
    host: str = ""
    path: str = ""
    fragment: str = ""


def resolve(dest: str) -> str:
    """The destination as Markdown hands it on: escapes and entities resolved."""
    return html.unescape(_ESCAPE.sub(r"\1", dest))


def parse(dest: str) -> Address:
    """Takes a destination apart; never raises. Mail and telephone addresses are foreign."""
    address = resolve(dest)
    if _UNPARSABLE.search(address):
        return Address("unsafe")
    scheme_match = _SCHEME.match(address)
    scheme = scheme_match[1].lower() if scheme_match else ""
    if scheme in ("mailto", "tel"):
        return Address("foreign")
    if scheme not in ("", "http", "https"):
        return Address("unsafe")
    rest = address[len(scheme) + 1 :] if scheme else address
    authority = _AUTHORITY.match(rest)
    if authority is None:
        return Address("unsafe") if scheme else _site_path("site", "", rest)
    host = authority[1].lower().removesuffix(_DEFAULT_PORTS.get(scheme, ":443"))
    if not _HOST.match(host):
        return Address("unsafe")
    return _site_path("foreign", host, rest[authority.end() :])


def path_key(url: str) -> str:
    """What two addresses of one page have in common: the decoded path without its last slash."""
    return _key(url[_ORIGIN.match(url).end() :])  # type: ignore[union-attr]


def fragment_of(address: Address) -> str:
    """The fragment with its `#`, where it has only URL characters; else nothing."""
    fragment = address.fragment
    is_plain = _FRAGMENT.match(fragment) and resolve(fragment) == fragment
    return f"#{fragment}" if is_plain else ""


def escaped(address: str) -> str:
    """Written so that no renderer links it: its first colon and every colon before `//` escaped.

    So is the `@` of a mail address, and what an autolink may hold and text may not: it
    would pair with what stands around it.
    """
    mark = ":" if ":" in address else "@"
    head, _, tail = _PAIRING.sub(r"\\\g<0>", address).partition(mark)
    tail = tail.replace("://", r"\://")
    return rf"{head}\{mark}{tail}"


def autolinked(inside: str) -> str:
    """What `<inside>` leads to as Markdown's autolink; nothing where it is none."""
    if _SCHEMED.fullmatch(inside):
        return inside
    return f"mailto:{inside}" if _MAIL.fullmatch(inside) else ""


def end_of_bare(text: str, start: int) -> int:
    """Where the bare address that begins at `start` ends, as far as `text` goes."""
    return _end_of_balanced(text, start, ADDRESS_RUN)


def without_trailing(address: str) -> str:
    """A bare address without the punctuation behind it."""
    return address.rstrip(TRAILING)


def addresses_in(text: str) -> set[str]:
    """Every address that stands in a text: destinations, autolinks and bare addresses."""
    autolinks = (autolinked(match[1]) for match in _POINTED.finditer(text))
    return {*autolinks, *_destinations(text), *_bare_addresses(text)} - {""}


def _destinations(text: str) -> Iterator[str]:
    position = 0
    while match := _DESTINATION.search(text, position):
        position = _end_of_balanced(text, match.end(), _PLAIN_RUN)
        yield text[match.end() : position] if match[1] is None else match[1]


def _bare_addresses(text: str) -> Iterator[str]:
    position = 0
    while match := _BARE.search(text, position):
        position = end_of_bare(text, match.end())
        yield without_trailing(text[match.start() : position])


def _end_of_balanced(text: str, position: int, run: re.Pattern[str]) -> int:
    """The end of runs and of parentheses that are balanced, as far as `text` goes."""
    depth = 0
    while True:
        position = run.match(text, position).end()  # type: ignore[union-attr]
        if position == len(text) or text[position] not in "()":
            return position
        depth += 1 if text[position] == "(" else -1
        if depth < 0:
            return position
        position += 1


def _site_path(kind: Kind, host: str, rest: str) -> Address:
    path, _, fragment = rest.partition("#")
    return Address(kind, host, _key(path), fragment)


def _key(path: str) -> str:
    """Of a path, without scheme and host: there, colons and double slashes are part of it."""
    return unquote(re.split("[?#]", path)[0]).rstrip("/") or "/"
