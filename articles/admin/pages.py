"""What the pages added to the articles' admin have in common: finding, rights, the frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from articles.models import Article

Permission = Literal["view", "change"]


def person(request: HttpRequest) -> User:
    """Who is signed in. The admin lets nobody else get here."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def is_key(text: str) -> bool:
    """Whether a row can have what was typed, or stands in an address, as its key."""
    return text.isascii() and text.isdecimal() and len(text) < 18


class ArticlePages:
    """Pages of one concern. A subclass lists its addresses in `urls`.

    Every page is behind the admin's own sign-in, and asks for a permission itself.
    """

    def __init__(self, model_admin: admin.ModelAdmin[Article]) -> None:
        self.model_admin = model_admin

    def urls(self) -> list[URLPattern]:
        raise NotImplementedError

    def url(self, route: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
        """An address below the list of articles, named `admin:articles_article_<name>`."""
        wrapped = self.model_admin.admin_site.admin_view(view)
        return path(route, wrapped, name=f"articles_article_{name}")

    def require(
        self, request: HttpRequest, permission: Permission, article: Article | None = None
    ) -> None:
        """Raises `PermissionDenied` for a user without the model's permission."""
        allowed = {
            "view": self.model_admin.has_view_permission,
            "change": self.model_admin.has_change_permission,
        }
        if not allowed[permission](request, article):
            raise PermissionDenied

    def find(
        self, request: HttpRequest, article_id: int, permission: Permission = "view"
    ) -> Article:
        """The article with its live revision; 404 for none, 403 without the permission."""
        articles = self.model_admin.get_queryset(request).select_related("live_revision")
        article = get_object_or_404(articles, pk=article_id)
        self.require(request, permission, article)
        return article

    def render(
        self, request: HttpRequest, template: str, title: str, context: Mapping[str, Any]
    ) -> HttpResponse:
        """A page in the admin's frame, from `templates/admin/articles/article/`."""
        frame = self.model_admin.admin_site.each_context(request)
        everything = {**frame, "title": title, "opts": self.model_admin.opts, **context}
        return TemplateResponse(request, f"admin/articles/article/{template}", everything)
