"""Pages of figures in the admin: the overview, and what answers made of one article.

Each number is a link to the list that it counts. Texts of conversations are shown on the
article's page only, which records the look.
"""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import formats
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import person
from articles.models import Article
from articles.writing import links
from assistant.audit import access_log
from assistant.figures.articles import article_use
from assistant.figures.overview import Overview, Step, overview
from assistant.figures.period import Period
from assistant.models import GapTopic, Grounding

PERIODS = [(7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("a year"))]
ARTICLE_DAYS = 90

CHART_NAME = 28
"""Characters of a topic's name in a chart; the table has the whole of it."""


class FigurePages:
    def __init__(self, model_admin: admin.ModelAdmin[Any]) -> None:
        self.model_admin = model_admin
        self.site = model_admin.admin_site

    def urls(self) -> list[URLPattern]:
        return [
            path(
                "overview/",
                self.site.admin_view(self.overview),
                name="assistant_answer_overview",
            ),
            path(
                "article/<int:article_id>/",
                self.site.admin_view(self.article),
                name="assistant_answer_of_article",
            ),
        ]

    def overview(self, request: HttpRequest) -> HttpResponse:
        """Figures of the whole site; no text of anybody's."""
        if not self.model_admin.has_view_permission(request):
            raise PermissionDenied
        found = overview(Period.of(request.GET.dict()))
        may_see_topics = request.user.has_perm("assistant.view_gaptopic")
        context = {
            "overview": found,
            "groundings": [
                (
                    value,
                    label,
                    found.groundings[value],
                    answers_url(found.period, grounding__exact=value),
                )
                for value, label in Grounding.choices
                if found.groundings[value]
            ],
            "rows": [_row(step, found) for step in found.steps],
            "charts": {**_charts(found), **(_topics_chart(found.topics) if may_see_topics else {})},
            "consulted": [
                (one, answers_url(found.period, article=one.article_id)) for one in found.consulted
            ],
            "unused": [
                (one, answers_url(found.period, unused=one.article_id)) for one in found.unused
            ],
            "all_url": answers_url(found.period),
            "grounded_url": answers_url(found.period, grounding__exact=Grounding.GROUNDED),
            "positive_url": answers_url(found.period, rating="positive"),
            "negative_url": answers_url(found.period, rating="negative"),
            "escalated_url": answers_url(found.period, flag="escalated"),
            "priced_url": answers_url(found.period, cost="any"),
            "currency": settings.ASSISTANT_CURRENCY,
            "may_see_topics": may_see_topics,
        }
        return self._render(request, "overview.html", gettext("Overview"), found.period, context)

    def article(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """The answers built on an article, and what an edit would touch."""
        allowed = request.user.has_perm("articles.view_article")
        if not allowed or not self.model_admin.has_view_permission(request):
            raise PermissionDenied
        articles = Article.objects.select_related("live_revision")
        article = get_object_or_404(articles, pk=article_id)
        period = Period.of(request.GET.dict(), ARTICLE_DAYS)
        use = article_use(article, period)
        access_log.listed(person(request), len(use.answers), "article.answers")
        chosen = {"article": article.pk}
        context = {
            "article": article,
            "use": use,
            "linking": len(links.leading_to(article)),
            "consulted_url": answers_url(period, **chosen),
            "unused_url": answers_url(period, unused=article.pk),
            "positive_url": answers_url(period, rating="positive", **chosen),
            "negative_url": answers_url(period, rating="negative", **chosen),
        }
        title = gettext("Answers built on this article")
        return self._render(request, "of_article.html", title, period, context)

    def _render(
        self,
        request: HttpRequest,
        template: str,
        title: str,
        period: Period,
        context: dict[str, Any],
    ) -> HttpResponse:
        frame = self.site.each_context(request)
        everything = {
            **frame,
            "title": title,
            "opts": self.model_admin.opts,
            "period": period,
            "periods": [(label, _preset(days)) for days, label in PERIODS],
            **context,
        }
        return TemplateResponse(request, f"admin/assistant/answer/{template}", everything)


def _preset(days: int) -> str:
    """The query of a period that ends tostep."""
    period = Period.of({}, days)
    return urlencode({"from": period.first, "to": period.last})


@functools.cache
def _list_url() -> str:
    return reverse("admin:assistant_answer_changelist")


def answers_url(period: Period, **chosen: Any) -> str:
    """The list of the visitors' answers of the period that are chosen so."""
    url = _list_url()
    days = {"from": period.first, "to": period.last}
    return f"{url}?{urlencode({**days, 'origin__exact': 'visitor', 'ended': '1', **chosen})}"


def _row(step: Step, found: Overview) -> dict[str, Any]:
    """A line of the table: each number with the list that it counts."""
    period = step.period
    verdicts = [value for value in Grounding.values if found.groundings[value]]
    return {
        "period": period,
        "url": answers_url(period),
        "answers": step.answers,
        "groundings": [
            (step.groundings[value], answers_url(period, grounding__exact=value))
            for value in verdicts
        ],
        "share": step.share,
        "ratings": [
            (step.positive, answers_url(period, rating="positive")),
            (step.negative, answers_url(period, rating="negative")),
        ],
        "cost": step.cost,
        "cost_url": answers_url(period, cost="any"),
        "first_word": step.first_word,
        "first_word_slowest": step.first_word_slowest,
    }


def _charts(found: Overview) -> dict[str, Any]:
    """What the script draws: the same numbers as in the tables."""
    steps = found.steps
    return {
        "labels": [formats.date_format(step.period.first, "j M") for step in steps],
        "groundings": [
            {
                "key": value,
                "label": str(label),
                "values": [step.groundings[value] for step in steps],
            }
            for value, label in Grounding.choices
            if found.groundings[value]
        ],
        "share": {
            "label": gettext("grounded, %"),
            "values": [
                None if step.share is None else round(100 * step.share, 1) for step in steps
            ],
        },
        "ratings": [
            {
                "key": "positive",
                "label": gettext("helpful"),
                "values": [step.positive for step in steps],
            },
            {
                "key": "negative",
                "label": gettext("not helpful"),
                "values": [step.negative for step in steps],
            },
        ],
        "costs": {
            "label": settings.ASSISTANT_CURRENCY,
            "values": [None if step.cost is None else float(step.cost) for step in steps],
        },
        "waits": [
            {
                "label": gettext("half of the answers"),
                "values": [step.first_word for step in steps],
            },
            {"label": gettext("95 of 100"), "values": [step.first_word_slowest for step in steps]},
        ],
    }


def _topics_chart(topics: list[GapTopic]) -> dict[str, Any]:
    """How often each topic was asked this week and the week before."""
    return {
        "topics": {
            "labels": [Truncator(topic.name).chars(CHART_NAME) for topic in topics],
            "now": {
                "label": gettext("this week"),
                "values": [topic.week_count for topic in topics],
            },
            "before": {
                "label": gettext("the week before"),
                "values": [topic.week_before_count for topic in topics],
            },
        }
    }
