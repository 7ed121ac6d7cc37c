"""The second stage: what each candidate has of the query, read from its `tsvector`, weighed.

A small statement asks for every candidate which of the query's words stand in it, which
in its title, and which pairs of words stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from articles.ranking.candidates import Candidate
from articles.ranking.queries import Analysed, any_of
from articles.ranking.relevance import MIN_COSINE, Evidence, Judge, Judgement

WEIGHED = 60
"""Candidates, in fused order, that are weighed."""

_MATCHED = """
SELECT p.id, p.article_id, ARRAY(
    SELECT place FROM unnest(%s::tsquery[]) WITH ORDINALITY AS feature (query, place)
    WHERE p.terms @@ query
)
FROM (
    SELECT id, article_id, terms || '' AS terms FROM articles_passage
    WHERE id = ANY(%s) OFFSET 0
) AS p
"""
"""What is added to `terms` is nothing, but so they are read from their storage once for a
passage, and not once for each word."""


@dataclass(frozen=True)
class Weighed:
    """A candidate, the article it belongs to, what it has of the query and what it is worth."""

    candidate: Candidate
    article_id: int
    evidence: Evidence
    judgement: Judgement


def weigh(query: Analysed, candidates: Sequence[Candidate]) -> list[Weighed]:
    """The candidates worth showing, strongest first; equally strong ones in their order."""
    first = {candidate.passage_id: candidate for candidate in candidates[:WEIGHED]}
    with connection.cursor() as cursor:
        cursor.execute(_MATCHED, [_features(query), list(first)])
        rows = {row[0]: row for row in cursor.fetchall()}
    judge = Judge(query.words, query.pairs)
    weighed = []
    for passage_id, candidate in first.items():
        if passage_id in rows:
            _id, article_id, matched = rows[passage_id]
            evidence = _evidence(query, candidate, matched)
            if evidence.words or (evidence.cosine or 0.0) >= MIN_COSINE:
                weighed.append(Weighed(candidate, article_id, evidence, judge(evidence)))
    return sorted(weighed, key=lambda one: -one.judgement.strength)


def _features(query: Analysed) -> list[str]:
    """Tsqueries: each word anywhere, each word in the title, each pair as a phrase."""
    words = query.words
    return [
        *(any_of(word) for word in words),
        *(any_of(word, "A") for word in words),
        *(f"({any_of(words[one])}) <-> ({any_of(words[next_])})" for one, next_ in query.pairs),
    ]


def _evidence(query: Analysed, candidate: Candidate, matched: Sequence[int]) -> Evidence:
    """`matched` are places in `_features`, from 1."""
    count = len(query.words)
    return Evidence(
        candidate.cosine,
        candidate.bm25,
        frozenset(place - 1 for place in matched if place <= count),
        frozenset(place - 1 - count for place in matched if count < place <= 2 * count),
        frozenset(place - 1 - 2 * count for place in matched if place > 2 * count),
    )
