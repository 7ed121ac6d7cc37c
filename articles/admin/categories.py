"""Categories, with how many published articles each holds."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.models import Category, Status


@admin.register(Category)
class CategoryAdmin(admin.ModelAdmin[Category]):
    list_display = ["name", "parent", "position", "published_articles"]
    list_editable = ["position"]
    list_select_related = ["parent"]
    search_fields = ["name", "description"]
    autocomplete_fields = ["parent"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Category]:
        published = Count("articles", filter=Q(articles__status=Status.PUBLISHED))
        return super().get_queryset(request).annotate(published_articles=published)

    @admin.display(description=_("published articles"), ordering="published_articles")
    def published_articles(self, category: Category) -> int:
        return getattr(category, "published_articles", 0)
