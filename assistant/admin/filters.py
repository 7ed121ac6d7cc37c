"""What the list of answers can be narrowed by: choices. What is typed: see `typed_filters`.

Each filter is a condition on the answer's own row, or one `EXISTS` on its ledger: none of
them multiplies rows, and choices cost at most one query each, whatever is chosen.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import is_key
from articles.models import Category
from assistant.conditions import (
    SLOW,
    consulted,
    has_dropped,
    judged,
    rated,
    took,
    weakly_supported,
)
from assistant.models import Answer, AnswerReview, CitationSupport


class AnswerFilter(admin.SimpleListFilter):
    """A filter whose choices and conditions stand in `options`."""

    options: dict[str, tuple[Any, Any]] = {}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(value, label) for value, (label, _condition) in self.options.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        chosen = self.options.get(self.value() or "")
        return queryset.filter(chosen[1]) if chosen else queryset


class SupportFilter(AnswerFilter):
    """By the weakest of an answer's citations."""

    title = _("support of citations")
    parameter_name = "support"
    options = {
        "weak": (_("weakly supported"), weakly_supported()),
        "good": (
            _("all well supported"),
            Exists(
                CitationSupport.objects.filter(document__answer=OuterRef("pk"), score__isnull=False)
            )
            & ~weakly_supported(),
        ),
    }


class SourcesFilter(AnswerFilter):
    title = _("sources")
    parameter_name = "sources"
    options = {
        "some": (_("with sources"), consulted()),
        "none": (_("without a source"), ~consulted()),
    }


class RatingFilter(AnswerFilter):
    title = _("rating")
    parameter_name = "rating"
    options = {
        "positive": (_("helpful"), Q(feedback__rating="positive")),
        "negative": (_("not helpful"), Q(feedback__rating="negative")),
        "none": (_("not rated"), ~rated()),
    }


class DurationFilter(AnswerFilter):
    title = _("duration")
    parameter_name = "took"
    options = {
        "2": (_("under 2 seconds"), Q(took__lt=timedelta(seconds=2))),
        "10": (_("2 to 10 seconds"), Q(took__gte=timedelta(seconds=2), took__lt=SLOW)),
        "30": (_("10 to 30 seconds"), Q(took__gte=SLOW, took__lt=timedelta(seconds=30))),
        "more": (_("30 seconds and more"), Q(took__gte=timedelta(seconds=30))),
    }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        return super().queryset(request, queryset.alias(took=took))


class CostFilter(AnswerFilter):
    """By the cost, in the site's currency."""

    title = _("cost")
    parameter_name = "cost"
    options = {
        "any": (_("any"), Q(cost__isnull=False)),
        "none": (_("no price known"), Q(cost=None)),
        "least": (_("under 0.001"), Q(cost__lt=Decimal("0.001"))),
        "little": (_("0.001 to 0.01"), Q(cost__gte=Decimal("0.001"), cost__lt=Decimal("0.01"))),
        "some": (_("0.01 to 0.1"), Q(cost__gte=Decimal("0.01"), cost__lt=Decimal("0.1"))),
        "more": (_("0.1 and more"), Q(cost__gte=Decimal("0.1"))),
    }


class FlagsFilter(AnswerFilter):
    title = _("flags")
    parameter_name = "flag"
    options = {
        "weak": (_("weak support"), weakly_supported()),
        "dropped": (_("something dropped"), has_dropped()),
        "escalated": (_("handed to support"), Q(escalation__isnull=False)),
        "error": (_("an error"), ~Q(error_code="")),
        "cut": (_("cut short"), ~Q(truncated_by="")),
        "fallback": (_("search fell back"), ~Q(search_fallback="")),
        "slow": (_("slow"), Q(took__gte=SLOW)),
    }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        return super().queryset(request, queryset.alias(took=took))


class VerdictFilter(AnswerFilter):
    """By what colleagues think of an answer."""

    title = _("verdict of staff")
    parameter_name = "verdict"
    options = {
        **{
            value: (label, Q(review__verdict=value))
            for value, label in AnswerReview.Verdict.choices
        },
        "none": (_("not reviewed"), ~judged()),
    }


class AssigneeFilter(admin.SimpleListFilter):
    """What waits for whoever looks."""

    title = _("assignee")
    parameter_name = "assignee"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("me", _("me")), ("anyone", _("anyone"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        if self.value() == "me":
            return queryset.filter(review__assignee=request.user.pk)
        if self.value() == "anyone":
            return queryset.filter(review__assignee__isnull=False)
        return queryset


class CategoryFilter(admin.SimpleListFilter):
    """By the category of a source."""

    title = _("category of a source")
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(str(pk), name) for pk, name in Category.objects.values_list("pk", "name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        value = self.value() or ""
        if not is_key(value):
            return queryset
        return queryset.filter(consulted(article__category=int(value)))


class ValuesFilter(admin.SimpleListFilter):
    """By a column's values. All columns of the list's ask the database once, together."""

    columns = ("model", "language")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        known = getattr(request, "_values_of_answers", None)
        if known is None:
            known = list(Answer.objects.order_by().values_list(*self.columns).distinct())
            request._values_of_answers = known  # type: ignore[attr-defined]
        at = self.columns.index(str(self.parameter_name))
        return [(value, value) for value in sorted({row[at] for row in known}) if value]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        value = self.value()
        return queryset.filter(**{str(self.parameter_name): value}) if value else queryset


class ModelFilter(ValuesFilter):
    title = _("model")
    parameter_name = "model"


class LanguageFilter(ValuesFilter):
    title = _("language")
    parameter_name = "language"


class EndedFilter(AnswerFilter):
    """Figures count answers that have ended."""

    title = _("ended")
    parameter_name = "ended"
    options = {
        "1": (_("yes"), ~Q(status=Answer.Status.RUNNING)),
        "0": (_("still running"), Q(status=Answer.Status.RUNNING)),
    }
