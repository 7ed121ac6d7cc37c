"""Tells text, code, markers, links and addresses apart within a paragraph. Pure."""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from assistant.writing.addresses import ADDRESS_RUN, autolinked, without_trailing
from assistant.writing.destinations import DestinationReader
from assistant.writing.lines import BEFORE_TICK
from assistant.writing.markers import (
    LENTICULAR_HEAD,
    LONGEST_LABEL,
    lenticular_references,
    references,
)
from assistant.writing.pieces import BareAddress, Link, Marker, Piece, Verbatim
from assistant.writing.reading import Scan, end_of

_KEPT = 4096
_PUNCTUATION = frozenset(string.punctuation)
_RUN = re.compile(r"(?:[^\\`\[\]【<\n!hH]+|!(?=[^\[])|(?<=[A-Za-z])[hH]|[hH](?=[^tT]))*")
_OPENERS = re.compile(r"\[*")
_TICKS = re.compile(r"`*")
_LETTERS_OF_AUTOLINK = re.compile(r"[^\s<>\x00-\x1f]*")
_BEHIND_DAGGER = re.compile(r"[^【】\n]*")


@dataclass(slots=True)
class _Opener:
    """An opening bracket that is not closed yet, and the pieces behind it."""

    start: int
    is_image: bool
    pieces: list[Piece] = field(default_factory=list)

    @property
    def label_start(self) -> int:
        return self.start + (2 if self.is_image else 1)

    def as_text(self) -> list[Piece]:
        return ["![" if self.is_image else "[", *self.pieces]


