"""`/sitemap.xml` and its parts: every page that a reader without an account may open."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps import views as django_views
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.access import ANONYMOUS, readable
from articles.caching import public_document
from articles.categories import tree
from articles.models import Article, Category
from articles.pages.canonical import absolute
from articles.reading import shown_revision

SECONDS = 300
XML = "application/xml"


class _OfThisSite(Sitemap[Any]):
    """Addresses by `SITE_URL`, whatever host the request came to."""

    limit = 5_000

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(settings.SITE_URL).scheme

    def get_domain(self, site: Any = None) -> str:
        return urlsplit(settings.SITE_URL).netloc


class _Articles(_OfThisSite):
    def items(self) -> QuerySet[Article]:
        found = readable(ANONYMOUS).select_related(None).select_related("live_revision")
        return found.only("slug", "live_revision__created_at").order_by("pk")

    def lastmod(self, item: Article) -> datetime:
        return shown_revision(item).created_at


class _Categories(_OfThisSite):
    def items(self) -> Sequence[Category]:
        return [branch.category for top in tree(ANONYMOUS) for branch in top.walk()]


class _Lists(_OfThisSite):
    def items(self) -> Sequence[str]:
        return ["articles:home", "articles:topics"]

    def location(self, item: str) -> str:
        return reverse(item)


SECTIONS: dict[str, type[_OfThisSite]] = {
    "articles": _Articles,
    "categories": _Categories,
    "pages": _Lists,
}


@require_safe
@public_document(SECONDS)
def index(request: HttpRequest) -> HttpResponseBase:
    """The parts, each with its pages."""
    locations = [
        {"location": location}
        for name, section in SECTIONS.items()
        for location in _pages(name, section())
    ]
    return render(request, "sitemap_index.xml", {"sitemaps": locations}, content_type=XML)


@require_safe
@public_document(SECONDS)
def part(request: HttpRequest, section: str) -> HttpResponseBase:
    """One part. A page or a part that there is not, is a 404."""
    return django_views.sitemap(request, dict(SECTIONS), section=section)


def _pages(name: str, section: _OfThisSite) -> list[str]:
    first = absolute(reverse("articles:sitemap-part", args=[name]))
    return [first, *(f"{first}?p={page}" for page in range(2, section.paginator.num_pages + 1))]
