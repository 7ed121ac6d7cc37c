"""A model's own list of references at the end of its answer: found, and taken out.

Pure. Such a list is no part of the answer. It may only be recognised at its end, so
a list that may turn out to be one is held back; as soon as it cannot be one, it is
ordinary text. The manual, "How the assistant picks its sources", says what a list
looks like, and when one stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

from assistant.writing.pieces import BareAddress, Link, Marker, Piece
from assistant.writing.reading import Scan
from assistant.writing.scanner import Scanner, scan

LONGEST_TAIL = 120
"""Characters of an entry behind the marker, link or address it begins with."""

LONGEST_ENTRY = 1000

_WORDS = frozenset(
    [
        *("sources", "source", "references", "reference", "citations"),
        *("quellen", "fuentes", "fontes", "fonti", "bronnen", "źródła", "källor", "références"),
        *("参考", "参考资料", "参考文献", "来源", "出典", "источники"),
    ]
)
_STARTS = {word[:length] for word in _WORDS for length in range(1, len(word) + 1)}

_INDENT = re.compile(r" *")
_HASHES = re.compile(r"#*")
_SPACES = re.compile(r"[ \t\r]*")
_BLANKS = re.compile(r"[ \t\r\n]*")
_DIGITS = re.compile(r"[0-9]*")
_REST_OF_LINE = re.compile(r"[^\n]*")
_SEPARATORS = re.compile(r"(?:[\s,;.，；、|·•&/–-]|\b(?:and|und|et|y|e|en|i|och)\b)*\Z")
_DEFINITION = re.compile(r"\[\^?0*[1-9][0-9]{0,2}\]:")
_WIDE = {":": "："}
_BEFORE_DEFINITION = re.compile(r"\[?\^?[0-9]{0,3}\]?")

Reference = Marker | Link | BareAddress


class AnswerScanner(Scanner):
    """A scanner that holds back a final list of references and hands what it names to `emit_list`.

    `has_delivered`: whether anything but white space was delivered before; a list
    that is the whole answer stays. `is_listing`: whether this names, by link or
    address, a document that was seen only as a title; then the list is a listing.
    """

    def __init__(
        self,
        emit: Callable[[Piece], None],
        emit_list: Callable[[list[Reference]], None],
        has_delivered: Callable[[], bool],
        is_listing: Callable[[Reference], bool],
    ) -> None:
        self._emit_list = emit_list
        self._has_delivered = has_delivered
        self._is_listing = is_listing
        self._text_until = 0  # no list begins before this position
        super().__init__(emit)

    def _forget(self, position: int) -> int:
        kept = super()._forget(position)
        self._text_until -= position - kept
        return kept

    def _aside(self, position: int) -> Scan:
        if position < self._text_until or not (self._openers or self._has_delivered()):
            return position
        named: list[Reference] = []
        end = yield from self._lists(position, named)
        if end < len(self._text) or not named:
            self._text_until = max(self._text_until, end)
            return position
        self._end_text()
        self._emit_list(named)
        return end

    def _lists(self, position: int, named: list[Reference]) -> Scan:
        """The end of the text, where it is all lists from here; else where it is text again."""
        start = position
        while True:
            known = len(named)
            end = yield from self._list(start, named)
            if not end:
                return start
            if any(self._is_listing(reference) for reference in named[known:]):
                named.clear()
                return end
            blank = yield from self._skip(end, _BLANKS)
            if not (yield from self._has(blank)):
                return blank
            start = self._text.rfind("\n", end, blank) + 1

    def _list(self, position: int, named: list[Reference]) -> Scan:
        """The end of the list that begins on this line, or 0."""
        start = yield from self._skip(position, _INDENT)
        if start - position > 3:
            return 0
        if self._text[start : start + 1] == "[":
            return (yield from self._definition(start, named))
        start, has_colon = yield from self._heading(start)
        if not start:
            return 0
        if self._is_line_end(start):
            return (yield from self._entries(start, named))
        return (yield from self._one_line(start, named)) if has_colon else 0

    def _definition(self, position: int, named: list[Reference]) -> Scan:
        end = yield from self._skip(position, _BEFORE_DEFINITION)
        if self._is_half(end):
            return end
        if not _DEFINITION.fullmatch(self._text[position : end + 1]):
            return 0
        end = yield from self._skip(end, _REST_OF_LINE)
        named.extend(_references(self._pieces(position, end)))
        return end

    def _heading(self, position: int) -> Generator[None, None, tuple[int, bool]]:
        """The position behind a heading that is one of the words, and whether it has a colon."""
        start = yield from self._skip(position, _HASHES)
        if start > position:
            start = yield from self._skip(start, _SPACES)
        strong = self._text[start : start + 1]
        strong = strong * 2 if strong in ("*", "_") else ""
        start = yield from self._expect(strong, start)
        end = (yield from self._word(start)) if start else 0
        if not end:
            return 0, False
        colon = yield from self._expect(":", end)
        closed = yield from self._expect(strong, colon or end)
        if not closed:
            return 0, False
        colon = colon or (yield from self._expect(":", closed))
        return (yield from self._skip(max(colon, closed), _SPACES)), colon > 0

    def _expect(self, text: str, position: int) -> Scan:
        """The position behind `text`, if it stands at `position`; else 0. Any colon is one."""
        for character in text:
            if not (yield from self._has(position)):
                return 0
            if self._text[position] not in (character, _WIDE.get(character)):
                return 0
            position += 1
        return position

    def _word(self, position: int) -> Scan:
        """The position behind the longest of the words that stands here, or 0."""
        end = position
        while (yield from self._has(end)) and self._text[position : end + 1].lower() in _STARTS:
            end += 1
        return end if self._text[position:end].lower() in _WORDS else 0

    def _one_line(self, position: int, named: list[Reference]) -> Scan:
        end = yield from self._entry_line(position)
        pieces = self._pieces(position, end)
        found = _references(pieces)
        others = [piece for piece in pieces if piece not in found]
        if not all(isinstance(o, str) and _SEPARATORS.match(o) for o in others):
            return 0
        named.extend(found)
        return end

    def _entries(self, position: int, named: list[Reference]) -> Scan:
        """The end of the last entry below a heading, or 0 where there is none."""
        end = 0
        while True:
            start = yield from self._skip(position, _BLANKS)
            if not (yield from self._has(start)):
                return end
            after = yield from self._entry(start, named)
            if not after:
                return end
            end = position = after

    def _entry(self, position: int, named: list[Reference]) -> Scan:
        start = yield from self._behind_bullet(position)
        end = yield from self._entry_line(start)
        pieces = self._pieces(start, end)
        if not pieces and self._is_half(max(start, end)):
            return max(start, end)
        found = _references(pieces)
        if not found or pieces[0] is not found[0]:
            return 0
        if end - start - len(found[0].source) > LONGEST_TAIL:
            return 0
        named.extend(found)
        return end

    def _pieces(self, start: int, end: int) -> list[Piece]:
        """Of the text from `start` to `end`; none where there is no end."""
        return scan(self._text[start:end], breaks_off=self._is_half(end))

    def _behind_bullet(self, position: int) -> Scan:
        if self._text[position] in "-+*•":
            return (yield from self._skip(position + 1, _SPACES))
        end = yield from self._skip(position, _DIGITS)
        if end > position and self._text[end : end + 1] in (".", ")"):
            return (yield from self._skip(end + 1, _SPACES))
        return position

    def _entry_line(self, position: int) -> Scan:
        """The end of a line that begins like a marker, link or address; 0 where none does."""
        if not (yield from self._has(position)):
            return 0
        if self._text[position] not in "[【<":
            for index, character in enumerate("http"):
                at = position + index
                if not (yield from self._has(at)) or self._text[at].lower() != character:
                    return 0
        end = position
        while end - position <= LONGEST_ENTRY and (yield from self._has(end)):
            after = _REST_OF_LINE.match(self._text, end).end()  # type: ignore[union-attr]
            self.steps += after - end + 1
            if after < len(self._text):
                return after if after - position <= LONGEST_ENTRY else 0
            end = after
        return end if end - position <= LONGEST_ENTRY else 0


def _references(pieces: list[Piece]) -> list[Reference]:
    return [
        piece
        for piece in pieces
        if isinstance(piece, Reference) and not (isinstance(piece, Link) and piece.is_image)
    ]
