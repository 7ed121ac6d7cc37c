"""Vectors of questions to topics: numbers only, no texts and no database.

A question alone says little, so each vector is first moved towards its nearest neighbours
(`smoothed`): that tells topics apart better than any other step that was measured
(`bench/gaps.py`). `join` then takes new questions one by one into the nearest topic above
`join`, or opens one. `settle` looks again at the questions of topics that nobody has worked on:
each goes to the topic it is nearest to now, and topics that are near each other on average
become one.

Vectors are rows of float32 and of unit length. A topic is a number; its mean is that of
its smoothed vectors, and shorter than 1 the less alike they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Labels = NDArray[np.int64]

NEIGHBOURS = 12
WEIGHT = 3.0
"""What all neighbours together weigh beside the question itself."""


@dataclass(frozen=True)
class Thresholds:
    """Cosines on the scale of the local model, for which they were measured; for another one
    they have to be moved to its scale."""

    floor: float = 0.4
    """The least cosine of a neighbour. Where little was asked yet, the nearest is not near."""

    join: float = 0.78
    """The least cosine of a question with a topic's mean, both smoothed."""

    merge: float = 0.66
    """The least mean cosine between the questions of two topics that become one."""


LOCAL = Thresholds()

NEW = -1
"""The label of a question without a topic."""

_ROWS = 250
"""Compared at once: bounds the memory."""


@dataclass
class Topics:
    """Means of topics with the number of questions behind each, by the topic's number."""

    numbers: list[int] = field(default_factory=list)
    sums: list[Vectors] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, vectors: Vectors, labels: Labels) -> Topics:
        """The topics that these questions make; those labelled `NEW` belong to none."""
        known = labels != NEW
        numbers, places = np.unique(labels[known], return_inverse=True)
        sums = np.zeros((len(numbers), vectors.shape[1]), np.float32)
        np.add.at(sums, places, vectors[known])
        counts = np.bincount(places, minlength=len(numbers))
        return cls(numbers.tolist(), list(sums), counts.tolist())

    def __add__(self, other: Topics) -> Topics:
        return Topics(
            self.numbers + other.numbers, self.sums + other.sums, self.counts + other.counts
        )

    @property
    def means(self) -> Vectors:
        return np.array(self.sums, np.float32) / np.array(self.counts, np.float32)[:, None]


def smoothed(vectors: Vectors, among: Vectors, at: Thresholds = LOCAL) -> Vectors:
    """Each of `vectors` moved towards its nearest in `among`, which holds it too."""
    result = np.empty_like(vectors)
    count = min(NEIGHBOURS + 1, len(among))
    for start in range(0, len(vectors), _ROWS):
        own = vectors[start : start + _ROWS]
        cosines = own @ among.T
        nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        near = np.take_along_axis(cosines, nearest, axis=1)
        # The question finds itself, which is no neighbour: what it adds is taken off again.
        weights = (near >= at.floor).astype(np.float32) * (WEIGHT / NEIGHBOURS)
        moved = np.einsum("qn,qnd->qd", weights, among[nearest], optimize=True)
        result[start : start + _ROWS] = own * (1 - WEIGHT / NEIGHBOURS) + moved
    return _unit(result)


def join(
    vectors: Vectors, labels: Labels, others: Topics, next_number: int, at: Thresholds = LOCAL
) -> Labels:
    """The labels with every `NEW` one replaced: by the nearest topic's, else by a number of
    its own, from `next_number` on. `others` are topics without a question in `vectors`."""
    labels = labels.copy()
    topics = _Growing(Topics.of(vectors, labels) + others, vectors.shape[1])
    for place in np.flatnonzero(labels == NEW):
        number = topics.nearest(vectors[place], at.join)
        if number is None:
            number, next_number = next_number, next_number + 1
        topics.add(number, vectors[place])
        labels[place] = number
    return labels


