"""Precision and recall of the row, and of three common rules, over the same turns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Score:
    """Counts of articles over many rows: rightly shown, wrongly shown, wrongly left out."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, shown: set[str], true: set[str]) -> None:
        self.right += len(shown & true)
        self.wrong += len(shown - true)
        self.missed += len(true - shown)

    @property
    def precision(self) -> float:
        return _share(self.right, self.wrong)

    @property
    def recall(self) -> float:
        return _share(self.right, self.missed)

    @property
    def balance(self) -> float:
        """The harmonic mean of the two."""
        return _share(2 * self.right, self.wrong + self.missed)


@dataclass(frozen=True, slots=True)
class Sample:
    """A turn: what its row has to be, what it was, and what other rules would go by.

    `scores`: of the articles that its searches brought, the best cosine of each.
    """

    true: set[str]
    row: set[str]
    retrieved: set[str]
    cited: set[str]
    scores: Mapping[str, float] = field(default_factory=dict)


def compare(samples: Sequence[Sample]) -> list[tuple[str, Score]]:
    """The row and the three rules, by name. The threshold is the best one for these turns."""
    threshold, above = _best_threshold(samples)
    return [
        ("the Sources row", _score((one.row, one.true) for one in samples)),
        ("all that was retrieved", _score((one.retrieved, one.true) for one in samples)),
        ("all that is cited or linked", _score((one.cited, one.true) for one in samples)),
        (f"retrieved above a score of {threshold:.2f}", above),
    ]


def _best_threshold(samples: Sequence[Sample]) -> tuple[float, Score]:
    scored = [(step / 20, _above(samples, step / 20)) for step in range(20)]
    return max(scored, key=lambda pair: pair[1].balance)


def _above(samples: Sequence[Sample], threshold: float) -> Score:
    return _score(
        ({title for title, score in one.scores.items() if score >= threshold}, one.true)
        for one in samples
    )


def _score(rows: Iterable[tuple[set[str], set[str]]]) -> Score:
    score = Score()
    for shown, true in rows:
        score.add(shown, true)
    return score


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 1.0
