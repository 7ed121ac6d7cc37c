"""How well a passage answers a query, on one scale for all queries. Pure, but for its constants.

Ranks say which passage is better, never whether any is good: something always comes
first. The strength of a passage can be compared with a floor, because each of its parts
can: the cosine on the scale of its model, and shares of what the query's words are
worth by their idf.

Weights and floors were measured by `bench/retrieval.py`; docs/search.md has the curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from articles.terms.bm25 import K1

WEIGHTS = {"cosine": 1.0, "saturation": 0.6, "phrases": 0.2, "title": 0.3}

FLOOR = 0.3
"""Of the right articles that come first, 98 of 100 are above, and of the best hits for
questions about another product, 31 of 100: worth reading, not yet worth quoting."""

WITHOUT_COSINE = (0.13, 1.06)
WITHOUT_WORDS = (0.01, 0.65)
"""Offset and factor that bring a strength without that part to the scale of a whole one: such
that as many right and as many wrong hits are above the floor."""

MIN_COSINE = 0.3
"""Below, a passage that shares no word with the query is noise even in a list of results."""


@dataclass(frozen=True)
class Word:
    """A word of a query: the terms that find it, and its idf. `is_prefix`: it is unknown
    and the last one, so perhaps not yet typed to its end, and titles may go on from it.
    `also`: synonyms that find it as well, each as words side by side with their terms."""

    terms: tuple[str, ...]
    idf: float
    is_prefix: bool = False
    also: tuple[tuple[tuple[str, ...], ...], ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What a passage has of a query.

    `cosine` is the model's own, None without a vector. `bm25` is the score. `words` and
    `title` are indices into the query's words, `phrases` into its pairs: words that
    follow each other there and, as a phrase, in the passage.
    """

    cosine: float | None
    bm25: float
    words: frozenset[int]
    title: frozenset[int]
    phrases: frozenset[int]


@dataclass(frozen=True)
class Judgement:
    """`coverage` is the share of the query's idf that stands in the passage. `parts` are what
    strength is the mean of, each from 0 to 1 and by its name in `WEIGHTS`."""

    strength: float
    coverage: float
    above_floor: bool
    parts: Mapping[str, float] = field(default_factory=dict, compare=False)


class Judge:
    """Weighs passages for a query of these words, some of which follow each other."""

    def __init__(self, words: Sequence[Word], pairs: Sequence[tuple[int, int]]) -> None:
        self._idfs = [word.idf for word in words]
        self._total = sum(self._idfs)
        self._worth = [self._idfs[first] + self._idfs[second] for first, second in pairs]
        self._all_worth = sum(self._worth)

    def __call__(self, evidence: Evidence) -> Judgement:
        """What a passage with this evidence is worth."""
        parts: dict[str, float] = {}
        if evidence.cosine is not None:
            parts["cosine"] = evidence.cosine
        if self._total:
            parts["saturation"] = min(1.0, evidence.bm25 / (self._total * (K1 + 1)))
            parts["phrases"] = _share(self._worth, evidence.phrases, self._all_worth)
            parts["title"] = _share(self._idfs, evidence.title, self._total)
        strength = _strength(parts)
        coverage = _share(self._idfs, evidence.words, self._total)
        return Judgement(strength, coverage, strength >= FLOOR, parts)


def _strength(parts: dict[str, float]) -> float:
    """The weighted mean of the parts there are, on the scale of all of them."""
    if not parts:
        return 0.0
    weight = sum(WEIGHTS[name] for name in parts)
    mean = sum(WEIGHTS[name] * part for name, part in parts.items()) / weight
    if "cosine" not in parts:
        offset, factor = WITHOUT_COSINE
    elif "title" not in parts:
        offset, factor = WITHOUT_WORDS
    else:
        return mean
    return min(1.0, offset + factor * mean)


def _share(worth: Sequence[float], found: frozenset[int], total: float) -> float:
    return sum([worth[index] for index in found]) / total if total else 0.0
