"""What an import did and what it could not do, as values; the command prints them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Outcome(StrEnum):
    """What became of one article of the source."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    FAILED = "failed"


class Kind(StrEnum):
    """What a problem is about. `FAILED` and `REFUSED` make the import's exit status 1."""

    FAILED = "failed"
    REFUSED = "refused"
    KEPT = "kept"
    LINK = "link"
    ANCHOR = "anchor"
    IMAGE = "image"
    NOTE = "note"


class CannotImportError(Exception):
    """A file cannot become an article; the message says why, for the person who imports."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of the report. `path` names a file of the source, or an entry of an export."""

    kind: Kind
    path: str
    message: str

    def __str__(self) -> str:
        return _CONTROL.sub("�", f"{self.path}: {self.message}")


@dataclass(slots=True)
class Report:
    """The outcome per article, the problems in order, and what was counted on the way.

    `ignored_keys` counts unknown front matter, `left_out` components of MDX without a text
    of their own, `skipped` files that are no content, `passages` what was indexed.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    ignored_keys: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    images: int = 0
    passages: int = 0

    def add(self, kind: Kind, path: str, message: str) -> None:
        self.problems.append(Problem(kind, path, message))

    def fail(self, path: str, message: str) -> None:
        """Records that `path` did not become an article."""
        self.outcomes[path] = Outcome.FAILED
        self.add(Kind.FAILED, path, message)

    def of(self, kind: Kind) -> list[Problem]:
        return [problem for problem in self.problems if problem.kind == kind]

    def count(self, outcome: Outcome) -> int:
        return sum(1 for value in self.outcomes.values() if value == outcome)

    @property
    def failures(self) -> int:
        """How many files or entries did not go in."""
        return len(self.of(Kind.FAILED)) + len(self.of(Kind.REFUSED))

    @property
    def wrote(self) -> bool:
        return bool(self.count(Outcome.NEW) or self.count(Outcome.UPDATED))
