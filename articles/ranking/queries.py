"""What a query says in one language: its words, what each weighs, and which of them are rare
enough to pick candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from articles.ranking.relevance import Word
from articles.searchable import quoted
from articles.terms import bm25, frequencies, synonyms
from articles.terms.analysis import query_terms

COMMON_ROWS = 5_000
"""Terms join the candidates, rarest first, until they stand in so many passages together."""

FEW_ROWS = 1_000
"""As many will do in a language of 20,000 passages; from there on a twentieth, up to
`COMMON_ROWS`. Of the first ten, 99 in 100 are then those that comparing everything gives; where
only a part of the language is searched, they would not be."""

MOST_WORDS = 48
"""Words of a query that count: its rarest ones."""


@dataclass(frozen=True)
class Analysed:
    """A query in one language: its words in order, each once. `idfs` are what terms weigh in
    it, those of synonyms a little less than what they stand for. `passages` is the size of the
    language, `common_rows` in how many its words may stand together to pick candidates."""

    words: tuple[Word, ...]
    idfs: dict[str, float]
    frequencies: dict[str, int]
    pairs: tuple[tuple[int, int], ...]
    passages: int
    common_rows: int


def analyse(
    text: str, language: str, held: frequencies.Held | None, *, narrowed: bool = False
) -> Analysed:
    """The query's words with their idf, as the index of this language counts them, and with
    their synonyms. `held` is what the index holds of the language, as it was read just now;
    `narrowed` says that only a part of it is searched."""
    found = [tuple(terms) for terms in query_terms(text, language)]
    order = list(dict.fromkeys(found))
    also = synonyms.expand(found, language, held.synonyms if held else None)
    terms = {term for word in order for term in word} | also.terms()
    known = frequencies.known(terms, language)
    total = held.passages if held else 0
    idfs = {term: bm25.idf(total, known.get(term, 0)) for term in terms}
    last = found[-1] if found else ()
    words = [
        Word(
            word,
            max(idfs[term] for term in word),
            is_prefix=word == last and not any(term in known for term in word),
        )
        for word in order
    ]
    words, weights = also.applied(words, idfs, known)
    rarest = sorted(words, key=lambda word: -word.idf)[:MOST_WORDS]
    kept = [word for word in words if word in rarest]
    index = {word.terms: place for place, word in enumerate(kept)}
    pairs = [
        (index[first], index[second])
        for first, second in pairwise(found)
        if first in index and second in index and first != second
    ]
    return Analysed(
        tuple(kept),
        weights | {term: idfs[term] for word in kept for term in word.terms},
        known,
        tuple(dict.fromkeys(pairs)),
        total,
        COMMON_ROWS if narrowed else min(COMMON_ROWS, max(FEW_ROWS, total // 20)),
    )


def any_of(word: Word, label: str = "") -> str:
    """A `tsquery` literal for a word, only in words of a weight where a label is given."""
    suffix = f":*{label or 'A'}" if word.is_prefix else f":{label}" if label else ""
    typed = [quoted(term) + suffix for term in word.terms]
    return " | ".join(typed + [_side_by_side(phrase, label) for phrase in word.also])


def _side_by_side(phrase: synonyms.Phrase, label: str) -> str:
    suffix = f":{label}" if label else ""
    words = (" | ".join(quoted(term) + suffix for term in terms) for terms in phrase)
    return "(" + " <-> ".join(f"({word})" for word in words) + ")"


def picking(query: Analysed, most_rows: int | None = None) -> list[Word]:
    """The rarer words, any of which makes a candidate. Common ones add many rows and hardly a
    point to any of them."""
    chosen: list[Word] = []
    rows = 0
    for word in sorted(query.words, key=lambda word: -word.idf):
        rows += _rows(word, query.frequencies)
        if chosen and rows > (most_rows or query.common_rows):
            break
        chosen.append(word)
    return chosen


def _rows(word: Word, frequencies: dict[str, int]) -> int:
    """About how many passages a word finds; a phrase as many as the rarest of its words."""
    alternatives = [(word.terms,), *word.also]
    return max(
        min(max(frequencies.get(term, 0) for term in terms) for terms in phrase)
        for phrase in alternatives
    )
