"""Where a link may lead: articles and their headings, for the link picker of the editor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Case, Q, QuerySet, Value, When

from articles.markup.outline import sections
from articles.models import Article, Status

LINK_TARGETS = 8
HEADINGS = 30


@dataclass(frozen=True)
class LinkTarget:
    """Something a link may lead to: an article, or with `heading` a section of it."""

    title: str
    heading: str
    url: str
    status: str


def link_targets(articles: QuerySet[Article], query: str) -> list[LinkTarget]:
    """The articles whose title or address holds the words of `query`, each with its headings.

    Published ones first. An empty query gives those that were changed last.
    """
    wanted = Q()
    for word in query.split():
        wanted &= Q(title__icontains=word) | Q(slug__icontains=word)
    found = (
        articles.filter(wanted)
        .exclude(status=Status.ARCHIVED)
        .annotate(rank=Case(When(status=Status.PUBLISHED, then=Value(0)), default=Value(1)))
        .order_by("rank", "-updated_at", "pk")
        .select_related("live_revision")[:LINK_TARGETS]
    )
    return [target for article in found for target in _targets(article)]


def _targets(article: Article) -> Iterator[LinkTarget]:
    live = article.live_revision if article.is_live else None
    title, body = (live.title, live.body) if live else (article.title, article.body)
    url, status = article.get_absolute_url(), str(article.get_status_display())
    yield LinkTarget(title, "", url, status)
    for section in sections(body)[1 : HEADINGS + 1]:
        if section.title and section.level <= 3:
            yield LinkTarget(title, section.title, f"{url}#{section.anchor}", status)
