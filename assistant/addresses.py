"""Addresses in Markdown: what they lead to, and where they stand in a text.

Pure. An address is judged as a browser would read it after Markdown has resolved
entities and escapes; what cannot be judged with certainty is unsafe.
"""

from __future__ import annotations

import html
import re
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
_HOST = re.compile(r"[^\s@\[\]\\]+\Z|\[[0-9A-Fa-f:.]+\](?::\d+)?\Z")
_FRAGMENT = re.compile(r"[\w\-.~!$&'*+,;=:@/?%]+\Z")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

_BARE = re.compile(r"(?<![A-Za-z])https?://", re.IGNORECASE)
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*)>")
_DESTINATION = re.compile(r"\](?:\(|:)[ \t]*\n?[ \t]*(?:<([^<>\n]*)>|([^\s<>]+))")


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
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    path = _AUTHORITY.sub("", _SCHEME.sub("", path, count=1), count=1)
    return unquote(path).rstrip("/") or "/"


def fragment_of(address: Address) -> str:
    """The fragment with its `#`, where it has only URL characters; else nothing."""
    fragment = address.fragment
    is_plain = _FRAGMENT.match(fragment) and resolve(fragment) == fragment
    return f"#{fragment}" if is_plain else ""


def escaped(address: str) -> str:
    """Written so that no renderer links it: its first colon and every colon before `//` escaped."""
    head, colon, tail = address.partition(":")
    return f"{head}\\{colon}{tail.replace('://', chr(92) + '://')}"


def end_of_bare(text: str, start: int) -> int:
    """Where the bare address that begins at `start` ends, as far as `text` goes."""
    position, depth = start, 0
    while True:
        position = ADDRESS_RUN.match(text, position).end()  # type: ignore[union-attr]
        if position == len(text) or text[position] not in "()":
            return position
        depth += 1 if text[position] == "(" else -1
        if depth < 0:
            return position
        position += 1


def without_trailing(address: str) -> str:
    """A bare address without the punctuation behind it."""
    return address.rstrip(TRAILING)


def addresses_in(text: str) -> set[str]:
    """Every address that stands in a text: destinations, autolinks and bare addresses."""
    found = {match[1] for match in _AUTOLINK.finditer(text)}
    for match in _DESTINATION.finditer(text):
        found.add(match[1] if match[1] is not None else _balanced(match[2]))
    end = 0
    for match in _BARE.finditer(text):
        if match.start() >= end:
            end = end_of_bare(text, match.end())
            found.add(without_trailing(text[match.start() : end]))
    return found


def _balanced(dest: str) -> str:
    """A destination up to the parenthesis that closes its link."""
    depth = 0
    for index, character in enumerate(dest):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return dest[:index]
    return dest


def _site_path(kind: Kind, host: str, rest: str) -> Address:
    path, _, fragment = rest.partition("#")
    return Address(kind, host, path_key(path), fragment)
