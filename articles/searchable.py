"""The forms in which search finds a passage: a `tsvector`, a BM25 vector, a text to embed.

The title and the headings belong to every passage under them: a passage about "how to"
says what it is about only there. In the `tsvector`, title words carry the weight A and
heading words B, and places count the words kept, so that two words of a query that
follow each other are found as a phrase.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pgvector import SparseVector

from articles.chunking import chunk
from articles.models import ArticleRevision
from articles.terms import bm25
from articles.terms.analysis import Token, base_language, tokens

FORMAT = 1
"""Counted up when the same text would give other forms: the next `reindex` rewrites all."""

MOST_PASSAGES = 1_000
"""Passages of one article; about a megabyte of text. What is beyond is reported, not searched."""

MOST_TOKENS = 8_000
"""Words of one passage that search knows; a `tsvector` counts places up to 16,383 only."""

TITLE_WEIGHT = 2.0
HEADING_WEIGHT = 1.0

_GAP = 1
"""Places left free between title, headings and text: no phrase goes across."""

_LINK_ADDRESS = re.compile(r"(?<=\])\([a-z]+:[^\s()]*\)")


@dataclass(frozen=True)
class Source:
    """What a passage's forms are made of."""

    title: str
    heading_path: Sequence[str]
    anchor: str
    text: str
    language: str

    def content_hash(self) -> str:
        """Equal hashes, equal forms."""
        parts = (str(FORMAT), self.title, *self.heading_path, self.anchor, self.text, self.language)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def embedding_text(self) -> str:
        return "\n".join([self.title, *self.heading_path, self.words()])

    def words(self) -> str:
        """The text without the addresses of its links: they say little about its subject."""
        return _LINK_ADDRESS.sub("", self.text)


def sources(revision: ArticleRevision) -> tuple[list[Source], str]:
    """The passages of a revision, and what is to be said about those that are
    left out."""
    language = base_language(revision.language)
    found = [
        Source(revision.title, piece.heading_path, piece.anchor, piece.text, language)
        for piece in chunk(revision.body)
    ]
    if not found:
        found = [Source(revision.title, (), "", revision.summary, language)]
    if len(found) <= MOST_PASSAGES:
        return found, ""
    return found[:MOST_PASSAGES], f"cut after {MOST_PASSAGES} of {len(found)} passages"


@dataclass(frozen=True)
class Forms:
    """A passage as search finds it. `length` is in terms, title and headings included."""

    terms: str
    bm25: SparseVector
    length: int


def forms(source: Source, average_length: float) -> Forms:
    """The lexical forms of a passage, its length measured against the average one."""
    parts: list[tuple[str, float, Sequence[Token]]] = [
        ("A", TITLE_WEIGHT, _label(source.title, source.language)),
        ("B", HEADING_WEIGHT, _label("\n\n".join(source.heading_path), source.language)),
        ("", 1.0, tokens(source.words(), source.language)[:MOST_TOKENS]),
    ]
    counts: dict[str, float] = defaultdict(float)
    places: dict[str, list[str]] = defaultdict(list)
    offset = length = 0
    for label, weight, words in parts:
        for token in words:
            for term in token.terms:
                counts[term] += weight
                places[term].append(f"{offset + token.position}{label}")
                length += 1
        offset += _end(words) + _GAP
    weights = bm25.passage_weights(counts, length, average_length)
    return Forms(_tsvector(places), SparseVector(weights, bm25.DIMENSIONS), length)


@lru_cache(maxsize=1_000)
def _label(text: str, language: str) -> tuple[Token, ...]:
    """The words of a title or of headings, which one passage after another repeats."""
    return tuple(tokens(text, language))


def _end(words: Sequence[Token]) -> int:
    return words[-1].position if words else 0


def _tsvector(places: dict[str, list[str]]) -> str:
    return " ".join(f"{quoted(term)}:{','.join(at)}" for term, at in places.items())


def quoted(term: str) -> str:
    """A term as a lexeme of a `tsvector` or `tsquery` literal."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
