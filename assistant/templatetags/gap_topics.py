"""The topics an article is written for, beside its form."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from articles.models import Article
from assistant.gaps import evidence
from assistant.models import GapTopic

register = template.Library()

MOST = 5


@register.inclusion_tag("admin/assistant/gaptopic/of_article.html", takes_context=True)
def gap_topics(context: RequestContext, article: Article) -> dict[str, Any]:
    """Each topic with its typical questions, for those who may see topics."""
    if not context["user"].has_perm("assistant.view_gaptopic"):
        return {"topics": []}
    topics = GapTopic.objects.filter(article=article, merged_into=None).order_by("-impact")[:MOST]
    return {"topics": [(topic, evidence.samples(topic)) for topic in topics]}
