"""The sections of a Markdown text: the one definition of what its headings are.

Standard library only, linear time. Renderer, chunker and link check cut a document
here, so that a heading's anchor is the same everywhere by construction. A heading of
the outline stands at the top level: one inside code, a list, a quotation or a callout
is content of its section.

Front matter and a byte order mark are no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from articles.markup.anchors import HeadingSource, anchors, heading_source
from articles.markup.inline_text import inline_text

CALLOUT_KINDS = {
    "note": "note",
    "info": "note",
    "tip": "tip",
    "important": "important",
    "warning": "warning",
    "caution": "caution",
    "danger": "caution",
}
"""The names a callout may be opened by, and what they mean."""

LIST_MARKER = re.compile(r"(?:[-+*]|(?P<number>\d{1,9})[.)])(?=[ \t]|$)")
FENCE = re.compile(r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
DEFINITION = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]:[ \t]*<?([^\s<>]+)>?")
CALLOUT_END = re.compile(r"(:{3,})[ \t]*$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")

_TABLE_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)*+\|?[ \t]*$")
_CALLOUT = re.compile(
    r"(?P<colons>:{3,})[ \t]*(?P<kind>[A-Za-z]+)"
    r"(?:[ \t]*\[(?P<bracketed>.*)\]|[ \t]+(?P<title>.*))?[ \t]*$"
)
_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_SETEXT = re.compile(r"(=+|-+)[ \t]*$")
_LINE_ENDS = re.compile(r"\r\n?")
_FRONT_MATTER_KEY = re.compile(r"[\w\"'-]+[ \t]*:")
_FRONT_MATTER_LINE = re.compile(r"[\w\"'-]+[ \t]*:|[ \t#\]}]|-[ \t]|$")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it up to the next. Level 0 is the text before the first."""

    level: int
    source: str
    title: str
    anchor: str
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalloutOpening:
    """The line that opens a callout. `title` is inline Markdown, empty for the usual one."""

    kind: str
    title: str
    colons: int


def normalised(text: str) -> str:
    """`text` with `\\n` line ends, and U+FFFD for what no database or page takes."""
    return _NO_TEXT.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def sections(markdown: str) -> list[Section]:
    """The sections of `markdown` in order; the first has level 0, its body may be empty."""
    text = normalised(markdown.removeprefix("\ufeff"))
    lines = _without_front_matter(text.split("\n"))
    headings = list(_Scanner(lines).headings())
    given = anchors([heading.source for heading in headings])
    starts = [heading.start for heading in headings] + [len(lines)]
    found = [Section(0, "", "", "", tuple(lines[: starts[0]]))]
    for heading, anchor, following in zip(headings, given, starts[1:], strict=True):
        source = heading.source.text
        body = tuple(lines[heading.end : following])
        found.append(Section(heading.level, source, heading.title, anchor, body))
    return found


def _without_front_matter(lines: list[str]) -> list[str]:
    """Only what looks like YAML throughout is front matter: two rules may begin a text too."""
    if lines[0].rstrip() != "---":
        return lines
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            is_data = any(map(_FRONT_MATTER_KEY.match, lines[1:number]))
            return lines[number + 1 :] if is_data else lines
        if not _FRONT_MATTER_LINE.match(line):
            return lines
    return lines


def indent_of(line: str) -> int:
    """Columns of white space a line begins with; tabs go to the next multiple of four."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4))


def atx_heading(content: str) -> tuple[int, str] | None:
    """Level and source of the heading that a line (without its indent) is; both marks go."""
    match = _ATX.match(content)
    if match is None:
        return None
    text = content[match.end() :]
    unmarked = text.rstrip("#")
    is_closed = not unmarked or unmarked[-1] in " \t"
    return len(match[1]), unmarked.rstrip(" \t") if is_closed else text


def is_table_delimiter(content: str) -> bool:
    """Whether a line (without its indent) may stand between a table's header and its rows."""
    return "|" in content and _TABLE_DELIMITERS.match(content) is not None


def callout_opening(content: str) -> CalloutOpening | None:
    """What a line (without its indent) opens, if it opens a callout."""
    match = _CALLOUT.match(content)
    kind = CALLOUT_KINDS.get(match["kind"].lower()) if match else None
    if match is None or kind is None:
        return None
    title = match["bracketed"] or match["title"] or ""
    return CalloutOpening(kind, title.strip(), len(match["colons"]))


def callout_length(content: Iterator[str], colons: int) -> int | None:
    """How many of the lines after an opening stand before its end; None if it never ends."""
    fence = ""
    for count, line in enumerate(content):
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif opened := FENCE.match(line):
            fence = opened["mark"]
        elif (end := CALLOUT_END.match(line)) and len(end[1]) >= colons:
            return count
    return None


