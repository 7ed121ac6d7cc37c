"""Which search hits are sure enough to be quoted without a model that judges them.

Search's own floor lets through what is worth a model's reading. Quoting needs more: the
article's best passage and its best three on average, whether the question names what
the title names, and some allowance for long questions, of which no passage holds all.
Weights and floor were measured by `bench/extractive.py`.
"""

from __future__ import annotations

from statistics import fmean

from articles.analysis import query_terms, tokens
from articles.reading import shown_revision
from articles.search import Hit, Results

FLOOR = 0.63

NEAR = 0.95
"""A second article is quoted as well when its best passage is that near to the first one's."""

MOST_WORDS = 40


def sure(results: Results) -> tuple[Hit, ...]:
    """The best hit, and the second where it is about as good; none where neither is sure."""
    best = results.hits[:2]
    if not best or confidence(results.query, best[0]) < FLOOR:
        return ()
    return tuple(hit for hit in best if hit.score >= NEAR * best[0].score)


def confidence(query: str, hit: Hit) -> float:
    """On one scale for all queries; 0 for a hit by its title alone."""
    if not hit.passages:
        return 0.0
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
