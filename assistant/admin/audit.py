"""What one answer left behind, gathered for its page, and why each document is a source or not."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from articles.access import Reader
from assistant.answers import answer_payload
from assistant.grounding import GAPS
from assistant.models import Answer, AnswerDocument, CitationSupport
from assistant.support.scoring import WEAK


def rendered_text(answer: Answer, reader: Reader) -> SafeString:
    """The delivered text as its asker saw it, with links that `reader` may follow now."""
    html: str = answer_payload(answer, reader)["html"]
    return mark_safe(html)  # noqa: S308, the renderer sanitised it


def audit(answer: Answer, reader: Reader) -> dict[str, Any]:
    """What the page of one answer shows, for its template."""
    documents = list(answer.documents.all())
    return {
        "answer": answer,
        "html": rendered_text(answer, reader),
        "retrieved": documents,
        "cited": [document for document in documents if document.cited or document.linked],
        "consulted": [document for document in documents if document.consulted],
        "supports": supports(answer),
        "weak_below": WEAK,
        "tool_calls": list(answer.tool_calls.all()),
        "dropped": list(answer.dropped.all()),
        "feedback": getattr(answer, "feedback", None),
        "is_gap": answer.grounding in GAPS,
    }


def supports(answer: Answer) -> list[CitationSupport]:
    """Each citation with its support, in the order of the text."""
    found = CitationSupport.objects.filter(document__answer=answer)
    return list(found.select_related("document", "passage").order_by("position", "document__ref"))


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
