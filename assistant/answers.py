"""Stored answers as clients get them, with every source's access checked again for the reader.

What was delivered stays as it was: text, numbers, titles. Where a source leads is decided
now: a renamed article by its present address, one that this reader may no longer open by
none, and the links in the text likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from html import escape, unescape
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.urls import reverse

from articles.access import Reader, may_open, may_use
from assistant.failures import failure
from assistant.models import Answer, AnswerDocument, AnswerFeedback
from assistant.reference_numbers import reference_number
from assistant.rendering.answer_html import answer_html

MAX_PASSAGES = 5

_LINK = re.compile(r'(?<=<a href=")[^"]*(?=")')


def with_ledger(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """The answers with all that `answer_payload` reads, in a fixed number of queries."""
    documents = AnswerDocument.objects.select_related(
        "article__category", "revision"
    ).prefetch_related("passages")
    return answers.select_related("feedback", "escalation").prefetch_related(
        Prefetch("documents", documents.order_by("ref"))
    )


def answer_payload(answer: Answer, reader: Reader) -> dict[str, Any]:
    """The JSON object of a stored answer. `retrieved`: all that was looked at, as activity."""
    documents = list(answer.documents.all())
    placed = [document for document in documents if document.position is not None]
    sources = [
        source_payload(document, reader)
        for document in sorted(placed, key=lambda document: document.position or 0)
    ]
    payload: dict[str, Any] = {
        "id": str(answer.pk),
        "conversation_id": str(answer.conversation_id),
        "turn": answer.turn,
        "question": answer.question,
        "status": answer.status,
        "text": answer.text,
        "html": _html(answer, documents, sources, reader),
        "sources": sources,
        "references": sources,
        "retrieved": [_activity(document, reader) for document in documents],
        "grounding": answer.grounding or None,
        "created_at": answer.created_at.isoformat(),
        "feedback": _feedback(answer),
        "reference": reference_number(answer.pk),
        "escalated": getattr(answer, "escalation", None) is not None,
    }
    if answer.truncated_by:
        payload["truncated"] = answer.truncated_by
    if answer.error_code:
        told = failure(answer.error_code)
        payload["error"] = {
            "code": told.code,
            "message": str(told.message),
            "retryable": told.retryable,
        }
    return payload


def source_payload(document: AnswerDocument, reader: Reader) -> dict[str, Any]:
    """A stored source as `events.source_payload` writes a live one. One that answers to this
    reader may no longer use has no address and says `"available": false`."""
    article = document.article
    available = article is not None and may_use(article, reader)
    payload: dict[str, Any] = {
        "id": document.document_id,
        "slug": article.slug if article is not None and available else document.slug,
        "title": document.title,
        "url": _url(document, reader),
        "number": document.number,
        "via": document.via,
        "category": article.category.name if available and article and article.category else None,
        "visibility": article.visibility if available and article else None,
        "passages": _passages(document),
        "revision": document.revision.number if document.revision else None,
        "consulted": document.consulted,
    }
    if not available:
        payload["available"] = False
    elif article is not None and article.live_revision_id != document.revision_id:
        payload["changed"] = True
    return payload


def _activity(document: AnswerDocument, reader: Reader) -> dict[str, Any]:
    """As in the `references` event: nothing is flagged but what was opened."""
    opened = document.exposure == AnswerDocument.Exposure.FULL
    return {**source_payload(document, reader), "consulted": opened}


def _url(document: AnswerDocument, reader: Reader) -> str | None:
    article = document.article
    if article is None or not may_open(article, reader):
        return None
    return article.get_absolute_url()


def _passages(document: AnswerDocument) -> list[dict[str, str]]:
    places = [
        (passage.heading, passage.anchor) for passage in document.passages.all() if passage.heading
    ]
    different = list(dict.fromkeys(places))[:MAX_PASSAGES]
    return [{"heading": heading, "anchor": anchor} for heading, anchor in different]


def _feedback(answer: Answer) -> dict[str, str] | None:
    try:
        feedback = answer.feedback
    except AnswerFeedback.DoesNotExist:
        return None
    return {
        "rating": feedback.rating,
        "reason": feedback.reason,
        "comment": feedback.comment,
    }


def _html(
    answer: Answer,
    documents: Iterable[AnswerDocument],
    sources: list[dict[str, Any]],
    reader: Reader,
) -> str:
    present = _present_addresses(answer.allowed_links, documents, reader)
    links = [link for link in answer.allowed_links if present.get(link, link) is not None]
    html = answer_html(answer.text, sources, links, answer.allowed_images)
    return _LINK.sub(partial(_moved, present), html)


def _present_addresses(
    links: Iterable[str], documents: Iterable[AnswerDocument], reader: Reader
) -> dict[str, str | None]:
    """Where the links to articles lead now; None where this reader may not follow them."""
    now = {_address(document.slug): _url(document, reader) for document in documents}
    present: dict[str, str | None] = {}
    for link in links:
        address, hash_sign, fragment = link.partition("#")
        if address in now:
            url = now[address]
            present[link] = url and f"{url}{hash_sign}{fragment}"
    return present


def _address(slug: str) -> str:
    return reverse("articles:article", args=[slug])


def _moved(present: Mapping[str, str | None], link: re.Match[str]) -> str:
    address = unescape(link[0])
    return escape(present.get(address) or address)
