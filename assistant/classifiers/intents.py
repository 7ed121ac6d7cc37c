"""What a message asks for, where its words alone say it: a list, or more of what came before.

Serves searching (a follow-up is searched with its topic) and the answerer that works
without a model (a request for a list is answered by one).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from articles.terms.analysis import query_terms
from assistant.classifiers.small_talk import is_small_talk, words_of

LONGEST_LIST_REQUEST = 80


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A wish to see what there is; `topic` is what it names, perhaps a category."""

    topic: str = ""


_THINGS = (
    r"(?:help )?(?:articles?|topics?|guides?|docs|documents|documentation|pages?|categor(?:y|ies)"
    r"|subjects?|sections?|artikeln?|themen|kategorien|anleitungen|sujets|rubriques|articulos"
    r"|temas|categorias|guias|articoli|argomenti|categorie|artigos|topicos|artikelen|onderwerpen)"
)
_EVERYTHING = (
    rf"(?:what|which) (?:are the |are your )?{_THINGS}"
    r"(?: do you (?:have|cover|offer|know)| are there| are available| can i read)?(?: here)?",
    r"(?:can you |could you )?(?:list|show|show me|give me|list me)(?: a list of| the list of)?"
    rf"(?: all)?(?: of)?(?: the| your)?(?: available)? {_THINGS}(?: you have| available)?",
    rf"(?:all|list of)(?: all)?(?: the| your)? {_THINGS}",
    r"(?:table of )?contents",
    r"what (?:can|do) (?:i|you) (?:ask|ask you|know)",
    r"what can you (?:do|help|help with|help me with|tell me|answer)",
    r"what(?:s| is) (?:in )?(?:this|the|your) (?:help cent(?:er|re)|knowledge base)(?: about)?",
    rf"welche {_THINGS} (?:gibt es|habt ihr|haben sie|hast du)(?: hier)?",
    rf"(?:zeige?|liste?)(?: mir)?(?: alle)? {_THINGS}(?: auf)?|alle {_THINGS}",
    r"wobei kannst du (?:mir )?helfen|was kannst du",
    rf"quels? (?:sont les |sont vos )?{_THINGS}(?: avez vous| as tu| y a t il)?",
    rf"(?:liste|montre|affiche)(?: moi)?(?: de| des| tous| les)+ {_THINGS}",
    rf"que {_THINGS} (?:tienes|tienen|hay|teneis)",
    rf"(?:lista|muestra|muestrame)(?: de)?(?: todos| todas)?(?: los| las)? {_THINGS}",
    rf"(?:quali|che) {_THINGS} (?:hai|avete|ci sono)",
    rf"(?:quais|que) {_THINGS} (?:tem|voce tem|voces tem|existem|ha)",
    rf"welke {_THINGS} (?:zijn er|heb je|hebben jullie|heeft u)",
)
_SOMETHING = (
    rf"(?:what|which) {_THINGS} (?:do you have |are there |are )?(?:in|under|about|on|for) (.+)",
    r"what(?:s| is) (?:in|under)(?: the)? (.+?)(?: category| section)?",
    rf"(?:list|show|give)(?: me)?(?: all)?(?: the| your)? {_THINGS} (?:in|under|about|on|for) (.+)",
    rf"(?:list|show|show me|give me)(?: all)?(?: the| your)? (?!me |all |the )(.+?) {_THINGS}",
    r"(?:was steht|was gibt es|was ist) (?:in|unter) (.+)",
    rf"welche {_THINGS} (?:gibt es |habt ihr )?(?:in|unter|zu|uber) (.+)",
    r"(?:qu ?est ce qu ?il y a|qu ?y a t il) dans (.+)",
    r"que hay en (.+)",
    r"(?:che )?cosa c ?e in (.+)",
    r"o que (?:ha|tem) em (.+)",
    r"wat staat er in (.+)",
)
_LIST_EVERYTHING = re.compile("|".join(_EVERYTHING))
_LIST_SOMETHING = re.compile("|".join(_SOMETHING))


def list_request(message: str) -> ListRequest | None:
    """The list that a message asks for; None where it asks anything else."""
    words = " ".join(words_of(message))
    if len(words) > LONGEST_LIST_REQUEST:
        return None
    if _LIST_EVERYTHING.fullmatch(words):
        return ListRequest()
    named = _LIST_SOMETHING.fullmatch(words)
    if named is None:
        return None
    return ListRequest(next(topic for topic in named.groups() if topic))


def names_the_same(topic: str, name: str) -> bool:
    """Whether a list request's topic is this category's name."""
    return words_of(name) in (words_of(topic), words_of(topic.removeprefix("the ")))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONNECTIVES = _words("""
    and or but also then plus und oder aber auch et ou mais aussi y o pero tambien e ed oppure
    ma anche mas tambem en of maar ook och men а и или
""")
_OPENINGS = ("what about", "how about", "what if", "same for", "was ist mit", "et pour", "y para")
_REFERRING = _words("""
    it its that this them those these they one ones there same dies diese dieses das es sie
    ihn davon damit ca cela celui eso esto ello questo quello cio isso isto dat dit
""")
_EMPTY_IT = re.compile(r"\b(is it|it is|its) (possible|allowed|ok|okay)\b")
_LONGEST_FOLLOW_UP = 10


def search_query(question: str, earlier: Sequence[str], language: str) -> str:
    """What to search for: a follow-up takes along the question that it follows.

    `earlier`: the conversation's questions before it, oldest first.
    """
    if not is_follow_up(question, language):
        return question
    for topic in reversed(earlier):
        if not is_small_talk(topic) and not is_follow_up(topic, language):
            return f"{topic} {question}"
    return question


def is_follow_up(message: str, language: str) -> bool:
    """Whether a message leans on what was said before: "and as PDF?", "how do I undo that?"."""
    words = _EMPTY_IT.sub("", " ".join(words_of(message))).split()
    if len(words) > _LONGEST_FOLLOW_UP:
        return False
    terms = len(query_terms(message, language))
    if not words or terms == 0:
        return True
    leans = words[0] in _CONNECTIVES or " ".join(words).startswith(_OPENINGS)
    return leans or (terms <= 2 and not _REFERRING.isdisjoint(words))
