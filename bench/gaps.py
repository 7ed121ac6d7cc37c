"""How well questions are grouped into topics, on 10,003 real ones whose intents are known.

    python bench/gaps.py [--batch N] [--seed N]

BANKING77's training questions (../shared/gaps) come in batches, as runs of the report bring
them, in the order of the file and shuffled; after the last one, topics are compared with the 77
intents: V-measure and adjusted Rand index, 1 at best, 0 by chance. The last choice
among constants of `assistant.gaps.clustering` fell on the even intents.
The plain clusterer puts each question into the topic with the nearest mean, once and for all.
Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))
os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"

import django  # noqa: E402

django.setup()

from assistant.gaps import clustering  # noqa: E402

QUESTIONS = PROJECT.parent / "shared" / "gaps" / "banking77-train.csv"
PLAIN_THRESHOLD = 0.5

Labels = NDArray[np.int64]


class Agreement(NamedTuple):
    """How far topics agree with intents, and how many topics there are."""

    v_measure: float
    adjusted_rand: float
    topics: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=2_500, help="questions of a run")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffling")
    arguments = parser.parse_args()
    vectors, intents = questions()
    everything = np.arange(len(intents))
    even = np.flatnonzero(intents % 2 == 0)
    odd = np.flatnonzero(intents % 2)
    shuffled = np.random.default_rng(arguments.seed).permutation(len(intents))
    print("| questions | order | V-measure | adjusted Rand | topics | s |")
    print("| --- | --- | --- | --- | --- | --- |")
    line("all, target", "", Agreement(0.76, 0.42, 300), 0)
    plain = agreement(intents, in_plain_topics(vectors))
    line("all, by the plain clusterer", "file", plain, 0)
    for name, chosen, order in (
        ("all", everything, "file"),
        ("all", shuffled, "shuffled"),
        ("even intents, chosen on", even, "file"),
        ("odd intents", odd, "file"),
        ("odd intents", shuffled[np.isin(shuffled, odd)], "shuffled"),
    ):
        began = time.perf_counter()
        found = in_topics(vectors[chosen], arguments.batch)
        line(name, order, agreement(intents[chosen], found), time.perf_counter() - began)


def questions() -> tuple[clustering.Vectors, Labels]:
    """The vectors of all questions, and the number of each one's intent."""
    from articles.embeddings import LocalEmbedder

    with QUESTIONS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["category"] for row in rows})
    made = LocalEmbedder(LocalEmbedder.DIMENSIONS).embed([row["text"] for row in rows])
    intents = np.array([names.index(row["category"]) for row in rows], np.int64)
    return np.array(made, np.float32), intents


def in_topics(vectors: clustering.Vectors, batch: int) -> Labels:
    """The topics after the last of the runs that bring so many questions each."""
    labels = np.zeros(0, np.int64)
    for end in range(batch, len(vectors) + batch, batch):
        seen = vectors[:end]
        new = np.full(len(seen) - len(labels), clustering.NEW)
        near = clustering.smoothed(seen, seen)
        labels = clustering.join(
            near,
            np.concatenate([labels, new]),
            clustering.Topics(),
            int(labels.max(initial=-1)) + 1,
        )
        movable = np.ones(len(seen), bool)
        labels = clustering.settle(
            near, labels, movable, clustering.Topics(), int(labels.max()) + 1
        )
    return labels


def in_plain_topics(vectors: clustering.Vectors) -> Labels:
    sums = np.zeros_like(vectors)
    units = np.zeros_like(vectors)
    labels = np.zeros(len(vectors), np.int64)
    count = 0
    for place, vector in enumerate(vectors):
        cosines = units[:count] @ vector
        nearest = int(cosines.argmax()) if count else 0
        if not count or cosines[nearest] < PLAIN_THRESHOLD:
            nearest, count = count, count + 1
        sums[nearest] += vector
        units[nearest] = sums[nearest] / np.linalg.norm(sums[nearest])
        labels[place] = nearest
    return labels


def agreement(intents: Labels, topics: Labels) -> Agreement:
    """The two measures, from how many questions each intent shares with each topic."""
    rows = np.unique(intents, return_inverse=True)[1]
    columns = np.unique(topics, return_inverse=True)[1]
    shared = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(shared, (rows, columns), 1)
    return Agreement(v_measure(shared), adjusted_rand(shared), int(columns.max()) + 1)


def v_measure(shared: NDArray[np.float64]) -> float:
    """The harmonic mean of homogeneity and completeness."""
    share = shared / shared.sum()
    own, other = share.sum(axis=1), share.sum(axis=0)
    mutual = _entropy(own) + _entropy(other) - _entropy(share.ravel())
    both = _entropy(own) + _entropy(other)
    return float(2 * mutual / both) if both else 1.0


def adjusted_rand(shared: NDArray[np.float64]) -> float:
    """The share of pairs on which both agree, beyond what chance gives."""
    together = _pairs(shared.ravel())
    rows, columns = _pairs(shared.sum(axis=1)), _pairs(shared.sum(axis=0))
    chance = rows * columns / _pairs(np.array([shared.sum()]))
    best = (rows + columns) / 2
    return float((together - chance) / (best - chance)) if best != chance else 1.0


def _entropy(shares: NDArray[np.float64]) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


def _pairs(counts: NDArray[np.float64]) -> float:
    return float((counts * (counts - 1) / 2).sum())


def line(name: str, order: str, found: Agreement, seconds: float) -> None:
    numbers = f"{found.v_measure:.3f} | {found.adjusted_rand:.3f} | {found.topics}"
    print(f"| {name} | {order} | {numbers} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
