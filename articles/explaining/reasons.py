"""A verdict in plain words, for writers. Texts only: titles in them are not yet escaped."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.explaining.verdicts import Lead, Verdict
from articles.models import Article, Status, Visibility
from articles.ranking.candidates import PER_LIST
from articles.ranking.relevance import FLOOR
from articles.ranking.weighing import WEIGHED
from articles.reading import shown_revision
from articles.terms.analysis import base_language

PARTS: dict[str, Promise] = {
    "cosine": _("meaning"),
    "saturation": _("words"),
    "title": _("words in the title"),
    "phrases": _("words side by side"),
}
"""The parts of a strength, as people call them."""


def in_words(verdict: Verdict, searched: Sequence[str] = ()) -> list[str]:
    """Why the article lost, in sentences, the deciding one first. `searched`: the languages."""
    said = [_decided(verdict, searched)]
    if verdict.reason == "outranked":
        said += _why_first(verdict)
    if verdict.deserved is not None and verdict.strength is not None:
        said.append(
            gettext(
                "By its strength of %(strength).2f it would have come in place %(place)d "
                "of its language."
            )
            % {"strength": verdict.strength, "place": verdict.deserved}
        )
    if verdict.reason != "below_floor" and verdict.strength is not None:
        said += _under_the_floor(verdict.strength)
    return said


def _decided(verdict: Verdict, searched: Sequence[str]) -> str:
    article = verdict.article
    match verdict.reason:
        case "won":
            return gettext("It comes first, and is strong enough to answer from.")
        case "not_published":
            return _unpublished(article)
        case "not_for_reader":
            return _hidden(article)
        case "other_category":
            return gettext("It is outside the category that was searched.")
        case "not_indexed":
            return gettext(
                "Its published text is not in the index yet. The worker indexes it within "
                "five minutes; “manage.py reindex” does so at once."
            )
        case "language_not_searched":
            return _not_searched(article, searched)
        case "no_text":
            return gettext("The question has nothing in it that a text could contain.")
        case "only_common_words":
            return gettext(
                "The question has only words that search leaves out, such as “how” and “the”. "
                "It was looked up in titles as it is, and by meaning; this article was too far."
            )
        case "no_word":
            return _no_word(verdict)
        case "not_a_candidate":
            return _not_a_candidate(verdict)
        case "not_weighed":
            return gettext(
                "It was found, but only the first %(count)d candidates are weighed, and its "
                "passages come after them."
            ) % {"count": WEIGHED}
        case "below_floor":
            return _first_and_weak(verdict)
        case "outranked":
            return gettext("It was found, in place %(place)d.") % {"place": verdict.place}


def _unpublished(article: Article) -> str:
    if article.status == Status.ARCHIVED:
        return gettext("It is archived: nobody finds it.")
    return gettext("It is a draft: nobody finds it until it is published.")


def _hidden(article: Article) -> str:
    if article.visibility == Visibility.ANSWERS_ONLY:
        return gettext("It is for answers only: no list of results shows it.")
    return gettext("This reader may not open it. Who may read it: %(readers)s.") % {
        "readers": article.get_visibility_display()
    }


def _not_searched(article: Article, searched: Sequence[str]) -> str:
    return gettext(
        "It is written in “%(own)s”, and only “%(searched)s” was searched: either no other "
        "language was asked for, or enough was found before its turn came."
    ) % {"own": _language(article), "searched": ", ".join(searched)}


def _no_word(verdict: Verdict) -> str:
    candidate = verdict.best.candidate if verdict.best else None
    if candidate is None or candidate.dense_rank is None or candidate.cosine is None:
        return gettext("No word of the question stands in it, and it is not found by meaning.")
    return gettext(
        "No word of the question stands in it, and by meaning it is too far: number %(rank)d, "
        "with a cosine of %(cosine).2f."
    ) % {"rank": candidate.dense_rank, "cosine": candidate.cosine}


def _not_a_candidate(verdict: Verdict) -> str:
    candidate = verdict.best.candidate if verdict.best else None
    rank = candidate.lexical_rank if candidate else None
    if rank is not None and rank <= PER_LIST:
        return gettext(
            "Of the question, only words that stand in very many passages are in it. Such words "
            "do not find a passage by themselves."
        )
    return gettext(
        "Words of the question stand in it, but both lists end after %(count)d passages, "
        "and it comes later in each."
    ) % {"count": PER_LIST}


def _first_and_weak(verdict: Verdict) -> str:
    if verdict.strength is None:
        return gettext("It comes first by its title alone, and no answer rests on a title.")
    return gettext(
        "It comes first, but its strength of %(strength).2f is below the floor of %(floor).2f: "
        "no answer rests on it."
    ) % {"strength": verdict.strength, "floor": FLOOR}


def _under_the_floor(strength: float) -> list[str]:
    if strength >= FLOOR:
        return []
    return [
        gettext(
            "Its strength of %(strength).2f is below the floor of %(floor).2f, so no answer "
            "would rest on it."
        )
        % {"strength": strength, "floor": FLOOR}
    ]


def _why_first(verdict: Verdict) -> list[str]:
    if verdict.first is None:
        return []
    title = shown_revision(verdict.first).title
    if verdict.leads:
        parts = "; ".join(map(_lead, verdict.leads))
        said = gettext("“%(title)s” comes first because of %(parts)s.")
        because = said % {"title": title, "parts": parts}
    elif verdict.searched_later:
        said = gettext("“%(title)s” comes first because its language is searched first.")
        because = said % {"title": title}
    elif verdict.best is None or verdict.strength is None:
        because = gettext("“%(title)s” comes first.") % {"title": title}
    else:
        said = gettext(
            "“%(title)s” comes first because the question stands in its title word for word, or "
            "because, equally strong, it was found earlier."
        )
        because = said % {"title": title}
    return [because, *_lacking(verdict)]


def _lead(lead: Lead) -> str:
    return gettext("%(part)s (%(other).2f against %(own).2f)") % {
        "part": PARTS[lead.part],
        "other": lead.other,
        "own": lead.own,
    }


def _lacking(verdict: Verdict) -> list[str]:
    if not verdict.lacking:
        return []
    said = gettext("Words of the question that only its passage has: %(words)s.")
    return [said % {"words": ", ".join(verdict.lacking)}]


def _language(article: Article) -> str:
    return base_language(shown_revision(article).language)
