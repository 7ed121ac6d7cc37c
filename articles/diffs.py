"""The difference between two Markdown texts, line by line, as rows for a template."""

from __future__ import annotations

import difflib
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
