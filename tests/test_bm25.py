"""BM25 as an inner product of sparse vectors."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from articles.terms import bm25

PASSAGES = ["a b b c", "a d", "c c c c e", "f"]


def textbook_score(query: str, passage: str) -> float:
    """Robertson and Walker's formula, written out."""
    texts = [text.split() for text in PASSAGES]
    average = sum(map(len, texts)) / len(texts)
    words = passage.split()
    score = 0.0
    for term in set(query.split()):
        known = sum(term in text for text in texts)
        idf = math.log(1 + (len(texts) - known + 0.5) / (known + 0.5))
        count = words.count(term)
        norm = bm25.K1 * (1 - bm25.B + bm25.B * len(words) / average)
        score += idf * count * (bm25.K1 + 1) / (count + norm)
    return score


@pytest.mark.parametrize("passage", PASSAGES)
@pytest.mark.parametrize("query", ["a", "b c", "a d f", "c c e"])
def test_the_inner_product_is_the_textbook_score(query: str, passage: str) -> None:
    texts = [text.split() for text in PASSAGES]
    average = sum(map(len, texts)) / len(texts)
    words = passage.split()
    weights = bm25.passage_weights(Counter(words), len(words), average)
    idfs = {
        term: bm25.idf(len(texts), sum(term in text for text in texts)) for term in query.split()
    }
    product = sum(
        weight * weights.get(place, 0.0) for place, weight in bm25.query_weights(idfs).items()
    )
    assert product == pytest.approx(textbook_score(query, passage))


def test_a_term_has_the_same_dimension_in_every_process() -> None:
    assert bm25.dimension("password") == 818137333
    assert bm25.dimension("账单") == 940176854


def test_dimensions_fit_a_sparsevec_and_hardly_collide() -> None:
    places = [bm25.dimension(f"term{number}") for number in range(20_000)]
    assert all(0 <= place < bm25.DIMENSIONS for place in places)
    assert len(set(places)) >= 19_999


def test_terms_of_one_dimension_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "dimension", lambda term: 7)
    weights = bm25.passage_weights({"a": 1, "b": 1}, 2, 2)
    assert weights == {7: pytest.approx(2 * 2.2 / 2.2)}


def test_weights_saturate_below_k1_plus_one() -> None:
    (often,) = bm25.passage_weights({"a": 10_000}, 10, 10).values()
    (once,) = bm25.passage_weights({"a": 1}, 10, 10).values()
    assert once < often < bm25.K1 + 1


def test_a_long_passage_needs_more_to_weigh_as_much() -> None:
    (short,) = bm25.passage_weights({"a": 1}, 10, 100).values()
    (long,) = bm25.passage_weights({"a": 1}, 1000, 100).values()
    assert long < short


def test_idf_falls_with_frequency_and_stays_above_zero() -> None:
    values = [bm25.idf(100, count) for count in (1, 10, 50, 100)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_an_uncounted_term_counts_as_one_and_a_stale_count_is_no_error() -> None:
    assert bm25.idf(100, 0) == bm25.idf(100, 1)
    assert bm25.idf(10, 12) == bm25.idf(10, 10) > 0
    assert bm25.idf(0, 0) == 1.0
