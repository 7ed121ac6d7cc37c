"""The queue as rows, for a file and for programs. Who asked is in no column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from assistant.models import GapTopic
from helpcenter.spreadsheets import BOM, csv_line

BATCH = 500

TO_DO = (
    GapTopic.Status.OPEN,
    GapTopic.Status.CLAIMED,
    GapTopic.Status.DRAFTED,
    GapTopic.Status.PUBLISHED,
)
"""The statuses of topics that somebody still has to do something about."""

COLUMNS: dict[str, Callable[[GapTopic], Any]] = {
    "id": lambda topic: topic.pk,
    "topic": lambda topic: topic.name,
    "kind": lambda topic: topic.kind,
    "language": lambda topic: topic.language,
    "status": lambda topic: topic.status,
    "dismissed_as": lambda topic: topic.dismissed_as,
    "assignee": lambda topic: topic.assignee.get_username() if topic.assignee else None,
    "due_on": lambda topic: topic.due_on.isoformat() if topic.due_on else None,
    "article": lambda topic: topic.article_id,
    "impact": lambda topic: round(topic.impact, 2),
    "questions": lambda topic: topic.questions_count,
    "askers": lambda topic: topic.askers_count,
    "last_7_days": lambda topic: topic.week_count,
    "7_days_before": lambda topic: topic.week_before_count,
    "rated": lambda topic: topic.rated_count,
    "rated_negative": lambda topic: topic.negative_count,
    "first_asked": lambda topic: topic.first_seen.isoformat(),
    "last_asked": lambda topic: topic.last_seen.isoformat(),
    "url": lambda topic: url_of(topic),
}
"""Each column with what stands in it."""


def row(topic: GapTopic) -> dict[str, Any]:
    return {name: read(topic) for name, read in COLUMNS.items()}


def as_csv(topics: QuerySet[GapTopic]) -> Iterator[str]:
    """The file in pieces: a line of names, then a topic a line."""
    yield BOM + csv_line(COLUMNS)
    bare = topics.prefetch_related(None).select_related("assignee")
    for topic in bare.iterator(chunk_size=BATCH):
        yield csv_line(row(topic).values())


def url_of(topic: GapTopic) -> str:
    """The topic's page, as an address that works anywhere."""
    return settings.SITE_URL + reverse("admin:assistant_gaptopic_change", args=[topic.pk])
