"""How well the passages that the model was given support a sentence that cites them. Pure,
but for the embedder.

For each sentence the stretch of one to three sentences of the document is found that comes
nearest to it, by the words they share (weighed by how rare they are), the words that follow
each other in both, and the cosine of their vectors. Then what such likeness does not see is
held against it: figures that are not there, figures that another one contradicts, negation
on one side only. The result is between 0 and 1: at 0.5, as many citations of the labelled
set were right as were wrong.

The weights were chosen by `bench/support.py` on one half of that set and measured on the
other; docs/support.md has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import NamedTuple

from articles.terms.analysis import base_language, query_terms, tokens
from assistant.support.agreement import Figure, contradicts, figures, negations
from assistant.support.claims import split

WEAK = 0.5
"""Citations below are shown as weakly supported: of the reporting half of the labelled set, 5 of
100 right ones, 95 of 100 with the wrong article or passage, and all whose number contradicts.
Of plain denials it finds few."""

LEAST_TERMS = 3
"""A sentence with fewer terms of its own says too little to be judged: "See [1]."."""

LONGEST_WINDOW = 3
"""Sentences of a passage that are read together."""

CANDIDATES = 12
"""Windows of a document, best by words, that are compared by vector."""

LONGEST_PASSAGE = 60_000
"""Characters of one passage that are read."""

Idf = Callable[[str, Collection[str]], Mapping[str, float]]
"""Weights of terms in a language; every term has one."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of a document as the model was given it: Markdown."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """A document by what of it was given. `language` is its declared one."""

    title: str
    language: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that cites a source, of which at least one passage has text."""

    sentence: str
    source: Source


@dataclass(frozen=True, slots=True)
class Vectors:
    """`embed` gives vectors of unit length, `comparable` brings their cosine to the scale of
    the local model."""

    embed: Callable[[Sequence[str]], Sequence[Sequence[float]]]
    comparable: Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a score is made of.

    `coverage`: the share of what the sentence's words weigh that the stretch has;
    `named`: the share that only the title or the heading has; `phrases`: the share of its
    pairs of words that follow each other there. `cosine` is None without vectors.
    `figures`: the share of its figures that are there, 1 where it has none.
    """

    coverage: float
    named: float
    phrases: float
    cosine: float | None
    figures: float
    contradicts: bool
    negation_differs: bool


@dataclass(frozen=True, slots=True)
class Support:
    """`passage` is the place of the best one in the source, `evidence` the stretch of it."""

    score: float
    passage: int
    evidence: str
    parts: Parts


class Weights(NamedTuple):
    """Of a logistic function of what `features` makes of the parts."""

    bias: float
    coverage: float
    named: float
    phrases: float
    cosine: float
    figures: float
    lacks_figures: float
    contradicts: float
    denies: float

    def likeness(self, parts: Parts) -> float:
        """What tells windows apart: nothing that a contradicting one would be spared by."""
        return (
            self.coverage * parts.coverage
            + self.named * parts.named
            + self.phrases * parts.phrases
            + self.cosine * (parts.cosine or 0.0)
        )

    def score(self, parts: Parts) -> float:
        log_odds = sum(
            weight * value for weight, value in zip(self, (1.0, *features(parts)), strict=True)
        )
        return 1 / (1 + math.exp(-log_odds))


def features(parts: Parts) -> tuple[float, ...]:
    """What is weighed. A difference in negation says the more, the more the words agree: who
    says it in other words may well say it the other way round."""
    return (
        parts.coverage,
        parts.named,
        parts.phrases,
        parts.cosine or 0.0,
        parts.figures,
        float(parts.figures < 1),
        float(parts.contradicts),
        parts.negation_differs * parts.coverage,
    )


WITH_VECTORS = Weights(-3.66, 3.42, 0.76, 0.0, 3.01, 1.33, -2.48, -1.44, -2.75)
WITH_WORDS_ALONE = Weights(-2.58, 4.54, 0.62, 0.59, 0.0, 1.36, -2.32, -1.37, -2.74)


def says_enough(own: str, language: str) -> bool:
    """Whether a sentence, without the labels of its links, says something to be judged."""
    return len(query_terms(own, language)) >= LEAST_TERMS


