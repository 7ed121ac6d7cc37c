"""What the beginning of a line says: blank, item, heading, quote, fence. Pure."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass

from assistant.writing.reading import Reader, Scan

INDENT = re.compile(r"[ \t\r]*")
FENCES = {"`": re.compile(r"`*"), "~": re.compile(r"~*")}
BEFORE_TICK = re.compile(r"[^`\n]*")
_DIGITS = re.compile(r"[0-9]*")
_HASHES = re.compile(r"#*")


@dataclass(frozen=True, slots=True)
class Line:
    """What the beginning of a line says. `head`: the position behind indent, quotes and bullets."""

    head: int
    indent: int
    is_blank: bool = False
    is_item: bool = False
    is_heading: bool = False
    fence: str = ""

    @property
    def begins_paragraph(self) -> bool:
        return self.is_blank or self.is_item or self.is_heading or bool(self.fence)


class LineReader(Reader):
    """Looks at lines ahead, each one once."""

    def __init__(self) -> None:
        self._lines: dict[int, Line] = {}
        super().__init__()

    def _line_at(self, position: int) -> Generator[None, None, Line]:
        """Looks at the beginning of a line, as far as it takes to tell what it is."""
        known = self._lines.get(position)
        if known is None:
            known = self._lines[position] = yield from self._look(position)
        return known

    def _look(self, position: int) -> Generator[None, None, Line]:
        head = yield from self._skip(position, INDENT)
        indent = _columns(self._text[position:head])
        if self._is_line_end(head):
            return Line(head, indent, is_blank=True)
        is_item = False
        while True:
            if self._text[head] == ">":
                after = head + 1
            elif (after := (yield from self._bullet(head))) != head:
                is_item = True
            else:
                break
            head = yield from self._skip(after, INDENT)
            if self._is_line_end(head):
                return Line(head, indent, is_blank=not is_item, is_item=is_item)
        fence = yield from self._fence_at(head)
        is_heading = yield from self._is_heading(head)
        return Line(head, indent, is_item=is_item, is_heading=is_heading, fence=fence)

    def _is_line_end(self, position: int) -> bool:
        return self._text[position : position + 1] in ("", "\n")

    def _bullet(self, position: int) -> Scan:
        """The position behind a list marker, or `position` itself where there is none."""
        end = position + 1
        if self._text[position] not in "-+*":
            end = yield from self._skip(position, _DIGITS)
            if not position < end <= position + 9 or self._text[end : end + 1] not in (".", ")"):
                return position
            end += 1
        at_end = not (yield from self._has(end))
        return end if at_end or self._text[end] in " \t\n\r" else position

    def _fence_at(self, position: int) -> Generator[None, None, str]:
        """The fence that opens here, or nothing."""
        mark = self._text[position]
        if mark not in "`~":
            return ""
        end = yield from self._skip(position, FENCES[mark])
        if end - position < 3:
            return ""
        if mark == "`":
            behind = yield from self._skip(end, BEFORE_TICK)
            if self._text[behind : behind + 1] == "`":
                return ""
        return mark * (end - position)

    def _is_heading(self, position: int) -> Generator[None, None, bool]:
        if self._text[position] != "#":
            return False
        end = yield from self._skip(position, _HASHES)
        return end - position <= 6 and self._text[end : end + 1] in ("", " ", "\t", "\n", "\r")

    def _goes_on(self, position: int) -> Generator[None, None, bool]:
        """Whether the line at `position` belongs to the paragraph before it. The end does not."""
        return not (yield from self._line_at(position)).begins_paragraph


def _columns(indent: str) -> int:
    return len(indent.rstrip("\r").expandtabs(4))
