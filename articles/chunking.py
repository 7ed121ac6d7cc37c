"""A document as passages: what search finds and a model reads. Standard library only.

A passage is about `target` characters, never more than twice as many, and never goes
across a heading, so its anchor leads to its text. Lists, tables and code stay whole
where they fit; divided, a table repeats its header and code its fences. The text is
readable text (see `articles.markup.blocks`), so an unchanged section gives unchanged passages.

Linear in the length of the document, however it is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from articles.markup.blocks import Block, read_blocks, read_definitions
from articles.markup.outline import Section, sections

_JOINS_ON = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: the titles of the headings it stands under, the last one's anchor, its text."""

    heading_path: tuple[str, ...]
    anchor: str
    text: str


def chunk(markdown: str, target: int = 900) -> list[Chunk]:
    """The passages of `markdown` in order; no passage for a document without text."""
    document = sections(markdown)
    definitions = read_definitions([line for section in document for line in section.body])
    packer = _Packer(target)
    chunks: list[Chunk] = []
    for section, path, is_leaf in _with_paths(document):
        texts = packer.pack(read_blocks(section.body, definitions), "\n\n")
        if not texts and is_leaf and section.title:
            texts = list(packer.slices(section.title))
        chunks += [Chunk(path, section.anchor, text) for text in texts]
    return chunks


def _with_paths(document: Sequence[Section]) -> Iterator[tuple[Section, tuple[str, ...], bool]]:
    """Each section with the titles above it, its own last, and whether none stand below it."""
    above: list[Section] = []
    for section, following in zip(document, [*document[1:], None], strict=True):
        above = [other for other in above if other.level < section.level] + [section]
        is_leaf = following is None or following.level <= section.level
        yield section, tuple(other.title for other in above if other.title), is_leaf


class _Packer:
    def __init__(self, target: int) -> None:
        self.target = target
        self.cap = 2 * target

    def pack(self, blocks: Sequence[Block], glue: str) -> list[str]:
        """Texts of about the target, at most the cap: neighbours together where they fit.

        What is short, a lead-in or a last line, says little by itself: it joins its
        neighbour even if that makes a passage longer than the target.
        """
        texts: list[str] = []
        for piece in (piece for block in blocks for piece in self._pieces(block)):
            limit = self.cap if texts and self._is_short(texts[-1]) else self.target
            self._add(texts, piece, glue, limit)
        if texts and self._is_short(texts[-1]):
            self._add(texts, texts.pop(), glue, self.cap)
        return texts

    def _is_short(self, text: str) -> bool:
        return len(text) < self.target // 4

    def _add(self, texts: list[str], piece: str, glue: str, limit: int) -> None:
        if texts and len(texts[-1]) + len(glue) + len(piece) <= limit:
            texts[-1] += glue + piece
        else:
            texts.append(piece)

    def _pieces(self, block: Block) -> list[str]:
        whole = block.text
        if len(whole) <= (self.target * 4 // 3 if block.is_prose else self.cap):
            return [whole] if whole.strip() else []
        if block.blocks:
            return self.pack(block.blocks, block.glue)
        return [piece for piece in self._divided(block) if piece]

    def _divided(self, block: Block) -> Iterator[str]:
        """Pieces of a block too long to stay whole, each with the block's head and foot."""
        head, foot, parts = block.head, block.foot, block.parts
        if len(head) + len(foot) > self.target // 2:
            head, foot, parts = "", "", (head, *parts, foot)
        room = self.target - len(head) - len(foot)
        piece = ""
        for part in parts:
            for piece_of_part in self.slices(part, room):
                if piece and len(piece) + len(piece_of_part) > room:
                    yield (head + piece.rstrip() + foot).strip("\n")
                    piece = ""
                piece += piece_of_part
        yield (head + piece.rstrip() + foot).strip("\n")

    def slices(self, text: str, room: int = 0) -> Iterator[str]:
        """Cut a text of any length into slices of at most `room` characters, between words."""
        room = room or self.target
        start = 0
        while len(text) - start > room:
            end = _cut(text, start, start + room)
            yield text[start:end]
            start = end
        yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    """Where to cut before `limit`: after a space, else between characters as people see them."""
    middle = (start + limit) // 2
    space = max(text.rfind(" ", middle, limit), text.rfind("\n", middle, limit))
    if space >= 0:
        return space + 1
    end = limit
    while end > middle + 1 and _is_joined(text, end):
        end -= 1
    return end


def _is_joined(text: str, position: int) -> bool:
    character = text[position]
    return (
        unicodedata.category(character)[0] == "M"
        or _JOINS_ON.match(character) is not None
        or text[position - 1] == "\u200d"
    )
