"""The body of a section as blocks of readable text, for passages. Standard library only.

A block says how it may be divided when it is too long: at sentences, items, rows or
lines, and what every piece of it needs: a table's header, a code block's fences. It
need not agree with CommonMark to the letter; where the headings are is settled before,
in `articles.markup.outline`.

Links to other sites keep their address, so that a model may give it to a reader; links
within the site, and images, are reduced to their text. Payloads of `data:` addresses
are left out everywhere.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from articles.markup.inline_text import inline_text, normalised_label, without_payloads
from articles.markup.outline import (
    CALLOUT_END,
    DEFINITION,
    FENCE,
    LIST_MARKER,
    RULE,
    atx_heading,
    callout_opening,
    closes_fence,
    indent_of,
    is_table_delimiter,
)

_QUOTE_MARKS = re.compile(r"(?: {0,3}>)+ ?")
_ALERT = re.compile(r"\[!\w+\]$")
_NEW_PARAGRAPH = re.compile(r"\n(?=[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]|\n))")
_LANGUAGE = re.compile(r"[ \t]*([\w+#.-]{1,40})")
_DASHES = re.compile(r"-+")
_SPACES = re.compile(r"[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*+\s+|(?<=[。！？｡])[」』”’）】]*+|\n+")
_DEEPEST_INDENT = 12
_FENCES = ("```", "~~~", "````", "~~~~", "`````")


@dataclass(frozen=True, slots=True)
class Block:
    """Text that belongs together: a head, parts and a foot, or smaller blocks.

    Parts follow each other as they are; `head` and `foot` go with every piece.
    """

    parts: tuple[str, ...] = ()
    head: str = ""
    foot: str = ""
    blocks: tuple[Block, ...] = ()
    glue: str = "\n\n"

    @property
    def text(self) -> str:
        if self.blocks:
            return self.glue.join(block.text for block in self.blocks)
        return (self.head + "".join(self.parts)).rstrip() + self.foot

    @property
    def is_prose(self) -> bool:
        return not self.blocks and not self.head


def read_blocks(lines: Sequence[str], definitions: Mapping[str, str]) -> list[Block]:
    """The blocks of a section's body that have any text, in order."""
    return [block for block in _Reader(lines, definitions).blocks() if block.text.strip()]


def read_definitions(lines: Sequence[str]) -> dict[str, str]:
    """The link reference definitions among `lines`: normalised label to address."""
    found: dict[str, str] = {}
    for line in lines:
        if match := DEFINITION.match(line.strip()):
            found.setdefault(normalised_label(match[1]), match[2])
    return found


