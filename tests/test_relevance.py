"""How well a passage answers a query, on one scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.ranking.relevance import FLOOR, WEIGHTS, Evidence, Judge, Word
from articles.terms.bm25 import K1

WORDS = (Word(("reset",), 3.0), Word(("password",), 1.0))
PAIRS = ((0, 1),)
NONE: frozenset[int] = frozenset()
ALL = frozenset({0, 1})


def evidence(
    cosine: float | None = 0.0,
    bm25: float = 0.0,
    words: frozenset[int] = NONE,
    title: frozenset[int] = NONE,
    phrases: frozenset[int] = NONE,
) -> Evidence:
    return Evidence(cosine, bm25, words, title, phrases)


def test_nothing_is_worth_nothing_and_everything_is_worth_one() -> None:
    nothing = Judge(WORDS, PAIRS)(evidence())
    assert (nothing.strength, nothing.coverage, nothing.above_floor) == (0.0, 0.0, False)
    everything = Judge(WORDS, PAIRS)(evidence(1.0, 4 * (K1 + 1), ALL, ALL, frozenset({0})))
    assert everything.strength == pytest.approx(1.0)
    assert everything.coverage == 1.0
    assert everything.above_floor


def test_coverage_is_the_share_of_the_querys_idf() -> None:
    assert Judge(WORDS, PAIRS)(evidence(words=frozenset({0}))).coverage == 0.75
    assert Judge(WORDS, PAIRS)(evidence(words=frozenset({1}))).coverage == 0.25


def test_each_part_adds_its_weight() -> None:
    total = sum(WEIGHTS.values())
    assert Judge(WORDS, PAIRS)(evidence(0.5)).strength == pytest.approx(0.5 / total)
    title = Judge(WORDS, PAIRS)(evidence(title=frozenset({1})))
    assert title.strength == pytest.approx(0.25 * WEIGHTS["title"] / total)
    phrase = Judge(WORDS, PAIRS)(evidence(phrases=frozenset({0})))
    assert phrase.strength == pytest.approx(WEIGHTS["phrases"] / total)
    full = Judge(WORDS, PAIRS)(evidence(bm25=1e9))
    assert full.strength == pytest.approx(WEIGHTS["saturation"] / total)


def test_a_query_of_one_word_has_no_pair() -> None:
    assert Judge(WORDS[:1], ())(evidence(0.5)).strength > 0


def test_without_a_vector_words_are_brought_to_the_same_scale() -> None:
    weak = Judge(WORDS, PAIRS)(evidence(None, 0.1))
    strong = Judge(WORDS, PAIRS)(evidence(None, 4.0, ALL, ALL, frozenset({0})))
    assert not weak.above_floor
    assert strong.above_floor
    assert strong.strength <= 1.0


def test_without_words_a_cosine_is_brought_to_the_same_scale() -> None:
    assert not Judge((), ())(evidence(0.4)).above_floor
    near = Judge((), ())(evidence(0.5))
    assert near.above_floor
    assert near.coverage == 0.0


def test_without_anything_there_is_no_strength() -> None:
    assert Judge((), ())(evidence(None)).strength == 0.0


def test_a_query_and_its_half_compare() -> None:
    """Whatever the length of the query: what covers all of it in the same way is as strong."""
    long = WORDS * 3
    assert Judge(long, ())(evidence(0.5, 6.6, frozenset(range(6)))).strength == pytest.approx(
        Judge(WORDS, ())(evidence(0.5, 2.2, ALL)).strength
    )


@given(
    st.one_of(st.none(), st.floats(-1, 1)),
    st.floats(0, 50),
    st.frozensets(st.integers(0, 1)),
    st.frozensets(st.integers(0, 1)),
    st.frozensets(st.just(0)),
)
def test_strength_stays_on_its_scale_and_decides_the_floor(
    cosine: float | None,
    bm25: float,
    words: frozenset[int],
    title: frozenset[int],
    phrases: frozenset[int],
) -> None:
    judgement = Judge(WORDS, PAIRS)(evidence(cosine, bm25, words, title, phrases))
    assert -1.0 <= judgement.strength <= 1.0 + 1e-9
    assert judgement.above_floor == (judgement.strength >= FLOOR)
