"""What a search gives: articles, with the passages that made them hits, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from articles.models import Article

Mode = Literal["hybrid", "lexical", "dense", "title"]
Reason = Literal[
    "no_text", "only_common_words", "embeddings_off", "embeddings_failed", "embeddings_missing"
]


@dataclass(frozen=True)
class PassageHit:
    """A passage of a hit. `cosine` is on the local model's scale whatever the model is;
    `coverage` is the share of the query's idf that stands in it; ranks count from 1 and
    are None where that list did not have it."""

    passage_id: int
    heading_path: tuple[str, ...]
    anchor: str
    text: str
    cosine: float | None
    coverage: float
    lexical_rank: int | None
    dense_rank: int | None
    strength: float
    above_floor: bool


@dataclass(frozen=True)
class Hit:
    """An article, with its best passages first; what it scores is what the first one does.

    `article` has its live revision and its category; their texts are read when asked
    for. A hit by its title alone has no passages.
    """

    article: Article
    passages: tuple[PassageHit, ...]
    score: float
    cosine: float | None
    coverage: float
    above_floor: bool
    """Strong enough to answer from. Comparable between queries."""


@dataclass(frozen=True)
class Results:
    """`languages` are those that were searched, in order, `held` those that could have been.
    `nearest` is the best cosine of any passage in each of them, however far; a language without
    vectors has none."""

    query: str
    hits: tuple[Hit, ...]
    mode: Mode
    fallback_reason: Reason | None
    languages: tuple[str, ...]
    nearest: Mapping[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()

    @property
    def strong(self) -> tuple[Hit, ...]:
        """The hits that an answer may rest on."""
        return tuple(hit for hit in self.hits if hit.above_floor)
