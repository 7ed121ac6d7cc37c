"""Articles as editors find them: any status, and locked while they are changed."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound

from articles.models import Article


def rows() -> QuerySet[Article]:
    return Article.objects.select_related("live_revision", "category")


def locked() -> QuerySet[Article]:
    """Until the transaction ends nobody else changes what is read here."""
    return rows().select_for_update(of=("self",))


def found(articles: QuerySet[Article], **condition: Any) -> Article:
    article = articles.filter(**condition).first()
    if article is None:
        raise NotFound
    return article
