"""The labelled set: sentences as an assistant writes them, each with a passage it cites.

`support_claims.json` has articles of two passages, with a sentence that each of them
supports, a plain one without figures, one whose figure contradicts the first passage, and
for some one that denies what they say. From an article eight or nine pairs are made; the
wrong article is another one about the same, as search would have returned it. Articles
fall into halves by turns: no text of the half that weights are chosen on is in the half
that is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from articles.embeddings import Embedder
from articles.ranking.calibration import scale_of
from articles.terms import bm25
from articles.terms.analysis import tokens
from assistant.support.scoring import Claim, Passage, Source, Support, Vectors, judge

Kind = Literal["right", "wrong article", "wrong passage", "contradicting number", "denied"]
Half = Literal["choosing", "reporting"]

WRONG: tuple[Kind, ...] = ("wrong article", "wrong passage", "contradicting number", "denied")
FILE = Path(__file__).with_name("support_claims.json")


@dataclass(frozen=True)
class Pair:
    """A sentence and the passage that it cites; `kind` is the label."""

    kind: Kind
    half: Half
    domain: str
    claim: Claim

    @property
    def is_right(self) -> bool:
        return self.kind == "right"


@cache
def pairs() -> tuple[Pair, ...]:
    """The whole set."""
    articles = json.loads(FILE.read_text())
    halves: dict[Half, list[dict[str, Any]]] = {
        "choosing": articles[0::2],
        "reporting": articles[1::2],
    }
    return tuple(
        pair
        for half, chosen in halves.items()
        for article in chosen
        for pair in _pairs(article, _neighbour(article, chosen), half)
    )


def of_half(half: Half) -> list[Pair]:
    return [pair for pair in pairs() if pair.half == half]


def beside_others(chosen: Sequence[Pair], count: int) -> list[Pair]:
    """The same pairs, the cited source given with `count` passages of other subjects besides:
    the more was given, the more likely something in it looks alike."""
    return [_padded(pair, chosen, count) for pair in chosen]


def _padded(pair: Pair, chosen: Sequence[Pair], count: int) -> Pair:
    source = pair.claim.source
    texts = dict.fromkeys(
        other.claim.source.passages[0]
        for other in chosen
        if other.claim.source.language == source.language and other.domain != pair.domain
    )
    more = replace(source, passages=(*source.passages, *list(texts)[:count]))
    return replace(pair, claim=Claim(pair.claim.sentence, more))


def scored(chosen: Sequence[Pair], vectors: Vectors | None) -> list[Support]:
    """Each pair's support, terms weighed by how common they are in the whole set."""
    return judge([pair.claim for pair in chosen], idf, vectors)


def vectors_of(embedder: Embedder) -> Vectors:
    return Vectors(embedder.embed, scale_of(embedder).comparable)


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The area under the curve: how often a right pair's score is above a wrong one's."""
    wins = sum((one > other) + (one == other) / 2 for one in right for other in wrong)
    return wins / (len(right) * len(wrong))


def idf(language: str, terms: Collection[str]) -> Mapping[str, float]:
    counts, passages = _frequencies()[language]
    return {term: bm25.idf(passages, counts[term]) for term in terms}


@cache
def _frequencies() -> dict[str, tuple[Counter[str], int]]:
    counted: dict[str, tuple[Counter[str], int]] = {}
    for article in json.loads(FILE.read_text()):
        counts, number = counted.get(article["language"], (Counter(), 0))
        for passage in article["passages"]:
            words = tokens(f"{article['title']} {passage['text']}", article["language"])
            counts.update({term for word in words for term in word.terms})
        counted[article["language"]] = (counts, number + len(article["passages"]))
    return counted


def _neighbour(article: dict[str, Any], others: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The next article of the same half about the same subject."""
    alike = [
        other
        for other in others
        if (other["language"], other["domain"]) == (article["language"], article["domain"])
    ]
    return alike[(alike.index(article) + 1) % len(alike)]


def _pairs(article: dict[str, Any], other: dict[str, Any], half: Half) -> list[Pair]:
    first, second = sources = [_source(article, place) for place in (0, 1)]
    says_first, says_second = article["claims"]
    plain, place = article["plain"]["text"], article["plain"]["passage"]
    made: list[tuple[Kind, str, Source]] = [
        ("right", says_first, first),
        ("right", says_second, second),
        ("right", plain, sources[place]),
        ("wrong article", says_first, _source(other, 0)),
        ("wrong article", plain, _source(other, place)),
        ("wrong passage", says_second, first),
        ("wrong passage", plain, sources[1 - place]),
        ("contradicting number", article["contradicting"], first),
    ]
    if "denied" in article:
        made.append(("denied", article["denied"], _source(article, 0, 1)))
    return [
        Pair(kind, half, article["domain"], Claim(sentence, source))
        for kind, sentence, source in made
    ]


def _source(article: dict[str, Any], *places: int) -> Source:
    passages = tuple(
        Passage(article["passages"][place]["heading"], article["passages"][place]["text"])
        for place in places
    )
    return Source(article["title"], article["language"], passages)
