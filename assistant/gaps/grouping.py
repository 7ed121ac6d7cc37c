"""The questions of one kind as a run holds them: which topic each belongs to, old and new.

Held are the newest `POOL` different questions with their vectors, and the means of the topics
that are older. Nothing is written before `report` does so; until then a new topic has a
number from `FIRST_NEW` on in place of an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection

from assistant.gaps import clustering, vectors
from assistant.gaps.asked import Asked
from assistant.gaps.clustering import LOCAL, NEW, Labels, Thresholds, Topics, Vectors

POOL = 10_000
"""Comparing so many questions with each other takes a second or two, and 100 MB."""

FIRST_NEW = 1 << 40

_POOL = """
SELECT q.id, q.topic_id, q.fingerprint, halfvec_send(q.embedding)
FROM assistant_gapquestion q JOIN assistant_gaptopic t ON t.id = q.topic_id
WHERE t.kind = %s AND q.embedding_model = %s
ORDER BY q.id DESC LIMIT %s
"""
_WITHOUT = """
SELECT DISTINCT ON (q.fingerprint) q.id, q.topic_id, q.fingerprint, q.text, t.language
FROM assistant_gapquestion q JOIN assistant_gaptopic t ON t.id = q.topic_id
WHERE t.kind = %(kind)s AND q.text <> '' AND NOT EXISTS (
    SELECT FROM assistant_gapquestion o JOIN assistant_gaptopic p ON p.id = o.topic_id
    WHERE o.fingerprint = q.fingerprint AND p.kind = t.kind AND o.embedding_model = %(model)s
)
ORDER BY q.fingerprint, q.id DESC LIMIT %(limit)s
"""
_TOPICS = """
SELECT id, held, texts_count, embedding_model = %s AND centroid IS NOT NULL,
    halfvec_send(centroid)
