"""The working copy as visitors would see it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext

from articles.admin.pages import ArticlePages
from articles.rendering import render_article


class PreviewPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [self.url("<int:article_id>/preview/", self.preview, "preview")]

    def preview(self, request: HttpRequest, article_id: int) -> HttpResponse:
        article = self.find(request, article_id)
        context = {"article": article, "rendered": render_article(article.body)}
        return self.render(request, "preview.html", gettext("Preview"), context)
