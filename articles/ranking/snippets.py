"""The piece of a text that shows why it was found, with the words of the query marked.

Pure. Words are compared without case and accents, and from their beginning, so that
"cancel" marks "cancellation" as well; in scripts without spaces any place counts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

LENGTH = 240
LEAD = 60
SHORT_WORD = 3
"""Words of at most so many letters are mostly "how", "the", "und": marked only on their own."""

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True)
class Piece:
    text: str
    marked: bool


def snippet(text: str, query: str, length: int = LENGTH) -> tuple[Piece, ...]:
    """About `length` characters of `text` around the first words of `query` in it."""
    text = " ".join(text.split())
    spans = _spans(text, query)
    start, end = _window(text, spans[0][0] if spans else 0, length)
    return _pieces(
        text, [span for span in spans if span[0] >= start and span[1] <= end], start, end
    )


def marked(text: str, query: str) -> tuple[Piece, ...]:
    """The whole of a short text, a title for example, with the words of the query marked."""
    return _pieces(text, _spans(text, query), 0, len(text))


def _spans(text: str, query: str) -> list[tuple[int, int]]:
    """Where words of the query stand in `text`: sorted, and apart from each other."""
    pattern = _pattern(query)
    if pattern is None:
        return []
    folded, origin = _folded(text)
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(folded):
        start, end = origin[match.start()], origin[match.end() - 1] + 1
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _pattern(query: str) -> re.Pattern[str] | None:
    folded, _origin = _folded(query)
    unspaced = {
        run[index : index + 2]
        for run in _UNSPACED.findall(folded)
        for index in range(max(1, len(run) - 1))
    }
    words = set(_WORD.findall(_UNSPACED.sub(" ", folded)))
    words = {word for word in words if len(word) > SHORT_WORD} or words
    alternatives = [re.escape(run) for run in unspaced]
    alternatives += [rf"\b{re.escape(_stem(word))}\w*" for word in words]
    if not alternatives:
        return None
    return re.compile("|".join(sorted(alternatives, key=len, reverse=True)))


def _stem(word: str) -> str:
    """Without an ending that a plural or a verb form may have; short words stay whole."""
    return word[:-2] if len(word) > 6 else word[:-1] if len(word) > 5 else word


def _folded(text: str) -> tuple[str, list[int]]:
    """The text without case and accents, and the index in `text` of each of its characters."""
    folded: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(part):
                folded.append(part)
                origin.append(index)
    return "".join(folded), origin


def _window(text: str, focus: int, length: int) -> tuple[int, int]:
    """Bounds of about `length` characters with `focus` near their beginning, between words."""
    if len(text) <= length:
        return 0, len(text)
    breaks = [0, *(match.end() for match in re.finditer(r"\s", text)), len(text)]
    start = breaks[bisect_right(breaks, max(0, min(focus - LEAD, len(text) - length))) - 1]
    end = breaks[bisect_right(breaks, start + length) - 1]
    return start, end if end > max(start, focus) else start + length


def _pieces(text: str, spans: list[tuple[int, int]], start: int, end: int) -> tuple[Piece, ...]:
    pieces = [Piece("… ", False)] if start else []
    at = start
    for span_start, span_end in spans:
        pieces += [Piece(text[at:span_start], False), Piece(text[span_start:span_end], True)]
        at = span_end
    pieces.append(Piece(text[at:end].rstrip(), False))
    if end < len(text):
        pieces.append(Piece(" …", False))
    return tuple(piece for piece in pieces if piece.text)
