"""Where two texts say the opposite with the same words: figures and negation. Pure.

Figures are numbers as digits or, for the languages below, small ones in words. Thousands
and decimals are read in either notation, so `1.500`, `1,500` and `1 500` are one value, and
`2,5` is `2.5`. Digits within a code (`E15`) are part of the code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from articles.terms.analysis import query_terms

_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,])(?:"
    r"(?P<date>\d{4}-\d{2}-\d{2})"
    r"|(?P<grouped>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+)(?P<rest>[.,]\d+)?(?!\d)"
    r"|(?P<plain>\d+(?:[.,:]\d+)*)"
    r")"
)
_SYMBOL = re.compile(r"\s?([%°€$£¥])|\s?([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_NEXT_WORDS = re.compile(r"[\s-]{0,2}([^\W\d_]+)(?:\s([^\W\d_]+))?")
_WORD = re.compile(r"[^\W\d_]+")

_IN_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit . dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
"""From two on: "one" is an article as well, and so is another word for nine in French."""

_VALUES = {
    language: {word: str(value) for value, word in enumerate(words.split(), start=2)}
    for language, words in _IN_WORDS.items()
}

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|\w+n['’]t"
    r"|nicht|nichts|kein(?:e[nmrs]?)?|nie|niemals|niemand|ohne|weder"
    r"|ne|n['’](?=\w)|jamais|aucune?|rien|sans|nunca|jamás|ningun[ao]?|ningún|nada|nadie|sin|tampoco"
    r"|non|nessun[ao]?|senza|não|nenhum[a]?|sem|niet|geen|nooit|zonder)(?:\b|(?<=['’]))"
    r"|ない|なく|なけ|ません|不|没|没有",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, and the words or the sign by which it counts; stemmed, perhaps none."""

    value: str
    units: frozenset[str]


def figures(text: str, language: str) -> list[Figure]:
    """The figures of a text in order. `language` is a base code."""
    text = unicodedata.normalize("NFKC", text)
    found = []
    for match in _NUMBER.finditer(text):
        units = _units(text, match.start(), match.end(), language)
        found += [Figure(value, units) for value in _values(match)]
    in_words = _VALUES.get(language, {})
    for word in _WORD.finditer(text) if in_words else ():
        if value := in_words.get(word[0].casefold()):
            found.append(Figure(value, _units(text, word.start(), word.end(), language)))
    return found


def contradicts(said: Collection[Figure], given: Collection[Figure]) -> bool:
    """Whether a figure is said that is not given, while another of its unit is given and not
    said: "90 minutes" against "30 minutes"."""
    said_values = {figure.value for figure in said}
    given_values = {figure.value for figure in given}
    open_units = {
        unit for figure in given if figure.value not in said_values for unit in figure.units
    }
    return any(
        figure.value not in given_values and not figure.units.isdisjoint(open_units)
        for figure in said
    )


def negations(text: str) -> int:
    """How many words of a text deny something."""
    return len(_NEGATIONS.findall(text))


def _values(match: re.Match[str]) -> list[str]:
    if match["date"]:
        # The month may be a name on the other side.
        year, _month, day = match["date"].split("-")
        return [year, day.lstrip("0")]
    if match["grouped"]:
        whole = re.sub(r"\D", "", match["grouped"])
        return [_decimal(f"{whole}.{match['rest'][1:]}" if match["rest"] else whole)]
    plain = match["plain"]
    return [_decimal(plain.replace(",", ".")) if ":" not in plain else plain.lstrip("0")]


def _decimal(number: str) -> str:
    whole, point, fraction = number.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + fraction if fraction else "")


def _units(text: str, start: int, end: int, language: str) -> frozenset[str]:
    if start and text[start - 1] in "€$£¥":
        return frozenset(text[start - 1])
    if symbol := _SYMBOL.match(text, end):
        return frozenset(symbol[1] or symbol[2])
    words = _NEXT_WORDS.match(text, end)
    following = " ".join(filter(None, words.groups())) if words else ""
    return frozenset(term for word in query_terms(following, language) for term in word)
