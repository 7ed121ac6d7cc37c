"""What enters the report: visitors' unanswered questions and searches that found nothing.

Reads only the verdict stored on each answer, and the record of searches. Answers that failed,
only listed, greeted or were out of scope never enter, nor does anything that staff or a check
asked. Texts are masked here, before anything else sees them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import QuerySet

from articles.models import SearchQuery
from articles.terms.analysis import query_terms
from assistant.grounding import GAPS
from assistant.models import Answer, GapTopic, Grounding, Origin
from helpcenter.masking import mask

OVERLAP = timedelta(hours=1)
"""How far a run looks back before its period: an answer may commit after its `finished_at`,
and a search is known by its hour alone."""

ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asked or searched for, masked. One of the two ids says where."""

    kind: str
    text: str
    fingerprint: str
    language: str
    grounding: str
    asked_at: datetime
    owner: str = ""
    answer_id: object | None = None
    search_id: int | None = None


def asked(start: datetime | None, until: datetime) -> Iterator[Asked]:
    """What was asked in the period and is not in the report yet, in the order it came."""
    return chain(_questions(start, until), _searches(start, until))


def fingerprint_of(text: str, language: str) -> str:
    """Equal for texts that say the same words, whatever their order and form."""
    terms = {term for word in query_terms(text, language) for term in word}
    words = terms or set(text.casefold().split())
    return hashlib.sha256("\0".join(sorted(words)).encode()).hexdigest()


def _questions(start: datetime | None, until: datetime) -> Iterator[Asked]:
    answers: QuerySet[Answer] = Answer.objects.filter(
        origin=Origin.VISITOR,
        grounding__in=[*GAPS, Grounding.UNCITED],
        finished_at__lt=until,
        gap_question__isnull=True,
    )
    if start is not None:
        answers = answers.filter(finished_at__gte=start - OVERLAP)
    fields = ("id", "question", "language", "grounding", "created_at", "owner")
    rows = answers.order_by("created_at", "id").values_list(*fields)
    for pk, question, language, grounding, created_at, owner in rows.iterator(chunk_size=ROWS):
        text = mask(question)
        uncited = grounding == Grounding.UNCITED
        kind = GapTopic.Kind.UNCITED if uncited else GapTopic.Kind.GAP
        mark = fingerprint_of(text, language)
        yield Asked(kind, text, mark, language, grounding, created_at, owner, answer_id=pk)


def _searches(start: datetime | None, until: datetime) -> Iterator[Asked]:
    """Visitors' searches that found nothing at all, by no fault of search or of spelling."""
    searches = SearchQuery.objects.filter(
        by_staff=False,
        results=0,
        suggestion="",
        fallback_reason__in=["", "embeddings_off"],
        searched_at__lt=until,
        gap_question__isnull=True,
    )
    if start is not None:
        searches = searches.filter(searched_at__gte=start - OVERLAP)
    fields = ("pk", "text", "language", "searched_at")
    rows = searches.order_by("searched_at", "pk").values_list(*fields)
    for pk, text, language, searched_at in rows.iterator(chunk_size=ROWS):
        mark = fingerprint_of(text, language)
        yield Asked(GapTopic.Kind.SEARCH, text, mark, language, "", searched_at, search_id=pk)
