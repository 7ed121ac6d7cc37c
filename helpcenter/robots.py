"""`/robots.txt`: what crawlers leave alone, and where the list of pages is."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.caching import public_document
from articles.pages.canonical import absolute

SECONDS = 3600
CLOSED = ("admin:index", "articles:search", "assistant:chat", "sign-in")
"""Pages for people: every search and every question costs work, and none is worth an index."""


@require_safe
@public_document(SECONDS)
def robots_txt(request: HttpRequest) -> HttpResponse:
    lines = [
        "User-agent: *",
        *(f"Disallow: {reverse(name)}" for name in CLOSED),
        "Disallow: /api/",
        "",
        f"Sitemap: {absolute(reverse('articles:sitemap'))}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
