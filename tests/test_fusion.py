"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.ranking.fusion import K, fuse


def test_a_place_is_worth_one_over_k_and_the_place() -> None:
    assert fuse([["a", "b"]]) == {"a": 1 / (K + 1), "b": 1 / (K + 2)}


def test_what_two_lists_agree_on_comes_first() -> None:
    assert list(fuse([["a", "b"], ["b", "c"]])) == ["b", "a", "c"]


def test_equal_scores_keep_the_order_of_first_appearance() -> None:
    assert list(fuse([["b"], ["a"]])) == ["b", "a"]


def test_weights_say_how_much_a_list_counts() -> None:
    assert list(fuse([["a"], ["b"]], weights=[1, 2])) == ["b", "a"]


def test_a_small_k_trusts_the_top_of_a_list_more() -> None:
    lists = [["a", "b"], ["c", "b"]]
    assert next(iter(fuse(lists, k=60))) == "b"
    assert list(fuse(lists, k=0))[:2] == ["a", "b"]


def test_an_item_named_twice_counts_at_its_best_place() -> None:
    assert fuse([["a", "b", "a"]]) == fuse([["a", "b"]])


def test_nothing_gives_nothing() -> None:
    assert fuse([]) == {}
    assert fuse([[], []]) == {}


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        fuse([["a"], ["b"]], weights=[1.0])


@given(st.lists(st.lists(st.integers(0, 20), max_size=12), max_size=4))
def test_every_item_is_there_once_and_scores_never_rise(rankings: list[list[int]]) -> None:
    fused = fuse(rankings)
    assert set(fused) == {item for ranking in rankings for item in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