class _Reader:
    """Reads the lines once, block by block."""

    def __init__(self, lines: Sequence[str], definitions: Mapping[str, str]) -> None:
        self.lines = [line.rstrip(" \t") for line in lines]
        self.definitions = definitions
        self.position = 0

    def blocks(self) -> Iterator[Block]:
        while self.position < len(self.lines):
            content = self._content()
            if not content or _is_only_markup(content):
                self.position += 1
            else:
                yield self._block(content)

    def _content(self) -> str:
        return self.lines[self.position].lstrip(" \t")

    def _indent(self) -> int:
        return indent_of(self.lines[self.position])

    def _block(self, content: str) -> Block:
        """Read the block that begins here with `content`."""
        if self._indent() >= 4:
            return self._indented_code()
        if fence := FENCE.match(content):
            return self._fenced_code(fence["mark"])
        if content[0] == ">":
            return self._quotation()
        if LIST_MARKER.match(content):
            return Block(blocks=tuple(self._items()), glue="\n")
        if self._is_table():
            return self._table()
        return self._line_of_its_own(content) or self._paragraph()

    def _take_while(self, belongs: Callable[[str], bool]) -> list[str]:
        """This line, and those after it as long as their content belongs."""
        start = self.position
        self.position += 1
        while self.position < len(self.lines) and belongs(self._content()):
            self.position += 1
        return self.lines[start : self.position]

    def _line_of_its_own(self, content: str) -> Block | None:
        """A callout's title, or a heading that the outline leaves to its section."""
        opening, heading = callout_opening(content), atx_heading(content)
        if opening is None and heading is None:
            return None
        self.position += 1
        return self._prose(opening.title if opening else heading[1] if heading else "")

    def _paragraph(self) -> Block:
        def belongs(content: str) -> bool:
            return bool(content) and not _interrupts(content) and not self._is_table()

        return self._prose("\n".join(line.lstrip(" \t") for line in self._take_while(belongs)))

    def _prose(self, source: str) -> Block:
        return Block(tuple(_sentences(self._readable(source))))

    def _readable(self, source: str) -> str:
        return inline_text(
            source, definitions=self.definitions, keep_addresses=True, keep_code_marks=True
        )

    def _indented_code(self) -> Block:
        lines = self._take_while(lambda content: not content or self._indent() >= 4)
        return _code(textwrap.dedent("\n".join(lines).expandtabs(4)).rstrip(), "")

    def _fenced_code(self, mark: str) -> Block:
        opening, *lines = self._take_while(lambda content: not closes_fence(content, mark))
        self.position += 1
        indent = len(opening) - len(opening.lstrip())
        code = [line[min(indent, len(line) - len(line.lstrip())) :] for line in lines]
        return _code("\n".join(code), opening[indent + len(mark) :])

    def _quotation(self) -> Block:
        def belongs(content: str) -> bool:
            return content.startswith(">") or (bool(content) and not _interrupts(content))

        lines = [_QUOTE_MARKS.sub("", line, count=1) for line in self._take_while(belongs)]
        is_alert = _ALERT.match(lines[0]) is not None
        return Block(blocks=tuple(read_blocks(lines[is_alert:], self.definitions)))

    def _is_table(self) -> bool:
        header, delimiters = (*self.lines[self.position : self.position + 2], "")[:2]
        return "|" in header and is_table_delimiter(delimiters.lstrip(" \t"))

    def _table(self) -> Block:
        lines = self._take_while(lambda content: "|" in content and not _interrupts(content))
        rows = [_SPACES.sub(" ", self._readable(line).strip()) + "\n" for line in lines]
        return Block(tuple(rows[2:]), head=rows[0] + _DASHES.sub("---", rows[1]))

    def _items(self) -> Iterator[Block]:
        """The items of a list, blank lines between them included."""
        while (marker := self._item_marker()) is not None:
            yield self._item(self._indent() + marker.end() + 1)
            self.position = self._next_text()

    def _item_marker(self) -> re.Match[str] | None:
        if self.position == len(self.lines) or self._indent() >= 4 or RULE.match(self._content()):
            return None
        return LIST_MARKER.match(self._content())

    def _next_text(self) -> int:
        """The line, from here on, that is not blank."""
        line = self.position
        while line < len(self.lines) and not self.lines[line]:
            line += 1
        return line

    def _item(self, column: int) -> Block:
        """Read one item: what is indented to its column, and lines that go on lazily."""
        start = self.position
        self.position += 1
        while (line := self._next_text()) < len(self.lines):
            is_lazy = line == self.position and not _begins_block(self._content())
            if indent_of(self.lines[line]) < column and not is_lazy:
                break
            self.position = line + 1
        return self._item_block(self.lines[start : self.position])

    def _item_block(self, lines: Sequence[str]) -> Block:
        """An item as its pieces of text and of code, as they are indented."""
        blocks: list[Block] = []
        reader = _Reader(lines, self.definitions)
        while reader.position < len(lines):
            if fence := FENCE.match(reader._content()):
                indent = reader.lines[reader.position].removesuffix(reader._content())
                indent = indent[:_DEEPEST_INDENT]
                blocks.append(_indented(reader._fenced_code(fence["mark"]), indent))
            else:
                text = reader._take_while(lambda content: not FENCE.match(content))
                blocks.append(Block(tuple(self._paragraphs("\n".join(text)))))
        return Block(blocks=tuple(blocks), glue="\n")

    def _paragraphs(self, text: str) -> Iterator[str]:
        """The sentences of an item's text; marks never pair up across its paragraphs."""
        for paragraph in _NEW_PARAGRAPH.split(text):
            yield from _sentences(self._readable(paragraph) + "\n")


def _is_only_markup(content: str) -> bool:
    return bool(CALLOUT_END.match(content) or RULE.match(content) or DEFINITION.match(content))


def _begins_block(content: str) -> bool:
    """Whether a line begins a block wherever no paragraph is open."""
    return bool(
        content[0] == ">"
        or LIST_MARKER.match(content)
        or atx_heading(content)
        or FENCE.match(content)
        or RULE.match(content)
        or CALLOUT_END.match(content)
        or callout_opening(content)
    )


def _interrupts(content: str) -> bool:
    """Whether a line may interrupt a paragraph: a list only with text, and from number one."""
    if not (marker := LIST_MARKER.match(content)) or RULE.match(content):
        return _begins_block(content)
    return marker.end() < len(content) and marker["number"] in (None, "1")


def _sentences(text: str) -> Iterator[str]:
    """Cut `text` behind the ends of sentences and lines; nothing is lost."""
    done = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[done : match.end()]
        done = match.end()
    if done < len(text):
        yield text[done:]


def _code(code: str, info: str) -> Block:
    """A code block between fences that do not occur in it."""
    code = without_payloads(code)
    if not code.strip():
        return Block()
    mark = next((fence for fence in _FENCES if fence not in code), _FENCES[0])
    language = _LANGUAGE.match(info)
    head = f"{mark}{language[1] if language else ''}\n"
    return Block(tuple((code + "\n").splitlines(keepends=True)), head=head, foot="\n" + mark)


def _indented(block: Block, indent: str) -> Block:
    return Block(
        tuple(indent + part for part in block.parts),
        head=indent + block.head,
        foot=f"\n{indent}{block.foot[1:]}",
    )
