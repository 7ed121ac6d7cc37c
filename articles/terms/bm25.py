"""BM25 as an inner product of two sparse vectors.

A passage's vector holds the saturated, length-normalised weight of each of its terms;
a query's holds the terms' inverse document frequency. Their inner product is the exact
BM25 score. What changes as a site grows, the frequencies, is in the query alone, so no
passage is ever rewritten for it.

A term's dimension is a hash: there is no table of terms to grow or to lock. Two terms
of one passage share a dimension about once in ten million pairs, and then their
weights add up.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

DIMENSIONS = 1_000_000_000
"""The most that a `sparsevec` can have."""

K1 = 1.2
B = 0.75


def dimension(term: str) -> int:
    """The dimension of a term, from 0; the same in every process and release."""
    digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % DIMENSIONS


def passage_weights(
    counts: Mapping[str, float], length: float, average_length: float
) -> dict[int, float]:
    """The vector of a passage, by dimension.

    `counts` says how often each term stands in it, `length` is their sum without
    what is weighted up, `average_length` that of its language. Weights are below K1 + 1.
    """
    norm = K1 * (1 - B + B * length / average_length)
    weights: dict[int, float] = {}
    for term, count in counts.items():
        place = dimension(term)
        weights[place] = weights.get(place, 0.0) + count * (K1 + 1) / (count + norm)
    return weights


def idf(passages: int, with_term: int) -> float:
    """How much a term says, given in how many of `passages` it stands; always above 0.

    A term that was never counted counts as standing in one.
    """
    known = min(max(with_term, 1), max(passages, 1))
    return math.log(1 + (passages - known + 0.5) / (known + 0.5)) if passages else 1.0


def query_weights(idfs: Mapping[str, float]) -> dict[int, float]:
    """The vector of a query, by dimension."""
    return {dimension(term): weight for term, weight in idfs.items()}