class InlineScanner(DestinationReader):
    """Calls `emit` for each piece, as soon as no bracket is open before it."""

    def __init__(self, emit: Callable[[Piece], None]) -> None:
        self._emit = emit
        self._openers: list[_Opener] = []
        self._ticks: dict[int, list[int]] = {}  # runs of backticks on this line, by length
        self._ticks_to = 0
        super().__init__()

    def _forget(self, position: int) -> int:
        """Lets go of text that nobody looks back at, but for the character before `position`.

        Only when most of the text is behind, so that copying stays linear, and not while
        something is known of the text ahead that would have to be found out again.
        """
        is_known = self._unclosed or self._ticks_to > position
        if self._openers or is_known or position <= max(_KEPT, len(self._text) // 2):
            return position
        self._text = self._text[position - 1 :]
        self._lines.clear()
        self._ticks, self._ticks_to = {}, 0
        return 1

    def _end_paragraph(self) -> None:
        """Brackets that are open here close nothing any more."""
        openers, self._openers = self._openers, []
        for opener in openers:
            for piece in opener.as_text():
                self._emit(piece)
        self._unclosed.clear()

    def _inline(self, position: int) -> Scan:
        """A line of a paragraph, up to and with its line end."""
        self._ticks, self._ticks_to = {}, position
        while True:
            self._expire(position)
            position = self._forget(position)
            if position >= len(self._text) and not (yield from self._has(position)):
                return position
            end = end_of(_RUN, self._text, position)
            self.steps += 1
            if end > position:
                self._put(self._text[position:end])
                position = end
                continue
            character = self._text[position]
            if character == "\n":
                self._put("\n")
                return position + 1
            if character == "[":
                position = self._open(position)
            else:
                position = yield from _HANDLERS[character](self, position)

    def _put(self, piece: Piece) -> None:
        if self._openers:
            self._openers[-1].pieces.append(piece)
        else:
            self._emit(piece)

    def _put_all(self, pieces: list[Piece]) -> None:
        if self._openers:
            self._openers[-1].pieces.extend(pieces)
        else:
            for piece in pieces:
                self._emit(piece)

    def _expire(self, position: int) -> None:
        """An opening bracket whose label would be too long is text."""
        if not self._openers:
            return
        expired = 0
        for opener in self._openers:
            if position - opener.label_start <= LONGEST_LABEL:
                break
            expired += 1
        if not expired:
            return
        gone, self._openers = self._openers[:expired], self._openers[expired:]
        for opener in gone:
            self.steps += 1
            for piece in opener.as_text():
                self._emit(piece)

    def _escape(self, position: int) -> Scan:
        if (yield from self._has(position + 1)) and self._text[position + 1] in _PUNCTUATION:
            self._put(Verbatim(self._text[position : position + 2]))
            return position + 2
        self._put("\\")
        return position + 1

    def _code_span(self, position: int) -> Scan:
        end = yield from self._skip(position, _TICKS)
        close = yield from self._closing_ticks(position, end - position)
        if close:
            self._put(Verbatim(self._text[position:close]))
            return close
        self._put(self._text[position:end])
        return end

    def _closing_ticks(self, position: int, length: int) -> Scan:
        """The end of the next run of exactly `length` backticks on this line, or 0."""
        while True:
            runs = self._ticks.get(length, [])
            index = bisect_left(runs, position + length)
            if index < len(runs):
                return runs[index] + length
            start = max(self._ticks_to, position + length)
            start = yield from self._skip(start, BEFORE_TICK)
            self._ticks_to = start
            if self._text[start : start + 1] != "`":
                return 0
            end = yield from self._skip(start, _TICKS)
            self._ticks.setdefault(end - start, []).append(start)
            self._ticks_to = end

    def _open(self, position: int) -> int:
        length = end_of(_OPENERS, self._text, position) - position
        surplus = length - LONGEST_LABEL - 1
        if surplus > 0:
            self._expire(position + length)
            self._put("[" * surplus)
            position += surplus
        self._openers.append(_Opener(position, is_image=False))
        return position + 1

    def _exclamation(self, position: int) -> Scan:
        if (yield from self._has(position + 1)) and self._text[position + 1] == "[":
            self._openers.append(_Opener(position, is_image=True))
            return position + 2
        self._put("!")
        return position + 1

    def _close_bracket(self, position: int) -> Scan:
        if not self._openers:
            self._put("]")
            return position + 1
        if (yield from self._has(position + 1)) and self._text[position + 1] == "(":
            self._ran_out = False
            end, dest = yield from self._destination(position + 1)
            if end:
                opener = self._openers.pop()
                self._put(self._link(opener, position, end, dest))
                return end
            if self._ran_out and self._breaks_off:
                return len(self._text)
        opener = self._openers.pop()
        label = self._text[opener.label_start : position]
        refs = _marker_label(label, opener.pieces)
        if refs is None:
            self._put_all([*opener.as_text(), "]"])
        else:
            if opener.is_image:
                self._put("!")
            self._put(Marker(f"[{label}]", refs))
        return position + 1

    def _link(self, opener: _Opener, position: int, end: int, dest: str) -> Link:
        label = self._text[opener.label_start : position]
        return Link(
            source=self._text[opener.start : end],
            label=opener.pieces,
            dest=dest,
            inside=self._text[position + 2 : end - 1],
            is_image=opener.is_image,
            refs=None if opener.is_image else _marker_label(label, opener.pieces),
        )

    def _lenticular(self, position: int) -> Scan:
        end = yield from self._skip(position + 1, LENTICULAR_HEAD)
        if self._text[end : end + 1] == "†":
            end = yield from self._skip(end + 1, _BEHIND_DAGGER)
        if self._text[end : end + 1] == "】" and end - position - 1 <= LONGEST_LABEL:
            refs = lenticular_references(self._text[position + 1 : end])
            if refs is not None:
                self._put(Marker(self._text[position : end + 1], refs))
                return end + 1
        if self._is_half(end):
            return end
        self._put("【")
        return position + 1

    def _autolink(self, position: int) -> Scan:
        start = position + 1
        end = yield from self._skip(start, _LETTERS_OF_AUTOLINK)
        if self._text[end : end + 1] == ">":
            inside = self._text[start:end]
            if dest := autolinked(inside):
                self._put(BareAddress(f"<{inside}>", dest))
                return end + 1
        if self._is_half(end) and self._text[start:end][:1].isalnum():
            return end
        self._put("<")
        return start

    def _bare_address(self, position: int) -> Scan:
        start = yield from self._scheme_end(position)
        end = start
        depth = 0
        while start:
            end = yield from self._skip(end, ADDRESS_RUN)
            if (mark := self._text[end : end + 1]) not in ("(", ")"):
                break
            depth += 1 if mark == "(" else -1
            if depth < 0:
                break
            end += 1
        if self._is_half(end):
            return end
        dest = without_trailing(self._text[position:end])
        if not start or len(dest) <= start - position:
            self._put(self._text[position])
            return position + 1
        self._put(BareAddress(dest, dest))
        return position + len(dest)

    def _scheme_end(self, position: int) -> Scan:
        """The position behind `http://` or `https://`, or 0."""
        for scheme in ("http://", "https://"):
            for index, expected in enumerate(scheme):
                at = position + index
                if not (yield from self._has(at)) or self._text[at].lower() != expected:
                    break
            else:
                return position + len(scheme)
        return 0


_HANDLERS: dict[str, Callable[[InlineScanner, int], Scan]] = {
    "\\": InlineScanner._escape,
    "`": InlineScanner._code_span,
    "]": InlineScanner._close_bracket,
    "!": InlineScanner._exclamation,
    "【": InlineScanner._lenticular,
    "<": InlineScanner._autolink,
    "h": InlineScanner._bare_address,
    "H": InlineScanner._bare_address,
}


def _marker_label(label: str, pieces: list[Piece]) -> tuple[int, ...] | None:
    """The references of a label that is a marker by itself, or one marker in brackets."""
    refs = references(label)
    if refs is not None:
        return refs
    inner = next((piece for piece in pieces if isinstance(piece, Marker)), None)
    return inner.refs if inner and inner.source == label.strip() else None
