"""Filters of the list of articles: what waits for a writer."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.models import Article


class PublicationFilter(admin.SimpleListFilter):
    """Published articles whose working copy says something else by now."""

    title = _("working copy")
    parameter_name = "changes"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [("pending", _("has unpublished changes"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Article]) -> QuerySet[Article]:
        if self.value() != "pending":
            return queryset
        live = "live_revision__"
        return queryset.filter(live_revision__isnull=False).exclude(
            **{f"{live}{name}": F(name) for name in ("title", "summary", "body", "language")}
        )
