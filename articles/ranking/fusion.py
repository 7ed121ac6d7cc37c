"""Reciprocal rank fusion: one order from several, without comparing their scores.

Pure, standard library only. A place r in a list is worth `weight / (k + r)`; what
stands in several lists adds up. A small k trusts the top of each list more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = 10
"""Measured on help-center questions: better than the customary 60, and flat around it."""

Item = TypeVar("Item", bound=Hashable)


def worth(place: int, weight: float = 1.0, k: float = K) -> float:
    """What a place in one list, from 1, adds to a fused score."""
    return weight / (k + place)


def fuse(
    rankings: Iterable[Sequence[Item]], weights: Sequence[float] | None = None, k: float = K
) -> dict[Item, float]:
    """Each item's fused score, best first.

    Equal scores stand in the order in which the items first appear. An item that a
    ranking names twice counts at its best place. Raises ValueError where the number of
    weights is not that of the rankings.
    """
    lists = [list(dict.fromkeys(ranking)) for ranking in rankings]
    scores: dict[Item, float] = {}
    for ranking, weight in zip(lists, weights or [1.0] * len(lists), strict=True):
        for place, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + worth(place, weight, k)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
