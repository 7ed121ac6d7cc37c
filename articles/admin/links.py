"""Links in the admin: what leads to an article, and what leads nowhere on the whole site."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext

from articles.admin.pages import ArticlePages
from articles.writing import links


class LinkPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("<int:article_id>/links/", self.what_links_here, "links"),
            self.url("broken-links/", self.broken, "broken_links"),
        ]

    def what_links_here(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """The published articles that lead here, and what is broken in this one's own text."""
        article = self.find(request, article_id)
        context = {
            "article": article,
            "links": links.leading_to(article),
            "problems": links.problems(article),
        }
        return self.render(request, "links.html", gettext("Links"), context)

    def broken(self, request: HttpRequest) -> HttpResponse:
        """Every link in a published article that leads nowhere."""
        self.require(request, "view")
        found = links.broken_links()
        context = {"groups": list(links.grouped(found)), "count": len(found)}
        return self.render(request, "broken_links.html", gettext("Broken links"), context)
