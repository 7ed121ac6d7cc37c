"""Rows as the product itself would make them, with defaults a test does not care about."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from articles import publishing
from articles.models import Article, Category, Status
from assistant.models import (
    Answer,
    AnswerDocument,
    AnswerFeedback,
    AnswerPassage,
    Conversation,
    ConversationReference,
    DroppedCitation,
    Grounding,
    ToolCall,
)


def make_article(
    title: str = "Reset your password", *, publish: bool = True, **fields: Any
) -> Article:
    """An article through `articles.publishing`; `status=Status.ARCHIVED` withdraws it again."""
    status = fields.pop("status", None)
    fields.setdefault("body", f"## How to\n\nEverything about {title.lower()}.")
    article = Article(title=title, **fields)
    if not publish:
        article.save()
        return article
    publishing.publish(article)
    if status is not None and status != Status.PUBLISHED:
        publishing.withdraw(article, status)
    return article


def make_category(name: str = "Account", **fields: Any) -> Category:
    return Category.objects.create(name=name, **fields)


def make_answer(question: str = "How do I reset my password?", **fields: Any) -> Answer:
    """A finished turn of a visitor, in a conversation of its own unless one is given."""
    conversation = fields.pop("conversation", None) or Conversation.objects.create(
        visitor_id=uuid.uuid4()
    )
    defaults = {
        "turn": conversation.answers.count() + 1,
        "owner": f"visitor:{conversation.visitor_id}",
        "status": Answer.Status.COMPLETED,
        "grounding": Grounding.GROUNDED,
        "text": "Open Settings.",
        "model_text": "Open Settings.",
        "language": "en",
        "finished_at": timezone.now(),
    }
    return Answer.objects.create(
        conversation=conversation, question=question, **{**defaults, **fields}
    )


def make_document(answer: Answer, article: Article, ref: int = 1, **fields: Any) -> AnswerDocument:
    """An entry of the answer's ledger for a published article; an uncited excerpt by default."""
    defaults = {
        "revision": article.live_revision,
        "document_id": str(article.pk),
        "title": article.title,
        "slug": article.slug,
        "exposure": AnswerDocument.Exposure.EXCERPT,
        "via": "excerpt",
    }
    ConversationReference.objects.get_or_create(
        conversation=answer.conversation,
        document_id=str(article.pk),
        defaults={"ref": ref},
    )
    return AnswerDocument.objects.create(
        answer=answer, article=article, ref=ref, **{**defaults, **fields}
    )


def make_traced_answer(
    question: str,
    article: Article,
    *,
    passage: str,
    heading: str = "",
    comment: str = "",
    dropped: Sequence[str] = ("[9]",),
    call: Mapping[str, Any] | None = None,
    document: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Answer:
    """An answer that left a trace of every kind: a document with a passage, a tool call, dropped
    citations and a negative vote. `call` and `document` change what stands in theirs."""
    answer = make_answer(question, **fields)
    read = make_document(answer, article, **{"ref": 1, **(document or {})})
    AnswerPassage.objects.create(document=read, position=0, heading=heading, text=passage)
    called = {
        "round": 1,
        "call_id": "c1",
        "name": "search_articles",
        "arguments": '{"query": "link"}',
        "result": '{"documents": []}',
        "count": 1,
        "duration_ms": 12,
    }
    ToolCall.objects.create(answer=answer, position=0, **{**called, **(call or {})})
    for position, text in enumerate(dropped):
        DroppedCitation.objects.create(
            answer=answer, position=position, text=text, reason="unknown_ref"
        )
    AnswerFeedback.objects.create(answer=answer, rating="negative", comment=comment)
    return answer
