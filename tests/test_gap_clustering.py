"""Questions to topics by their vectors: what joins, what is looked at again, what stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from articles.embeddings import LocalEmbedder
from articles.ranking.calibration import Scale, scale_of
from assistant.gaps import clustering
from assistant.gaps.clustering import NEW, Thresholds, Topics
from assistant.gaps.naming import central
from tests.test_embeddings import Crowded


def around(direction: int, count: int, seed: int, spread: float = 0.02) -> clustering.Vectors:
    """Unit vectors near one axis."""
    noise = np.random.default_rng(seed).normal(0, spread, (count, 64))
    noise[:, direction] += 1
    lengths = np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(noise / lengths, np.float32)


def labels(*numbers: int) -> clustering.Labels:
    return np.array(numbers, np.int64)


def test_a_question_joins_the_nearest_topic_or_opens_one() -> None:
    vectors = np.vstack([around(0, 2, 1), around(1, 2, 2)])
    found = clustering.join(vectors, labels(7, NEW, NEW, NEW), Topics(), next_number=20)
    assert found.tolist() == [7, 7, 20, 20]


def test_a_topic_without_a_question_in_sight_is_joined_by_its_mean() -> None:
    vectors = around(0, 2, 1)
    outside = Topics([3], [vectors[0] * 5], [5])
    assert clustering.join(vectors[1:], labels(NEW), outside, 20).tolist() == [3]


def test_smoothing_leaves_alone_what_has_no_neighbour_near() -> None:
    alone = np.vstack([around(number, 1, number) for number in range(5)])
    assert np.allclose(clustering.smoothed(alone, alone), alone, atol=1e-6)


def test_smoothing_moves_neighbours_towards_each_other() -> None:
    vectors = around(0, 6, 1, spread=0.1)
    before = float((vectors @ vectors.T).mean())
    near = clustering.smoothed(vectors, vectors)
    assert float((near @ near.T).mean()) > before


def test_the_second_look_makes_one_of_two_topics_that_are_near() -> None:
    vectors = around(0, 6, 1)
    movable = np.ones(6, bool)
    found = clustering.settle(vectors, labels(9, 9, 9, 4, 4, 4), movable, Topics(), 20)
    assert found.tolist() == [4] * 6


def test_the_second_look_parts_what_does_not_belong_together() -> None:
    vectors = np.vstack([around(0, 3, 1), around(1, 1, 2)])
    found = clustering.settle(vectors, labels(4, 4, 4, 4), np.ones(4, bool), Topics(), 20)
    assert found.tolist() == [4, 4, 4, 20]


def test_what_may_not_be_moved_stays_and_is_not_merged() -> None:
    vectors = np.vstack([around(0, 3, 1), around(1, 1, 2), around(0, 2, 3)])
    before = labels(4, 4, 4, 4, 5, 5)
    movable = np.array([False] * 4 + [True] * 2)
    found = clustering.settle(vectors, before, movable, Topics(), 20)
    assert found[:4].tolist() == [4] * 4
    assert np.array_equal(clustering.settle(vectors, before, movable & False, Topics(), 20), before)


def test_the_central_question_is_the_one_nearest_to_all() -> None:
    vectors = np.vstack([around(0, 1, 1, spread=0.3), around(0, 5, 2)])
    assert central(vectors) != 0
    same = np.vstack([around(0, 1, 1)] * 3)
    assert central(same) == 0


def test_real_questions_are_grouped_better_than_by_the_plain_clusterer(shared_dir: Path) -> None:
    """A quarter of what `bench/gaps.py` measures, so that a change that makes it worse shows."""
    from bench import gaps as bench

    vectors, intents = bench.questions()
    chosen = np.random.default_rng(0).permutation(len(intents))[:2_500]
    found = bench.agreement(intents[chosen], bench.in_topics(vectors[chosen], 1_250))
    plain = bench.agreement(intents[chosen], bench.in_plain_topics(vectors[chosen]))
    assert found.v_measure > plain.v_measure
    assert found.adjusted_rand > 0.36
    assert found.topics < plain.topics


def test_a_model_whose_cosines_are_nearer_together_makes_the_same_topics() -> None:
    """Some endpoints' models call nothing unlike: thresholds move to their scale."""
    texts = [
        "When will I receive my new card?",
        "When will my new card arrive?",
        "My new card has not arrived yet, when will I receive it?",
        "Which currencies do you support for exchange?",
        "What currencies can I exchange?",
        "Can I pay by invoice?",
        "Why was a fee charged for my withdrawal abroad?",
        "How do I change the address of my account?",
    ]
    found = []
    for embedder in (LocalEmbedder(256), Crowded()):
        vectors = np.array(embedder.embed(texts), np.float32)
        scale = scale_of(embedder)
        local = clustering.LOCAL
        at = Thresholds(scale.own(local.floor), scale.own(local.join), scale.own(local.merge))
        near = clustering.smoothed(vectors, vectors, at)
        new = np.full(len(texts), NEW, np.int64)
        joined = clustering.join(near, new, Topics(), 0, at)
        movable = np.ones(len(texts), bool)
        found.append(clustering.settle(near, joined, movable, Topics(), 20, at).tolist())
    assert found[0] == found[1]
    assert len(set(found[0])) == 5


def test_thresholds_go_to_a_models_scale_and_back() -> None:
    scale = Scale(0.7, 0.85)
    assert scale.comparable(scale.own(0.5)) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("intents", "topics", "v_measure", "rand"),
    [
        ([0, 0, 1, 1], [5, 5, 7, 7], 1.0, 1.0),
        ([0, 0, 1, 1], [0, 1, 2, 3], 2 / 3, 0.0),
        ([0, 0, 1, 1], [0, 0, 0, 0], 0.0, 0.0),
        ([0, 0, 1, 2], [0, 0, 1, 1], 0.8, 4 / 7),
    ],
)
def test_the_measures_are_the_usual_ones(
    intents: Any, topics: Any, v_measure: float, rand: float
) -> None:
    from bench import gaps as bench

    found = bench.agreement(np.array(intents), np.array(topics))
    assert found.v_measure == pytest.approx(v_measure)
    assert found.adjusted_rand == pytest.approx(rand)
