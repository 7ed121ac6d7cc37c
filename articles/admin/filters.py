"""Filters of the list of articles: what waits for a writer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from articles.models import Article, Rating, Status

OLD = timedelta(days=365)
FEWEST_VOTES = 3
"""Votes against the published text below which they say nothing yet."""


class PublicationFilter(admin.SimpleListFilter):
    """Articles whose working copy says something else by now, or goes live at a set time."""

    title = _("working copy")
    parameter_name = "changes"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [("pending", _("has unpublished changes")), ("scheduled", _("is scheduled"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Article]) -> QuerySet[Article]:
        if self.value() == "scheduled":
            return queryset.filter(publish_at__isnull=False)
        if self.value() != "pending":
            return queryset
        live = "live_revision__"
        return queryset.filter(live_revision__isnull=False).exclude(
            **{f"{live}{name}": F(name) for name in ("title", "summary", "body", "language")}
        )


class AttentionFilter(admin.SimpleListFilter):
    """Published articles that may not hold any more."""

    title = _("attention")
    parameter_name = "attention"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [
            ("review", _("due for review")),
            ("old", _("not changed for a year")),
            ("unhelpful", _("more often not helpful than helpful")),
            ("stale", _("any of these")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Article]) -> QuerySet[Article]:
        wanted = {"review": _due(), "old": _old(), "unhelpful": _unhelpful()}
        if self.value() == "stale":
            condition = wanted["review"] | wanted["old"] | wanted["unhelpful"]
        elif self.value() in wanted:
            condition = wanted[str(self.value())]
        else:
            return queryset
        return queryset.filter(condition, status=Status.PUBLISHED)


def _due() -> Q:
    return Q(review_on__lte=timezone.localdate())


def _old() -> Q:
    """Nobody published a change for a year, and nobody set a later date to look again."""
    later = Q(review_on__gt=timezone.localdate())
    return Q(live_revision__created_at__lt=timezone.now() - OLD) & ~later


def _unhelpful() -> Q:
    """By the votes on the text that is live now: an improved text starts anew."""
    present = Q(feedback__revision=F("live_revision"))
    against = Count("feedback", filter=present & Q(feedback__rating=Rating.NEGATIVE))
    in_favour = Count("feedback", filter=present & Q(feedback__rating=Rating.POSITIVE))
    voted = Article.objects.order_by().annotate(against=against, in_favour=in_favour)
    return Q(
        pk__in=voted.filter(against__gte=FEWEST_VOTES, against__gt=F("in_favour")).values("pk")
    )
