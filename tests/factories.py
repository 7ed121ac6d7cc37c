"""Rows as the product itself would make them, with defaults a test does not care about."""

from __future__ import annotations

import uuid
from typing import Any

from django.utils import timezone

from articles import publishing
from articles.models import Article, Category, Status
from assistant.models import (
    Answer,
    AnswerDocument,
    Conversation,
    ConversationReference,
    Grounding,
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
