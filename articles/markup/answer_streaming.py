"""An answer's HTML while it is being written: finished blocks once, the unfinished on demand.

`BlockRenderer` takes the delivered text in any slices. A top-level block is finished as
soon as nothing that follows can change it; it is then rendered once, with what is
registered by then. The HTML of all finished blocks, put together, is that of
`render_answer` for the whole text.

The cost is linear in the length of the answer: finished text is not parsed again, and
an unfinished block is looked at again only after it has grown by a quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.html import escape

from articles.markup.answer_rendering import INERT, Registered, finished_length, render_blocks
from articles.markup.outline import normalised

LONGEST_PREVIEW = 4096
"""Characters of an unfinished block that are rendered; beyond, it is shown as plain text."""


@dataclass(frozen=True, slots=True)
class Block:
    """The HTML of a block of the answer: 0, 1, 2 …"""

    block: int
    html: str
    final: bool


class BlockRenderer:
    """Renders one answer. `registered` is asked whenever something is rendered."""

    def __init__(self, registered: Callable[[], Registered]) -> None:
        self._registered = registered
        self._next_block = 0
        self._held_back = ""
        """A carriage return, until it is known whether a line feed follows."""
        self._parts: list[str] = []
        self._length = 0
        self._line_is_blank = True
        self._examined_length = 0
        self._previewed_length = 0

    def feed(self, delta: str) -> list[Block]:
        """Take the next piece of the text; return the blocks that it finished."""
        delta = self._held_back + delta
        self._held_back = "\r" if delta.endswith("\r") else ""
        self._append(normalised(delta.removesuffix("\r")))
        return self._finished() if self._is_due() else []

    def pending(self) -> Block | None:
        """The unfinished block as it stands; None where there is nothing new to show.

        A caller asks as often as it likes to send. Of a block beyond `LONGEST_PREVIEW`
        there is something new when it has grown by a sixteenth.
        """
        step = 1 if self._length <= LONGEST_PREVIEW else self._previewed_length // 16
        if self._length < self._previewed_length + step:
            return None
        text = self._text()
        self._previewed_length = self._length
        if len(text) > LONGEST_PREVIEW:
            html = f'<p class="unfinished">{escape(text.replace(INERT, ""))}</p>'
        else:
            html = "".join(render_blocks(text, self._registered()))
        return Block(self._next_block, html, final=False) if html else None

    def close(self) -> list[Block]:
        """The answer ends here; return its last blocks."""
        self._append(normalised(self._held_back))
        self._held_back = ""
        return self._take(self._length)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _is_due(self) -> bool:
        """Whether a blank line has ended, and the text has grown enough to look at it again."""
        first, *lines = self._parts[-1].split("\n")
        blank_line_ended = False
        self._line_is_blank &= not first.strip(" \t")
        for line in lines:
            blank_line_ended |= self._line_is_blank
            self._line_is_blank = not line.strip(" \t")
        return blank_line_ended and self._length >= self._examined_length * 5 // 4

    def _finished(self) -> list[Block]:
        text = self._text()
        blocks = self._take(finished_length(text[: text.rindex("\n") + 1]))
        self._examined_length = self._length
        return blocks

    def _take(self, length: int) -> list[Block]:
        """Cut `length` characters off the beginning of the text and render them."""
        if not length:
            return []
        text = self._text()
        html = render_blocks(text[:length], self._registered())
        blocks = [Block(number, part, True) for number, part in enumerate(html, self._next_block)]
        self._next_block += len(blocks)
        self._parts = [text[length:]]
        self._length -= length
        self._previewed_length = 0
        return blocks

    def _text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]
