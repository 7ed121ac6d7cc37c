"""Whether an article that was published for a topic answers its questions now.

Publishing makes a check: at most `MOST` different questions of the topic are asked again through
the assistant as visitors ask it, by each asker's rights, as turns of `origin` check that count
against the limits like any other. The topic is verified when enough of the answers are grounded
in that article; else it goes back to the queue. What is asked and came of it is stored question
by question, so a check that was killed or limited goes on where it stopped, and never asks a
question twice. An answer of a check is erased with the conversation its question came from.
"""

from __future__ import annotations

import logging
import uuid
from typing import Any

from asgiref.sync import async_to_sync
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.db.models.functions import Coalesce
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext

from articles import indexing
from articles.access import ANONYMOUS, Reader
from articles.signals import article_published
from assistant import chat
from assistant.access import Owner
from assistant.gaps import queue
from assistant.models import (
    Answer,
    AnswerDocument,
    GapCheck,
    GapCheckAnswer,
    GapQuestion,
    GapStep,
    GapTopic,
    Grounding,
    Origin,
)
from assistant.questions import Ask
from assistant.refusals import Refusal
from assistant.turns.sending import Sender

TASK = "assistant.tasks.check_gap_topics"

MOST = 20

_ANYBODY = Q(answer__conversation__user=None) | Q(answer__conversation__user__is_active=False)
_LEAST_FIRST = (_ANYBODY, Q(answer__conversation__user__is_staff=False), Q())
"""Askers by what they may read now, see `articles.access.Reader`: the least first."""

logger = logging.getLogger(__name__)


@receiver(article_published, dispatch_uid="assistant.gaps.checking")
def begin(article_id: int, revision_id: int, **kwargs: Any) -> None:
    """Makes a check for every topic that waits for this article, and has them worked on."""
    waiting = GapTopic.objects.filter(article=article_id, merged_into=None).exclude(
        status__in=[GapTopic.Status.VERIFIED, GapTopic.Status.DISMISSED]
    )
    topics = list(waiting)
    if not topics:
        return
    with transaction.atomic():
        queue.change(topics, None, status=GapTopic.Status.PUBLISHED)
        for topic in topics:
            _begin(topic, article_id, revision_id)
    try:
        current_app.send_task(TASK)
    except Exception as error:  # the schedule comes by soon
        logger.warning("gap_check_not_sent", extra={"error": type(error).__name__})


def check_next() -> GapCheck | None:
    """Works on the oldest check that is not done and that nobody works on. None: there is none.

    Raises a `Refusal` where the assistant is off or the limits are reached.
    """
    due = GapCheck.objects.filter(finished_at=None, article__isnull=False)
    for article_id in due.values_list("article_id", flat=True).distinct():
        # Before anything is asked, and for other connections to see.
        indexing.index_article(article_id)
    with transaction.atomic():
        # Not `FOR UPDATE`: the answers that are stored meanwhile refer to the row.
        free = GapCheck.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
        check = free.filter(finished_at=None).order_by("pk").first()
        if check is None:
            return None
        for part in list(check.parts.filter(after="").select_related("question__answer")):
            _ask(check, part)
        _conclude(check)
        return check


def _begin(topic: GapTopic, article_id: int, revision_id: int) -> None:
    """The latest different questions. What several asked in the same words is asked again by the
    rights of whoever may read the least: what they can find, the others can. One that is
    published again before it was checked is checked as it is then."""
    GapCheck.objects.filter(topic=topic, finished_at=None).update(
        finished_at=timezone.now(), outcome=GapCheck.Outcome.REPLACED
    )
    check = GapCheck.objects.create(topic=topic, article_id=article_id, revision_id=revision_id)
    least = Coalesce(*(Max("pk", filter=asker) for asker in _LEAST_FIRST))
    marks = (
        topic.questions.exclude(text="")
        .values("fingerprint")
        .annotate(newest=Max("pk"), least=least)
        .order_by("-newest")[:MOST]
    )
    chosen = GapQuestion.objects.filter(pk__in=[row["least"] for row in marks])
    GapCheckAnswer.objects.bulk_create(
        GapCheckAnswer(check_run=check, question=question, before=question.grounding)
        for question in chosen
    )


def _ask(check: GapCheck, part: GapCheckAnswer) -> None:
    """Asks one question, or takes up its turn where it was asked already. One that was erased
    meanwhile is asked no more."""
    question = part.question
    if not question.text:
        part.delete()
        return
    original = question.answer
    sender = Sender(
        owner=Owner(visitor_id=uuid.uuid5(uuid.NAMESPACE_URL, f"gap-check:{check.pk}")),
        reader=_reader_of(original),
        language=original.language if original else check.topic.language,
        origin=Origin.CHECK,
        repeats=original.pk if original else None,
    )
    page = original.article.slug if original and original.article else ""
    text = original.question if original else question.text
    ask = Ask(text, key=f"gap-check:{part.pk}", article=page)
    answer = Answer.objects.get(pk=async_to_sync(_answered)(sender, ask))
    cited = AnswerDocument.objects.filter(answer=answer, article=check.article_id, consulted=True)
    part.answer = answer
    part.after = answer.grounding or Grounding.UNAVAILABLE
    part.in_article = part.after == Grounding.GROUNDED and cited.exists()
    part.save(update_fields=["answer", "after", "in_article"])


async def _answered(sender: Sender, ask: Ask) -> uuid.UUID:
    opened = await chat.ask(sender, ask)
    await chat.wait(opened.answer_id)
    return opened.answer_id


def _reader_of(answer: Answer | None) -> Reader:
    user = answer.conversation.user if answer else None
    return Reader.of(user) if user else ANONYMOUS


def _conclude(check: GapCheck) -> None:
    parts = list(check.parts.all())
    good = sum(part.in_article for part in parts)
    check.asked_count, check.answered_count = len(parts), good
    passed = bool(parts) and 100 * good >= settings.GAP_VERIFIED_PERCENT * len(parts)
    check.outcome = GapCheck.Outcome.PASSED if passed else GapCheck.Outcome.FAILED
    check.finished_at = timezone.now()
    check.save()
    topic = check.topic
    if topic.status != GapTopic.Status.PUBLISHED:
        return  # somebody decided otherwise meanwhile
    back = GapTopic.Status.CLAIMED if topic.assignee_id else GapTopic.Status.OPEN
    said = gettext("%(good)d of %(all)d questions are answered from the article.")
    queue.change(
        [topic],
        None,
        action=GapStep.Action.CHECKED,
        note=said % {"good": good, "all": len(parts)},
        status=GapTopic.Status.VERIFIED if passed else back,
    )


def work() -> int:
    """Works on checks until none is left, or until the limits are reached. Returns how many."""
    count = 0
    try:
        while check_next() is not None:
            count += 1
    except Refusal as refusal:
        logger.info("gap_check_waits", extra={"code": refusal.code})
    return count


def latest(topic: GapTopic) -> GapCheck | None:
    """The last check of a topic that was not replaced by another."""
    done = topic.checks.filter(~Q(outcome=GapCheck.Outcome.REPLACED))
    return done.select_related("article", "revision").first()
