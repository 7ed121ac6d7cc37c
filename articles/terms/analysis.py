"""Text to search terms, the same for passages and for queries.

A text is folded (compatibility forms, widths and case), cut into words, and each word
is stemmed and loses its accents. Scripts that do not separate words become pairs of
characters. A compound (`E-1042`, `api.v2`, `sign-in`) gives its parts and itself
without the joiners, so that `E1042` and `e-1042` find each other. Stop words go.

`tokens` is for passages and gives every form that a query may ask for: people also
type without accents, and a stem found without them can differ. `query_terms` gives one
form per word. Nothing here touches the database; terms hold no quotes and no controls.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import snowballstemmer

from articles.terms.stopwords import STOP_WORDS

LONGEST_TERM = 64
"""Characters of a term; what is longer is cut, alike on both sides."""

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Base language code to Snowball algorithm. Other languages are not stemmed."""

_MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0xFE30))
    if unicodedata.category(character) in ("Mn", "Mc")
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"  # Kana, Han
    "\uac00-\ud7af\U00020000-\U0003ffff"  # Hangul, rare Han
)
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_WORD = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}{_MARKS}]*[{_UNSPACED}][{_UNSPACED}{_MARKS}]*)"
    rf"|(?P<sign>(?<![^\W_])[A-Za-z](?:\+\+|#)(?![^\W_]))"
    rf"|(?P<word>{_LETTER}+(?:['’._\-/@+&]{_LETTER}+)*)"
)
_APOSTROPHE = re.compile("['’]")
_JOINER = re.compile("[._\\-/@+&]")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_A-Z])\.(?=[A-Z])")
_STROKES = str.maketrans({"ё": "е", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_LATIN_OR_GREEK = re.compile("[A-Za-z\u00c0-\u03ff\u1e00-\u1fff]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text: its place among the words kept, and the terms that find it."""

    position: int
    terms: tuple[str, ...]


def base_language(language: str) -> str:
    """`pt` for `pt-BR`: what the index knows a language by."""
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0]


def tokens(text: str, language: str) -> list[Token]:
    """The words of a passage in order, with every form that a query may ask for."""
    words = _words(text, base_language(language))
    return [Token(position, word.every_form) for position, word in enumerate(words, start=1)]


def query_terms(text: str, language: str) -> list[list[str]]:
    """The terms of a query, word by word in order: one form of each, compounds whole as well."""
    return [list(word.query_form) for word in _words(text, base_language(language))]


def fold(text: str) -> str:
    """Compatibility forms, widths and case made equal; accents stay."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=50_000)
def without_accents(word: str) -> str:
    """Without what people leave out when they type: the marks and strokes of Latin and Greek
    letters, vowel signs of Arabic and Hebrew, the dots of ё. Other marks are letters."""
    if word.isascii():
        return word
    kept: list[str] = []
    for character in unicodedata.normalize("NFD", word):
        if unicodedata.combining(character) and (
            "\u0590" <= character <= "\u06ff" or (kept and _LATIN_OR_GREEK.match(kept[-1]))
        ):
            continue
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_STROKES)


@dataclass(frozen=True)
class _Word:
    """A folded word, and the compound that begins with it, if one does. Made once for many."""

    text: str
    language: str
    compound: str = ""
    whole: bool = False

    @cached_property
    def every_form(self) -> tuple[str, ...]:
        bare = without_accents(self.text)
        return tuple(dict.fromkeys([*self.query_form, self._stemmed(bare)]))

    @cached_property
    def query_form(self) -> tuple[str, ...]:
        form = without_accents(self._stemmed(self.text))
        return (form, self.compound) if self.compound else (form,)

    def _stemmed(self, text: str) -> str:
        return text if self.whole else _stem(text, self.language)


def _words(text: str, language: str) -> Iterator[_Word]:
    """The words of a text without the stop words of its language."""
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        if match["unspaced"]:
            yield from (_Word(pair, language, whole=True) for pair in _pairs(match["unspaced"]))
        elif match["sign"]:
            yield _Word(match["sign"].casefold(), language, whole=True)
        else:
            for chunk in _SENTENCE_END.split(match["word"]):
                # A word of endless length is one of a kind: not worth its memory.
                parts = _parts if len(chunk) <= LONGEST_TERM else _parts.__wrapped__
                yield from parts(chunk, language)


@lru_cache(maxsize=20_000)
def _parts(chunk: str, language: str) -> tuple[_Word, ...]:
    """The words of `chunk`, which may be a compound; the first carries the whole of it."""
    stop_words = STOP_WORDS.get(language, frozenset())
    words: list[_Word] = []
    parts = [part for part in _JOINER.split(fold(chunk)) if part]
    joined = "".join(parts)[:LONGEST_TERM] if len(parts) > 1 else ""
    compound = without_accents(_stem(joined, language))
    for part in parts:
        for word in _without_apostrophes(part, stop_words):
            if compound or word not in stop_words:
                words.append(_Word(word[:LONGEST_TERM], language, compound))
                compound = ""
    return tuple(words)


def _without_apostrophes(part: str, stop_words: frozenset[str]) -> list[str]:
    """`l'accès` and `user's` are one word without what is only grammar, `don't` is none."""
    pieces = [piece for piece in _APOSTROPHE.split(part) if piece]
    if len(pieces) > 1 and "".join(pieces) in stop_words:
        return []
    return [piece for piece in pieces if len(piece) > 2] or pieces


def _pairs(run: str) -> Iterator[str]:
    run = fold(run)
    yield from (run[index : index + 2] for index in range(max(1, len(run) - 1)))


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    """The stem of a word that has letters only; codes and numbers stay as they are."""
    algorithm = STEMMERS.get(language)
    if algorithm is None or not word.isalpha():
        return word
    # A stemmer holds the word it works on: a new one each time keeps threads apart.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word))
