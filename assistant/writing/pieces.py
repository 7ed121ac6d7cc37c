"""What the scanner tells of a text: its pieces. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Verbatim:
    """Code or an escaped character."""

    text: str


@dataclass(slots=True)
class Marker:
    """A citation marker; no references where it is another system's."""

    source: str
    refs: tuple[int, ...]


@dataclass(slots=True)
class Link:
    """An inline link or image. `inside`: its parentheses. `refs`: set if its label is a marker."""

    source: str
    label: list[Piece]
    dest: str
    inside: str
    is_image: bool
    refs: tuple[int, ...] | None


@dataclass(slots=True)
class BareAddress:
    """An autolink or a bare address."""

    source: str
    dest: str


Piece = str | Verbatim | Marker | Link | BareAddress