def settle(
    vectors: Vectors,
    labels: Labels,
    is_movable: NDArray[np.bool_],
    others: Topics,
    next_number: int,
    at: Thresholds = LOCAL,
) -> Labels:
    """The labels after a second look at what may be moved.

    A topic has to be movable as a whole: with one question that is not, it stays as it is.
    What is emptied is gone; of two that become one, the one with the lower number stays.
    """
    labels = labels.copy()
    movable = np.flatnonzero(is_movable)
    if not len(movable):
        return labels
    topics = Topics.of(vectors, labels) + others
    labels[movable] = _nearest_each(vectors[movable], topics, at.join)
    labels = join(vectors, labels, others, next_number, at)
    fixed = np.unique(labels[~is_movable])
    own = movable[~np.isin(labels[movable], np.concatenate([fixed, others.numbers]))]
    if len(own):
        labels[own] = _merged(Topics.of(vectors[own], labels[own]), labels[own], at.merge)
    return labels


class _Growing:
    """Topics whose means move as questions join them, in arrays with room to grow."""

    def __init__(self, topics: Topics, dimensions: int) -> None:
        self._numbers = list(topics.numbers)
        self._place = {number: place for place, number in enumerate(self._numbers)}
        room = max(64, 2 * len(self._numbers))
        self._sums = np.zeros((room, dimensions), np.float32)
        if topics.sums:
            self._sums[: len(topics.sums)] = topics.sums
        self._units = _unit(self._sums)

    def nearest(self, vector: Vectors, least: float) -> int | None:
        if not self._numbers:
            return None
        cosines = self._units[: len(self._numbers)] @ vector
        place = int(cosines.argmax())
        return self._numbers[place] if cosines[place] >= least else None

    def add(self, number: int, vector: Vectors) -> None:
        place = self._place.setdefault(number, len(self._numbers))
        if place == len(self._numbers):
            self._numbers.append(number)
            if place == len(self._sums):
                self._sums = np.vstack([self._sums, np.zeros_like(self._sums)])
                self._units = np.vstack([self._units, np.zeros_like(self._units)])
        self._sums[place] += vector
        self._units[place] = _unit(self._sums[place])


def _nearest_each(vectors: Vectors, topics: Topics, least: float) -> Labels:
    """The nearest topic of each, `NEW` where none is near enough."""
    units, numbers = _unit(topics.means), np.array(topics.numbers, np.int64)
    found = np.empty(len(vectors), np.int64)
    for start in range(0, len(vectors), _ROWS):
        cosines = vectors[start : start + _ROWS] @ units.T
        places = cosines.argmax(axis=1)
        near = np.take_along_axis(cosines, places[:, None], axis=1)[:, 0]
        found[start : start + _ROWS] = np.where(near >= least, numbers[places], NEW)
    return found


def _merged(topics: Topics, labels: Labels, least: float) -> Labels:
    """Average linkage: the two nearest topics become one, until no two are near enough."""
    sums, counts = np.array(topics.sums, np.float32), np.array(topics.counts, np.float32)
    means = sums / counts[:, None]
    cosines = means @ means.T
    np.fill_diagonal(cosines, -1)
    partner = cosines.argmax(axis=1)
    best = cosines.max(axis=1)
    into = np.arange(len(counts))
    while best.max() >= least:
        one = int(best.argmax())
        kept, gone = sorted((one, int(partner[one])))
        sums[kept] += sums[gone]
        counts[kept] += counts[gone]
        into[into == gone] = kept
        means[kept], means[gone] = sums[kept] / counts[kept], 0
        row = means @ means[kept]
        row[best == -1] = row[kept] = row[gone] = -1
        cosines[gone] = cosines[:, gone] = best[gone] = -1
        cosines[kept] = cosines[:, kept] = row
        nearer = row > best
        partner[nearer], best[nearer] = kept, row[nearer]
        # Those whose partner moved away look again; everybody else keeps the one they have.
        alive = best > -1
        lost = np.flatnonzero(alive & ~nearer & np.isin(partner, (kept, gone)))
        for place in {kept, *lost.tolist()}:
            partner[place] = cosines[place].argmax()
            best[place] = cosines[place, partner[place]]
    numbers = np.array(topics.numbers, np.int64)
    return numbers[into[np.searchsorted(numbers, labels)]]


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, np.float32)
