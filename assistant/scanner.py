"""Reads the model's Markdown as it arrives and says what is text, code, marker, link.

Pure. The scanner is a generator that stops wherever the next character decides,
and goes on from there: how the text is sliced makes no difference, and nothing is
read twice but what turned out not to be what it looked like. It knows paragraphs
and what Markdown protects (fences, indented code, code spans, escapes), and it
holds back no more than is undecided. It changes nothing: what a piece becomes is
decided by whoever is told of it.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from assistant.addresses import ADDRESS_RUN, autolinked, without_trailing
from assistant.markers import LENTICULAR_HEAD, LONGEST_LABEL, lenticular_references, references

_KEPT = 4096
_PUNCTUATION = frozenset(string.punctuation)

_RUN = re.compile(r"(?:[^\\`\[\]【<\n!hH]+|!(?=[^\[])|(?<=[A-Za-z])[hH]|[hH](?=[^tT]))*")
_OPENERS = re.compile(r"\[*")
_TICKS = re.compile(r"`*")
_BEFORE_TICK = re.compile(r"[^`\n]*")
_REST_OF_LINE = re.compile(r"[^\n]*")
_LETTERS_OF_AUTOLINK = re.compile(r"[^\s<>\x00-\x1f]*")


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
Scan = Generator[None, None, int]
"""A step of the scanner: stops for more text, and gives the position it came to."""


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


@dataclass(frozen=True, slots=True)
class _Line:
    """What the beginning of a line says. `head`: the position behind indent, quotes and bullets."""

    head: int
    indent: int
    is_blank: bool = False
    is_item: bool = False
    is_heading: bool = False
    is_quoted: bool = False
    fence: str = ""

    @property
    def begins_paragraph(self) -> bool:
        return self.is_blank or self.is_item or self.is_heading or bool(self.fence)


class Scanner:
    """Give it text with `feed` and the end with `close`; it calls `emit` for each piece.

    `steps` counts the work done, in characters and pieces looked at.
    """

    def __init__(self, emit: Callable[[Piece], None]) -> None:
        self.steps = 0
        self._emit = emit
        self._text = ""
        self._is_closed = False
        self._breaks_off = False
        self._ran_out = False  # the last look ahead met the end of the text
        self._openers: list[_Opener] = []
        self._ticks: dict[int, list[int]] = {}  # runs of backticks on this line, by length
        self._ticks_to = 0
        self._unclosed: set[int] = set()  # parentheses known to close nothing
        self._lines: dict[int, _Line] = {}
        self._fence = ""
        self._after_blank = True
        self._in_code = False
        self._in_list = False
        self._scan = self._document(0)

    def feed(self, text: str) -> None:
        # As the only reference to it, the text grows in place: no copy for each slice.
        held, self._text = self._text, ""
        held += text
        self._text = held
        del held
        self._resume()

    def close(self) -> None:
        """The end of the text: what is undecided is text."""
        self._is_closed = True
        self._resume()

    def stop(self) -> None:
        """The text breaks off: a marker, link or address that is unfinished is left out."""
        self._breaks_off = True
        self.close()

    def _resume(self) -> None:
        next(self._scan, None)

    def _has(self, position: int) -> Generator[None, None, bool]:
        """Waits for the character at `position`; False where the text ends before it."""
        while position >= len(self._text):
            if self._is_closed:
                self._ran_out = True
                return False
            yield
        return True

    def _is_half(self, end: int) -> bool:
        """Whether what was read up to here is cut short by an answer that breaks off."""
        return self._breaks_off and end >= len(self._text)

    def _skip(self, position: int, run: re.Pattern[str]) -> Scan:
        """The end of the longest run from here, once the character behind it is known."""
        while (yield from self._has(position)):
            end = _end_of(run, self._text, position)
            self.steps += end - position + 1
            if end == position:
                break
            position = end
        return position

    # Lines and paragraphs

    def _document(self, position: int) -> Generator[None, None, None]:
        while (yield from self._has(position)):
            position = self._forget(position)
            position = yield from self._next_line(position)
        if self._breaks_off:
            self._openers.clear()
        self._end_paragraph()

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
        if line.is_heading:
            self._end_paragraph()
        return end

    def _note(self, line: _Line) -> None:
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

    def _line_at(self, position: int) -> Generator[None, None, _Line]:
        """Looks at the beginning of a line, as far as it takes to tell what it is."""
        known = self._lines.get(position)
        if known is None:
            known = self._lines[position] = yield from self._look(position)
        return known

    def _look(self, position: int) -> Generator[None, None, _Line]:
        head = yield from self._skip(position, _INDENT)
        indent = _columns(self._text[position:head])
        if self._is_line_end(head):
            return _Line(head, indent, is_blank=True)
        is_item = is_quoted = False
        while True:
            if self._text[head] == ">":
                is_quoted, after = True, head + 1
            elif (after := (yield from self._bullet(head))) != head:
                is_item = True
            else:
                break
            head = yield from self._skip(after, _INDENT)
            if self._is_line_end(head):
                blank = is_quoted and not is_item
                return _Line(head, indent, is_blank=blank, is_item=is_item, is_quoted=is_quoted)
        fence = yield from self._fence_at(head)
        is_heading = False if fence else (yield from self._is_heading(head))
        return _Line(
            head,
            indent,
            is_item=is_item,
            is_heading=is_heading,
            is_quoted=is_quoted,
            fence=fence,
        )

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
        end = yield from self._skip(position, _FENCES[mark])
        if end - position < 3:
            return ""
        if mark == "`":
            behind = yield from self._skip(end, _BEFORE_TICK)
            if self._text[behind : behind + 1] == "`":
                return ""
        return mark * (end - position)

    def _is_heading(self, position: int) -> Generator[None, None, bool]:
        if self._text[position] != "#":
            return False
        end = yield from self._skip(position, _HASHES)
        return end - position <= 6 and self._text[end : end + 1] in ("", " ", "\t", "\n", "\r")

    def _blank_line(self, position: int, line: _Line) -> int:
        self._end_paragraph()
        self._after_blank = True
        end = line.head + 1
        self._emit(self._text[position:end])
        return end

    def _fenced_line(self, position: int) -> Scan:
        start = yield from self._skip(position, _FENCE_INDENT)
        mark = self._fence[0]
        if self._text[start : start + 1] == mark:
            end = yield from self._skip(start, _FENCES[mark])
            rest = yield from self._skip(end, _INDENT)
            if end - start >= len(self._fence) and self._is_line_end(rest):
                self._fence = ""
                self._after_blank = False
        return (yield from self._copied_line(position))

    def _copied_line(self, position: int) -> Scan:
        """A line of code, passed on as it arrives."""
        while (yield from self._has(position)):
            position = self._forget(position)
            end = _end_of(_REST_OF_LINE, self._text, position)
            self.steps += 1
            if end > position:
                self._emit(Verbatim(self._text[position:end]))
            if end < len(self._text):
                self._emit("\n")
                return end + 1
            position = end
        return position

    def _end_paragraph(self) -> None:
        """Brackets that are open here close nothing any more."""
        openers, self._openers = self._openers, []
        for opener in openers:
            for piece in opener.as_text():
                self._emit(piece)
        self._unclosed.clear()

    # Inline

    def _inline(self, position: int) -> Scan:
        """A line of a paragraph, up to and with its line end."""
        self._ticks, self._ticks_to = {}, position
        while True:
            self._expire(position)
            position = self._forget(position)
            if position >= len(self._text) and not (yield from self._has(position)):
                return position
            end = _end_of(_RUN, self._text, position)
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
            start = yield from self._skip(start, _BEFORE_TICK)
            self._ticks_to = start
            if self._text[start : start + 1] != "`":
                return 0
            end = yield from self._skip(start, _TICKS)
            self._ticks.setdefault(end - start, []).append(start)
            self._ticks_to = end

    def _open(self, position: int) -> int:
        length = _end_of(_OPENERS, self._text, position) - position
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
                self._openers.pop()
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
        if start and self._is_half(end):
            return end
        dest = without_trailing(self._text[position:end]) if start else ""
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

    # The destination of a link

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

    def _goes_on(self, position: int) -> Generator[None, None, bool]:
        """Whether the line at `position` belongs to the paragraph before it."""
        if not (yield from self._has(position)):
            return False
        return not (yield from self._line_at(position)).begins_paragraph

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


_INDENT = re.compile(r"[ \t\r]*")
_INLINE_SPACE = re.compile(r"[ \t\r]*")
_FENCE_INDENT = re.compile(r"[ \t>]*")
_DIGITS = re.compile(r"[0-9]*")
_HASHES = re.compile(r"#*")
_FENCES = {"`": re.compile(r"`*"), "~": re.compile(r"~*")}
_BEHIND_DAGGER = re.compile(r"[^【】\n]*")
_IN_POINTED = re.compile(r"[^<>\\\n]*")
_IN_PLAIN = re.compile(r"[^()\\\x00-\x20\x7f]*")
_TITLES = {
    '"': ('"', re.compile(r'[^"\\\n]*')),
    "'": ("'", re.compile(r"[^'\\\n]*")),
    "(": (")", re.compile(r"[^()\\\n]*")),
}
_HANDLERS: dict[str, Callable[[Scanner, int], Scan]] = {
    "\\": Scanner._escape,
    "`": Scanner._code_span,
    "]": Scanner._close_bracket,
    "!": Scanner._exclamation,
    "【": Scanner._lenticular,
    "<": Scanner._autolink,
    "h": Scanner._bare_address,
    "H": Scanner._bare_address,
}


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


def _end_of(run: re.Pattern[str], text: str, position: int) -> int:
    """The end of a run that may be empty. No match is kept, for it would keep the text."""
    return run.match(text, position).end()  # type: ignore[union-attr]


def _columns(indent: str) -> int:
    return len(indent.rstrip("\r").expandtabs(4))


def _marker_label(label: str, pieces: list[Piece]) -> tuple[int, ...] | None:
    """The references of a label that is a marker by itself, or one marker in brackets."""
    refs = references(label)
    if refs is None:
        inner = next((p for p in pieces if not (isinstance(p, str) and p.isspace())), None)
        if isinstance(inner, Marker) and inner.source == label.strip():
            return inner.refs
    return refs
