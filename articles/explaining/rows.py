"""The words of a question and the passages of a search, with what each step made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from articles.models import Passage
from articles.ranking import fusion, queries
from articles.ranking.candidates import Candidate
from articles.ranking.queries import Analysed
from articles.ranking.relevance import WEIGHTS, Word
from articles.ranking.weighing import WEIGHED, Weighed


@dataclass(frozen=True)
class AskedWord:
    """A word of the question, in the forms in which it is compared.

    `passages` is in how many passages of the language it stands, `synonyms` are what else
    finds it. Only a word that `makes_candidates` finds passages by itself; the others are so
    common that they count for passages found otherwise.
    """

    text: str
    idf: float
    passages: int
    synonyms: tuple[str, ...]
    is_prefix: bool
    makes_candidates: bool


@dataclass(frozen=True)
class Row:
    """A passage. `place` is its place in fused order, from 1, None where it was no candidate.

    `weighed` is what the second stage found, None where it left the passage out: beyond its
    first `WEIGHED`, or with no word of the question and a meaning that is too far. `words` are
    the question's words that stand in it, as far as that was looked at.
    """

    passage_id: int
    article_id: int
    title: str
    heading_path: tuple[str, ...]
    anchor: str
    text: str
    candidate: Candidate
    place: int | None
    weighed: Weighed | None
    words: tuple[str, ...]

    @property
    def lexical_worth(self) -> float:
        """What its rank by words adds to the fused score."""
        return _worth(self.candidate.lexical_rank)

    @property
    def dense_worth(self) -> float:
        """What its rank by meaning adds to the fused score."""
        return _worth(self.candidate.dense_rank)

    @property
    def fused(self) -> float:
        return self.lexical_worth + self.dense_worth

    @property
    def is_beyond_weighing(self) -> bool:
        return self.place is not None and self.place > WEIGHED

    @property
    def shares(self) -> dict[str, float]:
        """The share of each part in what the second stage weighs; their sum is the strength
        where no part is missing."""
        parts = self.weighed.judgement.parts if self.weighed else {}
        total = sum(WEIGHTS[name] for name in parts)
        return {name: WEIGHTS[name] * part / total for name, part in parts.items()}


def asked_words(query: Analysed) -> tuple[AskedWord, ...]:
    """The words of a question in order."""
    picking = queries.picking(query)
    return tuple(
        AskedWord(
            _forms(word.terms),
            word.idf,
            max(query.frequencies.get(term, 0) for term in word.terms),
            tuple(" ".join(map(_forms, phrase)) for phrase in word.also),
            word.is_prefix,
            word in picking,
        )
        for word in query.words
    )


def rows(
    query: Analysed,
    found: Sequence[Candidate],
    weighed: Sequence[Weighed],
    places: dict[int, int],
) -> tuple[Row, ...]:
    """The candidates as rows, in their order. `places` are those in fused order, by passage."""
    by_id = {one.candidate.passage_id: one for one in weighed}
    texts = _texts([one.passage_id for one in found])
    return tuple(
        _row(query, one, texts[one.passage_id], by_id.get(one.passage_id), places)
        for one in found
        if one.passage_id in texts
    )


def _row(
    query: Analysed,
    candidate: Candidate,
    passage: Passage,
    weighed: Weighed | None,
    places: dict[int, int],
) -> Row:
    matched = sorted(weighed.evidence.words) if weighed else []
    return Row(
        passage.pk,
        passage.article_id,
        passage.revision.title,
        tuple(passage.heading_path),
        passage.anchor,
        passage.text,
        candidate,
        places.get(passage.pk),
        weighed,
        tuple(_forms(query.words[index].terms) for index in matched),
    )


def _texts(ids: Sequence[int]) -> dict[int, Passage]:
    found = Passage.objects.filter(pk__in=ids).select_related("revision")
    fields = ("article_id", "heading_path", "anchor", "text", "revision__title")
    return {passage.pk: passage for passage in found.only(*fields)}


def forms(word: Word) -> str:
    """A word as people are shown it."""
    return _forms(word.terms)


def _forms(terms: tuple[str, ...]) -> str:
    return " / ".join(terms)


def _worth(rank: int | None) -> float:
    return fusion.worth(rank) if rank else 0.0