def closes_fence(content: str, mark: str) -> bool:
    """Whether a line (without its indent) closes the fence that `mark` opened."""
    content = content.rstrip(" \t")
    return len(content) >= len(mark) and content == mark[0] * len(content)


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    source: HeadingSource
    title: str
    start: int
    end: int


class _Scanner:
    """Goes through the lines once, with what is open: a fence, a list item, a paragraph."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.line = 0
        self.fence = ""
        self.item: int | None = None
        """The column at which the content of the open list item begins."""
        self.paragraph: int | None = None
        """The line on which the open top-level paragraph begins."""
        self.continuing = False
        """Whether a plain line would go on a list's, a quotation's or a table's last line."""

    def headings(self) -> Iterator[_Heading]:
        while self.line < len(self.lines):
            text = self.lines[self.line]
            content = text.strip(" \t")
            if not content:
                self._blank()
            elif heading := self._read(content, indent_of(text)):
                yield heading
            self.line += 1

    def _blank(self) -> None:
        self.paragraph = None
        self.continuing = False

    def _read(self, content: str, indent: int) -> _Heading | None:
        """Take one line that is not blank."""
        if self.item is not None and indent >= self.item:
            self._inside_item(content)
        elif self.fence and self.item is None:
            self._inside_fence(content, indent)
        else:
            self.fence = ""
            return self._top_level(content, indent)
        return None

    def _inside_fence(self, content: str, indent: int) -> None:
        if indent < 4 and closes_fence(content, self.fence):
            self.fence = ""

    def _inside_item(self, content: str) -> None:
        self.continuing = False
        if self.fence:
            self.fence = "" if closes_fence(content, self.fence) else self.fence
        elif opened := FENCE.match(content):
            self.fence = opened["mark"]
        else:
            self.continuing = True

    def _top_level(self, content: str, indent: int) -> _Heading | None:
        if indent >= 4:
            return None
        heading = self._atx(content) or self._setext(content)
        if heading is not None:
            self._close()
        elif not self._starts_block(content, indent) and not self.continuing:
            self._text(content)
        return heading

    def _close(self) -> None:
        self.item = None
        self.paragraph = None
        self.continuing = False

    def _text(self, content: str) -> None:
        """A plain line: it begins or continues a paragraph."""
        self.item = None
        if self.paragraph is None:
            self.paragraph = None if DEFINITION.match(content) else self.line
        elif self.paragraph == self.line - 1 and is_table_delimiter(content):
            self.paragraph = None
            self.continuing = True

    def _atx(self, content: str) -> _Heading | None:
        heading = atx_heading(content)
        return self._heading(*heading, self.line) if heading and heading[1] else None

    def _setext(self, content: str) -> _Heading | None:
        match = _SETEXT.match(content)
        if match is None or self.paragraph is None:
            return None
        text = "\n".join(line.strip() for line in self.lines[self.paragraph : self.line])
        return self._heading(1 if content[0] == "=" else 2, text, self.paragraph)

    def _heading(self, level: int, text: str, start: int) -> _Heading:
        source = heading_source(text)
        title = " ".join(inline_text(source.text).split())
        return _Heading(level, source, title, start, self.line + 1)

    def _starts_block(self, content: str, indent: int) -> bool:
        """Whether the line begins a block that is no heading; what it opens is then open."""
        if RULE.match(content) or _ATX.match(content):
            self._close()
        elif opened := FENCE.match(content):
            self._close()
            self.fence = opened["mark"]
        elif opening := callout_opening(content):
            self._close()
            self._skip_callout(opening.colons)
        elif content[0] == ">":
            self._close()
            self.continuing = content.strip("> \t") != ""
        elif (marker := LIST_MARKER.match(content)) and self._may_begin_list(content, marker):
            self._close()
            self._open_item(content, indent, marker)
        else:
            return False
        return True

    def _skip_callout(self, colons: int) -> None:
        following = range(self.line + 1, len(self.lines))
        length = callout_length((self.lines[i].strip(" \t") for i in following), colons)
        self.line += 1 + (len(following) if length is None else length)

    def _may_begin_list(self, content: str, marker: re.Match[str]) -> bool:
        """A list may interrupt a paragraph only with text, and only from number one."""
        if self.paragraph is None:
            return True
        return marker.end() < len(content) and marker["number"] in (None, "1")

    def _open_item(self, content: str, indent: int, marker: re.Match[str]) -> None:
        rest = content[marker.end() :]
        space = indent_of(rest)
        padding = space if rest.strip() and space <= 4 else 1
        self.item = indent + marker.end() + padding
        if rest.strip():
            self._inside_item(rest.strip())
