"""The difference between two texts for a template: line by line, or word by word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DiffLine:
    """A line of the comparison; `gap` stands for unchanged lines left out."""

    kind: Literal["same", "added", "removed", "gap"]
    text: str


_KINDS: dict[str, Literal["same", "added", "removed"]] = {
    " ": "same",
    "+": "added",
    "-": "removed",
}


def diff_lines(old: str, new: str, context: int = 3) -> list[DiffLine]:
    """What changed from `old` to `new`, with `context` unchanged lines around each change.

    Equal texts give an empty list.
    """
    return list(_rows(old.splitlines(), new.splitlines(), context))


def _rows(old: list[str], new: list[str], context: int) -> Iterator[DiffLine]:
    hunks = 0
    for line in difflib.unified_diff(old, new, n=context, lineterm=""):
        if line.startswith(("---", "+++")) and hunks == 0:
            continue
        if line.startswith("@@"):
            hunks += 1
            if hunks > 1:
                yield DiffLine("gap", "")
            continue
        yield DiffLine(_KINDS[line[0]], line[1:])


@dataclass(frozen=True)
class DiffPiece:
    """A stretch of the comparison of two texts word by word."""

    kind: Literal["same", "added", "removed"]
    text: str


LONGEST_BY_WORDS = 20_000
"""Characters of either text up to which words are compared; beyond it, lines."""

_TOKEN = re.compile(r"\[\d+\]|\w+|\s+|.", re.DOTALL)


def diff_words(old: str, new: str) -> list[DiffPiece]:
    """The texts woven into one, word by word: what stayed, what went, what came.

    Without the added pieces it reads as `old`, without the removed ones as `new`.
    """
    is_long = max(len(old), len(new)) > LONGEST_BY_WORDS
    split = (lambda text: text.splitlines(keepends=True)) if is_long else _TOKEN.findall
    before, after = split(old), split(new)
    pieces: list[DiffPiece] = []
    matcher = difflib.SequenceMatcher(None, before, after)
    for _tag, from_old, to_old, from_new, to_new in matcher.get_opcodes():
        removed, added = before[from_old:to_old], after[from_new:to_new]
        if removed == added:
            pieces.append(DiffPiece("same", "".join(added)))
            continue
        if removed:
            pieces.append(DiffPiece("removed", "".join(removed)))
        if added:
            pieces.append(DiffPiece("added", "".join(added)))
    return pieces
