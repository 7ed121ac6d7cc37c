"""In which language a text is written, by its script or its commonest words. Pure.

Says nothing rather than something wrong: words of languages that are near to each other are
often the same. Messages have few words; there, one tells, if no other language has more.
"""

from __future__ import annotations

import re

from articles.terms.analysis import fold
from articles.terms.stopwords import STOP_WORDS

LEAST_WORDS = 3
"""Common words of a language that have to be there."""

LEAD = 1.5
"""How many times as many as of the next language."""

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_LEAST_SHARE = 0.2
"""Of the characters that a script has to have, so that a name in a sentence does not count."""


def guess_language(text: str) -> str:
    """A base code, or nothing where it is not clear."""
    if language := _by_script(text):
        return language
    counts = _common_words(text)
    best, second = sorted(counts, key=lambda language: -counts[language])[:2]
    is_clear = counts[best] >= max(LEAST_WORDS, LEAD * counts[second])
    return best if is_clear else ""


def language_of_message(text: str, likely: str) -> str:
    """The same for a text of a few words. `likely` wins where two languages have as many."""
    if language := _by_script(text):
        return language
    counts = _common_words(text)
    most = max(counts.values())
    best = [language for language, count in counts.items() if count == most]
    if not most:
        return ""
    return likely if likely in best else best[0] if len(best) == 1 else ""


def _by_script(text: str) -> str:
    letters = sum(map(str.isalpha, text))
    for language, script in _SCRIPTS:
        if len(script.findall(text)) > letters * _LEAST_SHARE:
            return language
    return ""


def _common_words(text: str) -> dict[str, int]:
    """How many of the words are common ones of each language."""
    words = _WORD.findall(fold(text))
    return {
        language: sum(word in stop_words for word in words)
        for language, stop_words in STOP_WORDS.items()
    }
