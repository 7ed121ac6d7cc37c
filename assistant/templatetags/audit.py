"""What the audit's templates ask of an answer and its documents."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils.translation import gettext

from assistant.admin.audit import why_dropped as drop_reason
from assistant.models import Answer, AnswerDocument, CitationSupport, DroppedCitation

register = template.Library()


@register.filter
def why_dropped(dropped: DroppedCitation) -> str:
    """Why a citation was taken out."""
    return drop_reason(dropped)


@register.filter
def support_parts(support: CitationSupport) -> str:
    """What the score is made of, in one line."""
    parts = [gettext("words %(share).2f") % {"share": support.coverage}]
    if support.cosine is None:
        parts.append(gettext("judged by words alone"))
    else:
        parts.append(gettext("vectors %(cosine).2f") % {"cosine": support.cosine})
    if support.contradicts:
        parts.append(gettext("another figure is there"))
    elif support.figures < 1:
        parts.append(gettext("a figure is missing"))
    if support.negation_differs:
        parts.append(gettext("negated on one side only"))
    return ", ".join(parts)


@register.filter
def seconds_to(answer: Answer, moment: datetime | None) -> str:
    """Seconds from the question to `moment`, or a dash where it never came."""
    if moment is None:
        return "–"
    return f"{(moment - answer.created_at).total_seconds():.2f} s"


@register.filter
def consulted_documents(answer: Answer) -> list[AnswerDocument]:
    """The documents of the Sources row, in its order."""
    return sorted(
        (document for document in answer.documents.all() if document.consulted),
        key=lambda document: document.position or 0,
    )
