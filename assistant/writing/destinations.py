"""The destination of a link, in its parentheses, as Markdown has it. Pure."""

from __future__ import annotations

import re
from collections.abc import Generator

from assistant.writing.lines import LineReader
from assistant.writing.reading import Scan

_INLINE_SPACE = re.compile(r"[ \t\r]*")
_IN_POINTED = re.compile(r"[^<>\\\n]*")
_IN_PLAIN = re.compile(r"[^()\\\x00-\x20\x7f]*")
_TITLES = {
    '"': ('"', re.compile(r'[^"\\\n]*')),
    "'": ("'", re.compile(r"[^'\\\n]*")),
    "(": (")", re.compile(r"[^()\\\n]*")),
}


class DestinationReader(LineReader):
    """Reads `(dest "title")`, which may go over lines of its paragraph.

    `_unclosed`: the parentheses of the paragraph that are known to close nothing, so that
    each stretch of text is searched once for the end of a destination.
    """

    def __init__(self) -> None:
        self._unclosed: set[int] = set()
        super().__init__()

    def _destination(self, opening: int) -> Generator[None, None, tuple[int, str]]:
        """The end and the destination of `(dest "title")`; 0 where it is none."""
        nothing = 0, ""
        if opening in self._unclosed:
            return nothing
        start = yield from self._white(opening + 1)
        if not start or not (yield from self._has(start)):
            return nothing
        if self._text[start] == "<":
            after = yield from self._pointed(start)
            dest = self._text[start + 1 : after - 1]
        else:
            after = yield from self._plain(opening, start)
            dest = self._text[start:after]
        end = (yield from self._white(after)) if after else 0
        if not end:
            return nothing
        if end > after and self._text[end : end + 1] in ('"', "'", "("):
            end = yield from self._title(end)
            end = (yield from self._white(end)) if end else 0
        return (end + 1, dest) if end and self._text[end : end + 1] == ")" else nothing

    def _white(self, position: int) -> Scan:
        """The end of white space within the paragraph; 0 where the paragraph ends in it."""
        while True:
            position = yield from self._skip(position, _INLINE_SPACE)
            if self._text[position : position + 1] != "\n":
                return position
            if not (yield from self._goes_on(position + 1)):
                return 0
            position += 1

    def _pointed(self, position: int) -> Scan:
        """The position behind `<dest>`, or 0."""
        position += 1
        while True:
            position = yield from self._skip(position, _IN_POINTED)
            mark = self._text[position : position + 1]
            if mark == ">":
                return position + 1
            if mark != "\\":
                return 0
            position += 2

    def _plain(self, opening: int, position: int) -> Scan:
        """The position behind a destination without brackets, balanced in parentheses; or 0."""
        open_at: list[int] = []
        while True:
            position = yield from self._skip(position, _IN_PLAIN)
            mark = self._text[position : position + 1]
            if mark == "\\":
                position += 2
            elif mark == "(":
                open_at.append(position)
                position += 1
            elif mark == ")" and open_at:
                open_at.pop()
                position += 1
            elif open_at:
                self._unclosed.update(open_at, (opening,))
                return 0
            else:
                return position

    def _title(self, position: int) -> Scan:
        """The position behind a link's title, or 0."""
        mark = self._text[position]
        close, run = _TITLES[mark]
        position += 1
        while True:
            position = yield from self._skip(position, run)
            found = self._text[position : position + 1]
            if found == close:
                return position + 1
            if found == "\\":
                position += 2
            elif found == "\n" and (yield from self._goes_on(position + 1)):
                position += 1
            else:
                return 0
