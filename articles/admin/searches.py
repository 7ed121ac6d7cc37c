"""What visitors searched for: read-only, with what was found and what was opened."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.models import SearchClick, SearchQuery


class OutcomeFilter(admin.SimpleListFilter):
    title = _("outcome")
    parameter_name = "outcome"

    CONDITIONS = {
        "nothing": Q(results=0),
        "weak": Q(results__gt=0, strong=0),
        "unopened": Q(results__gt=0, clicks__isnull=True),
        "degraded": ~Q(fallback_reason__in=["", "only_common_words"]),
    }

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [
            ("nothing", _("found nothing")),
            ("weak", _("found nothing good")),
            ("unopened", _("nothing was opened")),
            ("degraded", _("a part of search was down")),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[SearchQuery]
    ) -> QuerySet[SearchQuery]:
        condition = self.CONDITIONS.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


class RepetitionFilter(admin.SimpleListFilter):
    """Each text once, so that the most frequent ones can be read down the list."""

    title = _("repetitions")
    parameter_name = "repetitions"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [("once", _("each text once"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[SearchQuery]
    ) -> QuerySet[SearchQuery]:
        if self.value() != "once":
            return queryset
        texts = SearchQuery.objects.order_by().values("text", "language")
        return queryset.filter(pk__in=texts.annotate(newest=Max("pk")).values("newest"))


class OpenedInline(admin.TabularInline[SearchClick, SearchQuery]):
    model = SearchClick
    verbose_name_plural = _("opened results")
    fields = readonly_fields = ("title", "position", "article")
    extra = max_num = 0
    can_delete = False


@admin.register(SearchQuery)
class SearchQueryAdmin(admin.ModelAdmin[SearchQuery]):
    list_display = ["text", "times", "results", "strong", "opened", "suggestion", "searched_at"]
    list_filter = [OutcomeFilter, RepetitionFilter, "by_staff", "language", "mode"]
    search_fields = ["text"]
    date_hierarchy = "searched_at"
    inlines = [OpenedInline]
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[SearchQuery]:
        same = SearchQuery.objects.filter(text=OuterRef("text"), language=OuterRef("language"))
        times = same.order_by().values("text").annotate(times=Count("pk")).values("times")
        clicks = SearchClick.objects.filter(search=OuterRef("pk")).order_by().values("search")
        opened = clicks.annotate(opened=Count("pk")).values("opened")
        return (
            super()
            .get_queryset(request)
            .annotate(times=Subquery(times), opened=Coalesce(Subquery(opened), 0))
        )

    @admin.display(description=_("times"), ordering="times")
    def times(self, search: SearchQuery) -> int:
        return getattr(search, "times", 0)

    @admin.display(description=_("opened"), ordering="opened")
    def opened(self, search: SearchQuery) -> int:
        return getattr(search, "opened", 0)