def judge(claims: Sequence[Claim], idf: Idf, vectors: Vectors | None) -> list[Support]:
    """The support of each claim by its source. Without vectors, by words alone."""
    documents = {source: _Document(source) for source in {claim.source for claim in claims}}
    asked = [_Asked(claim.sentence, documents[claim.source]) for claim in claims]
    idfs = _idfs(asked, idf)
    weights = WITH_VECTORS if vectors else WITH_WORDS_ALONE
    shortlists = [one.shortlist(idfs[one.document.language], weights) for one in asked]
    if vectors:
        shortlists = _with_cosines(asked, shortlists, vectors)
    return [
        one.support(shortlist, weights) for one, shortlist in zip(asked, shortlists, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of a passage, analysed."""

    text: str
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    figures: tuple[Figure, ...]

    @classmethod
    def of(cls, text: str, language: str) -> _Piece:
        words = [token.terms for token in tokens(text, language)]
        pairs = {pair for one, other in pairwise(words) for pair in product(one, other)}
        terms = frozenset(term for word in words for term in word)
        return cls(text, terms, frozenset(pairs), tuple(figures(text, language)))


@dataclass(frozen=True, slots=True)
class _Window:
    """Neighbouring sentences of one passage; `context` is what its title and heading name."""

    passage: int
    pieces: tuple[_Piece, ...]
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    context: frozenset[str]

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)

    @property
    def figures(self) -> list[Figure]:
        return [figure for piece in self.pieces for figure in piece.figures]


class _Document:
    """A source cut into windows."""

    def __init__(self, source: Source) -> None:
        self.language = base_language(source.language)
        self.windows = [
            window
            for place, passage in enumerate(source.passages)
            for window in self._windows(place, passage, source.title)
        ]

    def _windows(self, place: int, passage: Passage, title: str) -> Iterator[_Window]:
        pieces = [_Piece.of(text, self.language) for text in _pieces(passage.text)]
        context = _Piece.of(f"{title}. {passage.heading}", self.language).terms
        for size in range(1, LONGEST_WINDOW + 1):
            for start in range(len(pieces) - size + 1):
                chosen = tuple(pieces[start : start + size])
                yield _Window(
                    place,
                    chosen,
                    frozenset().union(*(piece.terms for piece in chosen)),
                    frozenset().union(*(piece.pairs for piece in chosen)),
                    context,
                )


_Shortlist = list[tuple[Parts, _Window]]


class _Asked:
    """A sentence, and the document that it cites."""

    def __init__(self, sentence: str, document: _Document) -> None:
        self.sentence = sentence
        self.document = document
        self.words = [tuple(word) for word in query_terms(sentence, document.language)]
        self._figures = figures(sentence, document.language)
        self._denies = negations(sentence) > 0

    def shortlist(self, idfs: Mapping[str, float], weights: Weights) -> _Shortlist:
        """The windows that are most like it by words, best first, shorter ones before longer."""
        weighed = {word: max(idfs[term] for term in word) for word in self.words}
        judged = [(self._parts(window, weighed), window) for window in self.document.windows]
        judged.sort(key=lambda one: -weights.likeness(one[0]))
        return judged[:CANDIDATES]

    def support(self, shortlist: _Shortlist, weights: Weights) -> Support:
        parts, window = max(shortlist, key=lambda one: weights.likeness(one[0]))
        parts = replace(
            parts,
            figures=self._figure_share(window.figures),
            contradicts=contradicts(self._figures, window.figures),
            negation_differs=self._denies != self._is_denied_in(window),
        )
        return Support(weights.score(parts), window.passage, window.text, parts)

    def _parts(self, window: _Window, weighed: Mapping[tuple[str, ...], float]) -> Parts:
        """The parts that likeness reads; the others are neutral."""
        total = sum(weighed.values()) or 1.0
        covered = named = 0.0
        for word, weight in weighed.items():
            if not window.terms.isdisjoint(word):
                covered += weight
            elif not window.context.isdisjoint(word):
                named += weight
        return Parts(
            covered / total, named / total, self._phrases(window, weighed), None, 1.0, False, False
        )

    def _phrases(self, window: _Window, weighed: Mapping[tuple[str, ...], float]) -> float:
        pairs = list(pairwise(self.words))
        worth = [weighed[one] + weighed[other] for one, other in pairs]
        found = [not window.pairs.isdisjoint(product(one, other)) for one, other in pairs]
        total = sum(worth) or 1.0
        return sum(value for value, is_found in zip(worth, found, strict=True) if is_found) / total

    def _figure_share(self, given: Collection[Figure]) -> float:
        values = {figure.value for figure in self._figures}
        found = values & {figure.value for figure in given}
        return len(found) / len(values) if values else 1.0

    def _is_denied_in(self, window: _Window) -> bool:
        """Whether the one sentence that shares most with this one denies something."""
        terms = {term for word in self.words for term in word}
        nearest = max(window.pieces, key=lambda piece: len(terms & piece.terms))
        return negations(nearest.text) > 0


def _idfs(asked: Sequence[_Asked], idf: Idf) -> dict[str, Mapping[str, float]]:
    terms: dict[str, set[str]] = {}
    for one in asked:
        found = terms.setdefault(one.document.language, set())
        found.update(term for word in one.words for term in word)
    return {language: idf(language, found) for language, found in terms.items()}


def _with_cosines(
    asked: Sequence[_Asked], shortlists: Sequence[_Shortlist], vectors: Vectors
) -> list[_Shortlist]:
    texts = [one.sentence for one in asked]
    texts += [window.text for shortlist in shortlists for _parts, window in shortlist]
    different = list(dict.fromkeys(texts))
    by_text = dict(zip(different, vectors.embed(different), strict=True))

    def cosine(one: str, other: str) -> float:
        pairs = zip(by_text[one], by_text[other], strict=True)
        return vectors.comparable(sum(a * b for a, b in pairs))

    return [
        [
            (replace(parts, cosine=cosine(one.sentence, window.text)), window)
            for parts, window in shortlist
        ]
        for one, shortlist in zip(asked, shortlists, strict=True)
    ]


_BULLET = re.compile(r"\s*(?:(?:[-+*>]|\d{1,9}[.)]|#{1,6})\s+)*")
_RULE = re.compile(r"[\s|:=~`_*-]*")
_TARGET = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|\|")
_ITEM = re.compile(r"\s*(?:[-+*|]|\d{1,9}[.)]|#{1,6}\s)")


def _pieces(markdown: str) -> list[str]:
    """The sentences of a passage without Markdown's marks. Lists, tables and headings end one
    with each line, paragraphs go on over lines."""
    blocks: list[str] = [""]
    for line in markdown[:LONGEST_PASSAGE].splitlines():
        if not line.strip() or _ITEM.match(line):
            blocks.append("")
        plain = _MARKUP.sub(" ", _TARGET.sub(r"\1", _BULLET.sub("", line, count=1)))
        if not _RULE.fullmatch(plain):
            blocks[-1] += f" {plain}"
        if line.lstrip().startswith(("#", "|")):
            blocks.append("")
    pieces = [" ".join(piece.split()) for block in blocks for piece in split(block)]
    return [piece for piece in pieces if any(map(str.isalnum, piece))] or [markdown.strip()]
