"""The words of an erased conversation leave the report with it. Counts stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils.translation import gettext

from articles.models import Article
from assistant.gaps.naming import heading_of, inert, name_of, title_of
from assistant.models import Answer, GapQuestion, GapTopic

_LEGEND = re.compile(r"^- Q\d+: ")
"""What stands before a question below a proposed text, see `assistant.gaps.proposing`."""


def forget(answer_ids: Iterable[object]) -> None:
    """Erases the texts of these answers from the queue, and what was worked out of them."""
    questions = GapQuestion.objects.filter(answer_id__in=list(answer_ids)).exclude(text="")
    erased = list(questions.values_list("topic_id", "text"))
    if not erased:
        return
    names = {name_of(text) for _topic_id, text in erased}
    headings = {heading_of(text) for _topic_id, text in erased}
    questions.update(text="", fingerprint="", asker="", embedding=None, embedding_model="")
    for topic in GapTopic.objects.filter(pk__in={topic_id for topic_id, _text in erased}):
        other = topic.questions.exclude(text="").first()
        if other is None:
            topic.centroid, topic.texts_count = None, 0
        if topic.name in names:
            topic.name = name_of(other.text) if other else gettext("Topic %d") % topic.pk
            log = LogEntry.objects.filter(content_type=get_content_type_for_model(topic))
            log.filter(object_id=str(topic.pk)).update(object_repr=topic.name)
        topic.save(update_fields=["name", "centroid", "texts_count"])
        if topic.article is not None and topic.article.live_revision_id is None:
            legend = {inert(text) for _topic_id, text in erased}
            _clean_draft(topic.article, topic, names, headings, legend)


def _clean_draft(
    article: Article,
    topic: GapTopic,
    names: Collection[str],
    headings: Collection[str],
    legend: Collection[str],
) -> None:
    """What the outline took from these questions. What a writer wrote, and what is published, is
    theirs."""
    if article.title in map(title_of, names):
        article.title, article.slug = title_of(topic.name), ""
        log = LogEntry.objects.filter(content_type=get_content_type_for_model(article))
        log.filter(object_id=str(article.pk)).update(object_repr=article.title)
    kept = [
        line
        for line in article.body.split("\n")
        if line.strip() not in headings and _LEGEND.sub("", line.strip()) not in legend
    ]
    article.body = "\n".join(kept)
    article.save()


@receiver(pre_delete, sender=Answer, dispatch_uid="assistant.gaps")
def _forget_erased(instance: Answer, **kwargs: Any) -> None:
    forget([instance.pk])