FROM assistant_gaptopic WHERE kind = %s AND merged_into_id IS NULL
"""
_KNOWN = """
SELECT DISTINCT ON (q.fingerprint) q.fingerprint, q.topic_id
FROM assistant_gapquestion q JOIN assistant_gaptopic t ON t.id = q.topic_id
WHERE t.kind = %s AND q.fingerprint = ANY(%s) ORDER BY q.fingerprint, q.id DESC
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A question of an earlier run whose vector is held."""

    id: int
    topic_id: int
    fingerprint: str


@dataclass
class _Unembedded:
    text: str
    language: str


@dataclass
class Grouping:
    """`known` and `fresh` are the rows of `matrix`, in this order. `topic_by_mark` has the topic
    of a question that was asked before and is too old to be held."""

    kind: str
    model: str
    known: list[Known] = field(default_factory=list)
    fresh: list[Asked] = field(default_factory=list)
    topic_by_mark: dict[str, int] = field(default_factory=dict)
    place_by_mark: dict[str, int] = field(default_factory=dict)
    reembedded: int = 0
    """How many of `known`, the last ones, have a vector that is not stored yet."""

    matrix: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    smooth: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    labels: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    _at: Thresholds = LOCAL
    _older: Topics = field(default_factory=Topics)
    _texts: dict[int, int] = field(default_factory=dict)
    _held: set[int] = field(default_factory=set)

    @classmethod
    def load(cls, kind: str) -> Grouping:
        """What is known of this kind. Raises `EmbeddingError`."""
        group = cls(kind, vectors.model_name(), _at=vectors.thresholds())
        rows = _rows(_POOL, [kind, group.model, POOL])
        group.known = [Known(*row[:3]) for row in rows]
        without = _rows(_WITHOUT, {"kind": kind, "model": group.model, "limit": POOL})
        group.known += [Known(*row[:3]) for row in without]
        group.reembedded = len(without)
        made = vectors.vectors_of([_Unembedded(*row[3:]) for row in without])
        stored = vectors.read([row[3] for row in rows], made.shape[1])
        group.matrix = np.vstack([stored, made])
        group.labels = np.array([one.topic_id for one in group.known], np.int64)
        group.place_by_mark = {one.fingerprint: at for at, one in enumerate(group.known)}
        group._load_topics()
        return group

    def take(self, batch: Sequence[Asked]) -> None:
        """Takes in what was asked: repetitions as such, the others with their vectors."""
        marks = {one.fingerprint for one in batch} - self.place_by_mark.keys()
        self.topic_by_mark.update(_rows(_KNOWN, [self.kind, list(marks)]))
        different: list[Asked] = []
        for one in batch:
            mark = one.fingerprint
            if mark not in self.place_by_mark and mark not in self.topic_by_mark:
                self.place_by_mark[mark] = len(self.known) + len(self.fresh) + len(different)
                different.append(one)
        if different:
            self.matrix = np.vstack([self.matrix, vectors.vectors_of(different)])
            self.fresh += different
            added = np.full(len(different), NEW, np.int64)
            self._join(np.concatenate([self.labels, added]))

    def settle(self) -> None:
        """The second look, at the newest questions of topics that nobody has worked on."""
        if not len(self.labels):
            return
        window = slice(max(0, len(self.labels) - POOL), None)
        own = self.matrix[window]
        self.smooth[window] = clustering.smoothed(own, own, self._at)
        labels, counts = np.unique(self.labels[window], return_counts=True)
        movable = {
            int(label)
            for label, count in zip(labels, counts, strict=True)
            if int(label) not in self._held and count >= self._expected(int(label))
        }
        mask = np.isin(self.labels[window], np.array(sorted(movable), np.int64))
        outside = self._topics_without(set(labels.tolist()))
        self.labels[window] = clustering.settle(
            self.smooth[window], self.labels[window], mask, outside, self._next(), self._at
        )

    def topic_of(self, one: Asked) -> int:
        """The topic of what was taken in: an id, or the number of a new one."""
        place = self.place_by_mark.get(one.fingerprint)
        return self.topic_by_mark[one.fingerprint] if place is None else int(self.labels[place])

    def mean(self, number: int) -> tuple[Vectors, int]:
        """Of a topic's questions, with how many there are: those held and those too old to be."""
        own = self.smooth[self.labels == number]
        total, count = own.sum(axis=0), len(own)
        before = self._texts.get(number, 0) - sum(one.topic_id == number for one in self.known)
        if before > 0 and number in self._older.numbers:
            place = self._older.numbers.index(number)
            total = total + self._older.sums[place] * (before / self._older.counts[place])
            count += before
        return total / max(count, 1), count

    def _load_topics(self) -> None:
        older = Topics()
        dimensions = self.matrix.shape[1]
        for pk, held, count, is_current, stored in _rows(_TOPICS, [self.model, self.kind]):
            self._texts[pk] = count
            if held:
                self._held.add(pk)
            if is_current and count:
                older.numbers.append(pk)
                older.sums.append(vectors.read([stored], dimensions)[0] * count)
                older.counts.append(count)
        self._older = older

    def _join(self, labels: Labels) -> None:
        """Only what is new is compared with all: the others were before."""
        start = len(self.smooth)
        among = self.matrix[-(POOL + len(labels) - start) :]
        added = clustering.smoothed(self.matrix[start:], among, self._at)
        self.smooth = np.vstack([self.smooth.reshape(start, added.shape[1]), added])
        outside = self._topics_without(set(labels.tolist()))
        self.labels = clustering.join(self.smooth, labels, outside, self._next(), self._at)

    def _topics_without(self, numbers: set[int]) -> Topics:
        """The means of topics that are not among these."""
        older = self._older
        kept = [at for at, number in enumerate(older.numbers) if number not in numbers]
        return Topics(
            [older.numbers[at] for at in kept],
            [older.sums[at] for at in kept],
            [older.counts[at] for at in kept],
        )

    def _expected(self, number: int) -> int:
        return self._texts.get(number, 0)

    def _next(self) -> int:
        return max(FIRST_NEW, int(self.labels.max(initial=0)) + 1)


def _rows(sql: str, parameters: list[Any] | dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())
