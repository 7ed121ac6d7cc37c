"""What one answer left behind, gathered for its page, and why each document is a source or not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db.models import prefetch_related_objects
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.access import Reader
from articles.models import ArticleRevision
from articles.writing.diffs import DiffLine, diff_lines, diff_words
from assistant.answers import answer_payload
from assistant.grounding import GAPS
from assistant.models import Answer, AnswerDocument, CitationSupport, DroppedCitation, ToolCall
from assistant.reference_numbers import reference_number
from assistant.support.scoring import WEAK

DROPPED = {
    "unknown_ref": _("The number belongs to no document that the model was given."),
    "not_retrieved": _("It leads to an article that was not retrieved for this answer."),
    "foreign_link": _("It leads to another site, and no article that was given has this link."),
    "unsafe_link": _("An address of this kind is never a link."),
    "image": _("No article that was given shows this image."),
}


@dataclass(frozen=True)
class ShownDocument:
    """A document with its reason in words, and what changed in its article since it was read.

    `live` is the revision that readers see now where that is another one; `changes` are then
    the lines that differ."""

    document: AnswerDocument
    why: str
    live: ArticleRevision | None = None
    changes: tuple[DiffLine, ...] = ()

    @property
    def is_withdrawn(self) -> bool:
        """Whether the article is still there, and no longer published."""
        article = self.document.article
        return article is not None and not article.is_live


@dataclass(frozen=True)
class ShownCall:
    """A tool call with arguments and result laid out to be read."""

    call: ToolCall
    arguments: str
    result: str


@dataclass(frozen=True)
class Round:
    """The calls that a model made at once."""

    number: int
    calls: tuple[ShownCall, ...]

    @property
    def began_at(self) -> datetime | None:
        """When the first call began; None for what was stored before that was kept."""
        return min((one.call.began_at for one in self.calls if one.call.began_at), default=None)

    @property
    def seconds(self) -> float:
        """What its calls took, one after the other."""
        return sum(one.call.duration_ms for one in self.calls) / 1000


def rendered_text(answer: Answer, reader: Reader) -> SafeString:
    """The delivered text as its asker saw it, with links that `reader` may follow now."""
    html: str = answer_payload(answer, reader)["html"]
    return mark_safe(html)  # noqa: S308, the renderer sanitised it


def audit(answer: Answer, reader: Reader) -> dict[str, Any]:
    """What the page of one answer shows, for its template. `answer`: from `with_ledger`."""
    documents = list(answer.documents.all())
    prefetch_related_objects(documents, "article__live_revision")
    calls = list(answer.tool_calls.all())
    return {
        "answer": answer,
        "currency": settings.ASSISTANT_CURRENCY,
        "reference": reference_number(answer.pk),
        "html": rendered_text(answer, reader),
        "own_text": diff_words(answer.model_text, answer.text),
        "is_as_written": answer.model_text == answer.text,
        "documents": [shown_document(document) for document in documents],
        "retrieved": documents,
        "cited": [document for document in documents if document.is_cited],
        "consulted": [document for document in documents if document.consulted],
        "supports": supports(answer),
        "weak_below": WEAK,
        "rounds": rounds(calls),
        "slowest_ms": max((call.duration_ms for call in calls), default=0) or 1,
        "dropped": list(answer.dropped.all()),
        "feedback": getattr(answer, "feedback", None),
        "is_gap": answer.grounding in GAPS,
    }


def shown_document(document: AnswerDocument) -> ShownDocument:
    read, article = document.revision, document.article
    live = article.live_revision if article else None
    if read is None or live is None or live.pk == read.pk:
        return ShownDocument(document, why(document))
    return ShownDocument(document, why(document), live, tuple(diff_lines(read.body, live.body)))


def rounds(calls: Iterable[ToolCall]) -> list[Round]:
    """The calls in their order, those of a round together."""
    return [
        Round(number, tuple(map(_shown_call, group)))
        for number, group in groupby(calls, key=lambda call: call.round)
    ]


def _shown_call(call: ToolCall) -> ShownCall:
    return ShownCall(call, _laid_out(call.arguments), _laid_out(call.result))


def _laid_out(text: str) -> str:
    """JSON indented; everything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def supports(answer: Answer) -> list[CitationSupport]:
    """Each citation with its support, in the order of the text."""
    found = CitationSupport.objects.filter(document__answer=answer)
    return list(found.select_related("document", "passage").order_by("position", "document__ref"))


def why_dropped(dropped: DroppedCitation) -> str:
    """In a sentence: why a citation, link or image was taken out."""
    return str(DROPPED.get(dropped.reason, dropped.reason))


def why(document: AnswerDocument) -> str:
    """In a sentence: why a document is a source, or why it is none."""
    if document.exposure == AnswerDocument.Exposure.TITLE:
        return gettext("Only its title was seen. A title is never a source.")
    if document.consulted and document.via == "opened":
        return gettext("It was opened, so it was read.")
    if document.consulted and document.cited:
        return gettext("Its text was given, and the answer cites it.")
    if document.consulted:
        return gettext("Its text was in the prompt of an answer that cites nothing.")
    if document.carried:
        return gettext("Its text stood in an earlier turn; this answer does not cite it.")
    return gettext("Passages of it were given, and the answer does not cite it.")
