"""Keeps what the citation writer takes for code from becoming a citation or a link in the HTML.

Pure but for one character of the renderer's. Writer and Markdown parser do not always agree
on what is code: a fence that is open in a list goes on for the writer where the list ends,
and is over for the parser. The writer leaves numbers and addresses in its code as they
are, so one that is rendered as text there would lead to a document that nobody cited.
"""

from __future__ import annotations

import re

from articles.markup.answer_rendering import INERT
from assistant.writing.pieces import Piece, Verbatim
from assistant.writing.scanner import Scanner

_BEGINS_SOMETHING = re.compile(r"[\[\]<]")


class InertCode:
    """Marks the code of a delivered text as it arrives; put together, all of the text comes out."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._scanner = Scanner(self._take)

    def feed(self, text: str) -> str:
        """Takes the next piece; gives what is known to be code or not."""
        self._scanner.feed(text)
        return self._given()

    def close(self) -> str:
        """The end of the text: gives the rest."""
        self._scanner.close()
        return self._given()

    def _given(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _take(self, piece: Piece) -> None:
        match piece:
            case str():
                self._out.append(piece)
            case Verbatim():
                self._out.append(_BEGINS_SOMETHING.sub(rf"\g<0>{INERT}", piece.text))
            case _:
                self._out.append(piece.source)


def with_inert_code(text: str) -> str:
    """A delivered text whose code holds nothing that could be cited, linked or shown."""
    inert = InertCode()
    return inert.feed(text) + inert.close()
