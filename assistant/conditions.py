"""Conditions on answers that several pages share, each of them one expression of the database.

None multiplies rows: what is asked of the ledger, of votes and verdicts is asked by `EXISTS`, of
which the database knows well enough how many rows it leaves.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import DurationField, Exists, ExpressionWrapper, F, OuterRef, Q

from assistant.models import (
    AnswerDocument,
    AnswerFeedback,
    AnswerReview,
    CitationSupport,
    DroppedCitation,
    Origin,
)
from assistant.support.scoring import WEAK

SLOW = timedelta(seconds=10)
"""From here on an answer is flagged as slow."""

BY_VISITORS = Q(origin=Origin.VISITOR)
"""What counts in figures: colleagues who try something and checks do not."""

CITED = Q(cited=True) | Q(linked=True)
"""On a document of an answer: whether the answer cites it, see `AnswerDocument.is_cited`."""

took = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())
"""How long an answer took; null while it runs."""


def weakly_supported() -> Exists:
    """Whether one of an answer's citations is weakly supported."""
    scored = CitationSupport.objects.filter(document__answer=OuterRef("pk"))
    return Exists(scored.filter(score__lt=WEAK))


def has_dropped() -> Exists:
    """Whether a citation or link of the model's was taken out of an answer."""
    return Exists(DroppedCitation.objects.filter(answer=OuterRef("pk")))


def rated() -> Exists:
    """Whether the asker voted on an answer."""
    return Exists(AnswerFeedback.objects.filter(answer=OuterRef("pk")))


def judged() -> Exists:
    """Whether a colleague gave a verdict on an answer."""
    reviews = AnswerReview.objects.filter(answer=OuterRef("pk"))
    return Exists(reviews.exclude(verdict=""))


def consulted(**conditions: Any) -> Exists:
    """Whether an answer has a source with these properties."""
    sources = AnswerDocument.objects.filter(answer=OuterRef("pk"), consulted=True)
    return Exists(sources.filter(**conditions))
