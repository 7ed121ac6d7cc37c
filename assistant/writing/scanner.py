"""Reads the model's Markdown as it arrives and says what is text, code, marker, link.

Pure. How the text is sliced makes no difference, and nothing is read twice but what
turned out not to be what it looked like. The scanner knows paragraphs and what Markdown
protects (fences, indented code, code spans, escapes), and it holds back no more than is
undecided. It changes nothing: what a piece becomes is decided by whoever is told of it.

`reading` waits for text, `lines` looks at how lines begin, `destinations` and `inline`
read within a paragraph, and this module goes from line to line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

from assistant.writing.inline import InlineScanner
from assistant.writing.lines import FENCES, INDENT, Line
from assistant.writing.pieces import Piece, Verbatim
from assistant.writing.reading import Scan, end_of

_REST_OF_LINE = re.compile(r"[^\n]*")
_FENCE_INDENT = re.compile(r"[ \t>]*")


class Scanner(InlineScanner):
    """Give it text with `feed` and the end with `close`; it calls `emit` for each piece."""

    def __init__(self, emit: Callable[[Piece], None]) -> None:
        self._fence = ""
        self._after_blank = True
        self._in_code = False
        self._in_list = False
        super().__init__(emit)

    def _document(self, position: int) -> Generator[None, None, None]:
        while (yield from self._has(position)):
            position = self._forget(position)
            position = yield from self._next_line(position)
        self._end_text()

    def _end_text(self) -> None:
        """A label that is open here is text, and left out where the text breaks off."""
        if self._breaks_off:
            self._openers.clear()
        self._end_paragraph()

    def _next_line(self, position: int) -> Scan:
        if self._fence:
            return (yield from self._fenced_line(position))
        line = yield from self._line_at(position)
        if line.is_blank:
            return self._blank_line(position, line)
        starts_code = line.indent >= 4 and (self._after_blank or self._in_code)
        if starts_code and not self._in_list:
            self._in_code, self._after_blank = True, False
            return (yield from self._copied_line(position))
        self._note(line)
        if (end := (yield from self._aside(position))) != position:
            return end
        if line.begins_paragraph:
            self._end_paragraph()
        if line.fence:
            self._fence = line.fence
            return (yield from self._copied_line(position))
        end = yield from self._inline(position)
        if line.is_heading and self._text[end - 1] == "\n":
            self._end_paragraph()
        return end

    def _note(self, line: Line) -> None:
        """Keeps track of whether a list is open."""
        if line.is_item:
            self._in_list = True
        elif line.is_heading or (self._after_blank and line.indent == 0):
            self._in_list = False
        self._after_blank = self._in_code = False

    def _aside(self, position: int) -> Scan:
        """The end of what begins on this line and is no part of the answer; here, nothing is."""
        yield from ()
        return position

    def _blank_line(self, position: int, line: Line) -> int:
        self._end_paragraph()
        self._after_blank = True
        end = line.head + 1
        self._emit(self._text[position:end])
        return end

    def _fenced_line(self, position: int) -> Scan:
        start = yield from self._skip(position, _FENCE_INDENT)
        mark = self._fence[0]
        if self._text[start : start + 1] == mark:
            end = yield from self._skip(start, FENCES[mark])
            rest = yield from self._skip(end, INDENT)
            if end - start >= len(self._fence) and self._is_line_end(rest):
                self._fence = ""
        return (yield from self._copied_line(position))

    def _copied_line(self, position: int) -> Scan:
        """A line of code, passed on as it arrives."""
        while (yield from self._has(position)):
            position = self._forget(position)
            end = end_of(_REST_OF_LINE, self._text, position)
            self.steps += 1
            if end > position:
                self._emit(Verbatim(self._text[position:end]))
            if end < len(self._text):
                self._emit("\n")
                return end + 1
            position = end
        return position


def scan(text: str, *, breaks_off: bool = False) -> list[Piece]:
    """The pieces of a text that is complete, or of one that breaks off at its end."""
    pieces: list[Piece] = []
    scanner = Scanner(pieces.append)
    scanner.feed(text)
    if breaks_off:
        scanner.stop()
    else:
        scanner.close()
    return pieces
