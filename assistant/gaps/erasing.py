"""The words of an erased conversation leave the report with it. Counts stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils.translation import gettext

from assistant.gaps.naming import name_of
from assistant.models import Answer, GapQuestion, GapTopic


def forget(answer_ids: Iterable[object]) -> None:
    """Erases the texts of these answers from the queue, and what was worked out of them."""
    questions = GapQuestion.objects.filter(answer_id__in=list(answer_ids)).exclude(text="")
    erased = list(questions.values_list("topic_id", "text"))
    if not erased:
        return
    names = {name_of(text) for _topic_id, text in erased}
    questions.update(text="", fingerprint="", asker="", embedding=None, embedding_model="")
    for topic in GapTopic.objects.filter(pk__in={topic_id for topic_id, _text in erased}):
        other = topic.questions.exclude(text="").first()
        if other is None:
            topic.centroid, topic.texts_count = None, 0
        if topic.name in names:
            topic.name = name_of(other.text) if other else gettext("Topic %d") % topic.pk
        topic.save(update_fields=["name", "centroid", "texts_count"])


@receiver(pre_delete, sender=Answer, dispatch_uid="assistant.gaps")
def _forget_erased(instance: Answer, **kwargs: Any) -> None:
    forget([instance.pk])
