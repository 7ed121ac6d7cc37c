"""Small talk in many languages: whether a message asks nothing that an article could answer.

It greets, thanks, agrees, says goodbye, asks who the assistant is, or only complains.
Deterministic and cautious: every word has to belong to a phrase of `small_talk_phrases`. When
in doubt a message is a question, because calling it small talk would hide it from the writers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from assistant.classifiers import small_talk_phrases as said

Kind = Literal["greeting", "thanks", "closing", "nod", "assistant", "complaint"]

_MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0xFE30))
    if unicodedata.category(character) in ("Mn", "Mc")
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
_SPACELESS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_DOUBLED_END = re.compile(r"([^\W\d_])\1$")
_LAUGHTER = re.compile(
    unicodedata.normalize(
        "NFKD",
        r"(?:a?(?:ha|ah|he|hi|ho|ja|je|ji|xa|rs|ха|хе|хи|हा|ه|خ){2,}[hjх]?|wk(?:wk)+|lo+l|k{2,}|w{2,}|ه+|ㅋ+|ㅎ+|ㅠ+"
        r"|[哈呵嘿]{1,}|[笑草]|5{3,})",
    )
)
_PLAIN = str.maketrans({"'": "", "’": "", "ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae"})
"""Apostrophes, and letters that Unicode takes for letters of their own."""

_LONGEST_SMALL_TALK = 80
_LONGEST_PHRASE = 7


def words_of(text: str) -> list[str]:
    """The words in lower case, without accents and apostrophes: "What's" gives "whats"."""
    return _WORD.findall(_fold(text))


def _fold(text: str) -> str:
    """Lower case without accents and apostrophes: "What's" and "whats" are the same."""
    text = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(c for c in text if not unicodedata.combining(c)))


def _phrases(*lists: str) -> frozenset[str]:
    lines = "\n".join(lists).strip().splitlines()
    return frozenset(" ".join(words_of(phrase)) for line in lines for phrase in line.split("|"))


def _any_of(patterns: str) -> str:
    return "|".join(f"(?:{_fold(pattern)})" for pattern in patterns.strip().splitlines())


_KINDS: dict[Kind, frozenset[str]] = {
    "thanks": _phrases(said.THANKS),
    "closing": _phrases(said.CLOSINGS),
    "greeting": _phrases(said.GREETINGS),
    "nod": _phrases(said.NODS),
    "complaint": _phrases(said.COMPLAINTS),
}
_TALK = frozenset[str]().union(*_KINDS.values())
_AROUND = _phrases(said.FILLERS)
_OBJECTIONS = _phrases(said.OBJECTIONS)
_VOCABULARY = frozenset(word for phrase in _TALK | _AROUND for word in phrase.split())
_SPACELESS_TALK = re.compile(
    "|".join(
        sorted(filter(_SPACELESS.search, _TALK | _AROUND), key=lambda each: (-len(each), each))
    )
)
_ABOUT_ASSISTANT = re.compile(rf"(?<!\S)(?:{_any_of(said.ABOUT_ASSISTANT)})(?!\S)")
_ABOUT_ASSISTANT_UNSPACED = re.compile(_any_of(said.ABOUT_ASSISTANT_UNSPACED))


def small_talk_kind(message: str) -> Kind | None:
    """What kind of small talk a message is, by its longest phrase; None for a question."""
    if not is_small_talk(message):
        return None
    words = f" {_known_words(message)} "
    if _ABOUT_ASSISTANT.search(words) or _ABOUT_ASSISTANT_UNSPACED.search(words):
        return "assistant"
    lengths: dict[Kind, int] = {
        kind: max((len(phrase) for phrase in phrases if _holds(words, phrase)), default=0)
        for kind, phrases in _KINDS.items()
    }
    kind = max(lengths, key=lambda kind: lengths[kind])
    return kind if lengths[kind] else "nod"


def is_small_talk(message: str) -> bool:
    """Whether a message asks nothing that an article could answer. One without words is."""
    if len(message) > _LONGEST_SMALL_TALK:
        return False
    words = _known_words(message)
    if any(_holds(f" {words} ", objection) for objection in _OBJECTIONS):
        return False
    rest = _without_spaceless_talk(_ABOUT_ASSISTANT.sub(" ", words)).split()
    was_cut = len(rest) < len(words.split())
    return _is_all_talk(rest, talks=was_cut or not words)


def _is_all_talk(words: Sequence[str], *, talks: bool) -> bool:
    """Whether phrases cover all words, one of which at least says something (`talks`: did)."""
    covered = {0: talks}
    for start in range(len(words)):
        if start not in covered:
            continue
        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1):
            phrase = " ".join(words[start:end])
            if phrase in _TALK or phrase in _AROUND:
                says = covered[start] or phrase in _TALK
                covered[end] = says or covered.get(end, False)
    return covered.get(len(words), False)


def _known_words(message: str) -> str:
    return " ".join(map(_known_form, words_of(message)))


def _known_form(word: str) -> str:
    """A word that people draw out or double, as the phrases have it: "heyyy" gives "hey"."""
    if word in _VOCABULARY:
        return word
    if _LAUGHTER.fullmatch(word):
        return "lol"
    shorter = (_DRAWN_OUT.sub(r"\1\1", word), _DRAWN_OUT.sub(r"\1", word))
    forms = (*shorter, _DOUBLED_END.sub(r"\1", word))
    return next((form for form in forms if form in _VOCABULARY), word)


def _holds(words: str, phrase: str) -> bool:
    return f" {phrase} " in words or (_SPACELESS.search(phrase) is not None and phrase in words)


def _without_spaceless_talk(text: str) -> str:
    """Scripts that write no spaces have no words to compare: their phrases are cut out."""
    if not _SPACELESS.search(text):
        return text
    return _SPACELESS_TALK.sub(" ", _ABOUT_ASSISTANT_UNSPACED.sub(" ", text))
