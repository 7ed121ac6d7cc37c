"""What the help pages show around articles: which are popular, and what stands beside one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from articles.access import Reader, readable
from articles.models import Article, ArticleRevision, Category, Rating

POPULAR_DAYS = 90


def shown_revision(article: Article) -> ArticleRevision:
    """The revision that readers see. Every article from `articles.access` has one."""
    return cast(ArticleRevision, article.live_revision)


@dataclass(frozen=True)
class Highlights:
    """Articles for the home page; `popular` is False where no reader has voted lately."""

    articles: Sequence[Article]
    popular: bool


def highlights(reader: Reader, limit: int = 6) -> Highlights:
    """The articles that readers found helpful lately, then the latest ones. One query."""
    since = timezone.now() - timedelta(days=POPULAR_DAYS)
    lately = Q(feedback__rating=Rating.POSITIVE, feedback__updated_at__gte=since)
    found = list(
        _titles(readable(reader))
        .annotate(votes=Count("feedback", filter=lately))
        .order_by("-votes", "-live_revision__created_at", "pk")[:limit]
    )
    return Highlights(found, popular=any(article.votes for article in found))


def in_category(category: Category, reader: Reader) -> QuerySet[Article]:
    """What `reader` may open right in this category, in its order."""
    return _in_order(readable(reader).filter(category=category))


def outside_categories(reader: Reader) -> QuerySet[Article]:
    """What `reader` may open and nobody has filed."""
    return _in_order(readable(reader).filter(category=None))


@dataclass(frozen=True)
class Neighbour:
    slug: str
    title: str


def neighbours(article: Article, reader: Reader) -> tuple[Neighbour | None, Neighbour | None]:
    """The articles before and after this one in its category. One query."""
    if article.category is None:
        return None, None
    rows = in_category(article.category, reader).values_list("pk", "slug", "live_revision__title")
    ordered = [(pk, Neighbour(slug, title)) for pk, slug, title in rows]
    index = [pk for pk, _ in ordered].index(article.pk)
    before = ordered[index - 1][1] if index else None
    after = ordered[index + 1][1] if index + 1 < len(ordered) else None
    return before, after


def ancestors(category: Category | None) -> list[Category]:
    """The categories from the root down to `category`, itself included."""
    path: list[Category] = []
    while category is not None and category not in path:
        path.insert(0, category)
        category = category.parent
    return path


def _in_order(articles: QuerySet[Article]) -> QuerySet[Article]:
    return _titles(articles).order_by("position", "live_revision__title", "pk")


def _titles(articles: QuerySet[Article]) -> QuerySet[Article]:
    """Without the texts, which lists do not show."""
    return articles.defer("body", "live_revision__body")
