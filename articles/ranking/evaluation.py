"""How well search finds what it should: measures over questions whose right articles are known.

Each measure is of one question, from 0 to 1; what a set of questions says is their mean
with a bootstrap interval over them. Two ways to search are compared question by
question, for questions differ far more than ways do. `measure` searches; the rest is pure.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from statistics import fmean

from articles import embeddings
from articles.access import Reader
from articles.ranking import relevance
from articles.search import search

DEPTH = 10
"""Hits that count, in every measure."""

DRAWS = 2_000

MEASURES = ("ndcg", "reciprocal_rank", "recall", "first")


class TrialError(Exception):
    """What is to be tried does not exist. The message is for operators."""


@dataclass(frozen=True)
class Question:
    """A question and the ids of the articles that answer it, at least one."""

    text: str
    right: frozenset[int]
    language: str | None = None


@dataclass(frozen=True)
class Score:
    """Of one question: nDCG, the reciprocal of the first right hit's rank, the share of right
    articles that were found, and whether a right one came first."""

    ndcg: float
    reciprocal_rank: float
    recall: float
    first: float


@dataclass(frozen=True)
class Interval:
    """A mean, and where it is with 95 % certainty."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def score(found: Sequence[object], right: Collection[object]) -> Score:
    """The measures of one ranking, best first. `right` is not empty."""
    ranks = [rank for rank, one in enumerate(found[:DEPTH], start=1) if one in right]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(right)) + 1))
    return Score(
        gained / ideal,
        1 / ranks[0] if ranks else 0.0,
        len(ranks) / len(right),
        float(ranks[:1] == [1]),
    )


def interval(values: Sequence[float]) -> Interval:
    """The mean of `values` and its bootstrap interval; the same each time."""
    draw = random.Random(0)  # noqa: S311 - no secret is drawn
    means = sorted(fmean(draw.choices(values, k=len(values))) for _draw in range(DRAWS))
    return Interval(fmean(values), means[DRAWS // 40], means[-DRAWS // 40 - 1])


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How much better `after` is, over the same questions in the same order."""
    return interval([new - old for old, new in zip(before, after, strict=True)])


def measure(
    questions: Sequence[Question], reader: Reader, *, for_answers: bool = False
) -> list[Score]:
    """What search by its present settings comes to for each question."""
    return [
        score(
            [
                hit.article.pk
                for hit in search(
                    question.text,
                    reader=reader,
                    for_answers=for_answers,
                    language=question.language,
                    limit=DEPTH,
                    passages_per_article=1,
                ).hits
            ],
            question.right,
        )
        for question in questions
    ]


@contextmanager
def trying(changes: Mapping[str, str]) -> Iterator[None]:
    """Inside, this process searches by other settings: a weight of `articles.ranking.relevance`
    (`title=0.5`) or `embeddings=off`. Raises TrialError."""
    before = dict(relevance.WEIGHTS)
    weights: dict[str, float] = {}
    for name, value in changes.items():
        if name in before:
            weights[name] = _weight(name, value)
        elif (name, value) != ("embeddings", "off"):
            known = ", ".join([*before, "embeddings=off"])
            raise TrialError(f"{name}={value} cannot be tried; what can is: {known}")
    relevance.WEIGHTS.update(weights)
    try:
        with embeddings.without() if "embeddings" in changes else nullcontext():
            yield
    finally:
        relevance.WEIGHTS.update(before)


def _weight(name: str, value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise TrialError(f"{name}={value}: a weight is a number, not below 0")
    return weight
