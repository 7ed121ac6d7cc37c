"""Which search hits are sure enough to be quoted without a model that judges them.

Search's own floor lets through what is worth a model's reading. Quoting needs more, and
there are two ways to be sure enough:

- by confidence: the article's best passage and its best three on average, whether the
  question names what the title names, and some allowance for long questions, of which
  no passage holds all;
- by strength and coverage alone, where the passage has a good part of the question's words.
  In a small help center little is found by chance, so this floor rises with the number of
  passages, and beyond `MOST_PASSAGES` it is out of reach.

The constants were measured by `bench/extractive.py` on help centers of three sizes, asked
their own questions and those of others.
"""

from __future__ import annotations

import math
from statistics import fmean

from articles.reading import shown_revision
from articles.search import Hit, Results
from articles.terms.analysis import query_terms, tokens

CONFIDENCE_FLOOR = 0.66

STRENGTH_FLOOR = 0.25
"""Of a help center of `SMALL` passages or fewer; `RISE` more for each e-fold."""

RISE = 0.2
SMALL = 300
MOST_PASSAGES = 2_000

LEAST_COVERAGE = 0.4
COVERAGE_WEIGHT = 0.15
"""Of the coverage above the least one, beside the strength."""

NEAR = 0.95
"""A second article is quoted as well when its best passage is that near to the first one's."""

MOST_WORDS = 40


def sure(results: Results, passages: int) -> tuple[Hit, ...]:
    """The best hit, and the second where it is about as good; none where it is not sure.

    `passages`: how many there are to search in.
    """
    best = results.hits[:2]
    if not best or not is_sure(results.query, best[0], passages):
        return ()
    return tuple(hit for hit in best if hit.score >= NEAR * best[0].score)


def is_sure(query: str, hit: Hit, passages: int) -> bool:
    """Whether an answer may quote this hit. One by its title alone never is."""
    if not hit.passages:
        return False
    above = hit.coverage - LEAST_COVERAGE
    is_strong = hit.score + COVERAGE_WEIGHT * above >= strength_floor(passages)
    return (above >= 0 and is_strong) or confidence(query, hit) >= CONFIDENCE_FLOOR


def strength_floor(passages: int) -> float:
    """The floor for strength in a help center of this size."""
    return STRENGTH_FLOOR + RISE * math.log(min(max(passages, SMALL), MOST_PASSAGES) / SMALL)


def confidence(query: str, hit: Hit) -> float:
    """How sure a hit with passages is, on one scale for all queries."""
    revision = shown_revision(hit.article)
    words = query_terms(query, revision.language)
    asked = {term for word in words for term in word}
    title = tokens(revision.title, revision.language)
    named = sum(not asked.isdisjoint(token.terms) for token in title) / max(1, len(title))
    return (
        hit.score
        + 0.5 * fmean(passage.strength for passage in hit.passages)
        + 0.15 * named
        + 0.0025 * min(len(words), MOST_WORDS)
    )
