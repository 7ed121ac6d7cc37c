"""Reviewing answers: which of them are worth a look, and what colleagues think of them.

A queue is a set of visitors' finished answers without a verdict, newest first. Whoever works
through one sees each answer once: a verdict takes it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from articles.models import Rating
from assistant.colleagues import allowed_to
from assistant.conditions import BY_VISITORS, judged, weakly_supported
from assistant.models import Answer, AnswerReview, Grounding

SAMPLE = 25
"""Answers of the last seven days in the random sample."""


@dataclass(frozen=True)
class Queue:
    """`narrow` gives the queue's part of the answers to be reviewed."""

    name: str
    title: Any
    about: Any
    narrow: Callable[[QuerySet[Answer], User], QuerySet[Answer]]


def _weak(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    return answers.filter(weakly_supported())


def _uncited(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    return answers.filter(grounding=Grounding.UNCITED)


def _negative(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    return answers.filter(feedback__rating=Rating.NEGATIVE)


def _escalated(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    return answers.filter(escalation__isnull=False)


def _assigned(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    return answers.filter(review__assignee=user.pk)


def _sample(answers: QuerySet[Answer], user: User) -> QuerySet[Answer]:
    """By lot, the same for everyone all day long. Drawn before verdicts are looked at, so a
    verdict makes no room for another answer."""
    since, today = timezone.now() - timedelta(days=7), timezone.localdate().isoformat()
    lot = MD5(Concat(Cast("pk", CharField()), Value(today), output_field=CharField()))
    drawn = finished().filter(created_at__gte=since).order_by(lot).values("pk")[:SAMPLE]
    return answers.filter(pk__in=list(drawn.values_list("pk", flat=True)))


QUEUES = {
    queue.name: queue
    for queue in (
        Queue("assigned", _("Assigned to me"), _("what a colleague asked you to judge"), _assigned),
        Queue(
            "escalated",
            _("Handed to support"),
            _("the asker still needed help"),
            _escalated,
        ),
        Queue("negative", _("Not helpful"), _("visitors voted against the answer"), _negative),
        Queue(
            "weak",
            _("Weakly supported"),
            _("a sentence says what its article hardly says"),
            _weak,
        ),
        Queue("uncited", _("Uncited"), _("an answer that names no source"), _uncited),
        Queue("sample", _("Random sample"), _("of the last seven days, drawn each day"), _sample),
    )
}


def finished() -> QuerySet[Answer]:
    """Visitors' answers that have ended."""
    return Answer.objects.filter(BY_VISITORS).exclude(status=Answer.Status.RUNNING)


def to_review(name: str, user: User) -> QuerySet[Answer]:
    """The answers of a queue without a verdict, newest first. KeyError for an unknown name."""
    unjudged = finished().filter(~judged())
    return QUEUES[name].narrow(unjudged, user).order_by("-created_at", "-pk")


def after(queue: QuerySet[Answer], answer: Answer) -> Answer | None:
    """The next one of the queue: the newest that is older than `answer`."""
    asked = answer.created_at
    older = Q(created_at__lt=asked) | Q(created_at=asked, pk__lt=answer.pk)
    return queue.filter(older).first()


def before(queue: QuerySet[Answer], answer: Answer) -> Answer | None:
    """The one before it: the oldest that is newer than `answer`."""
    asked = answer.created_at
    newer = Q(created_at__gt=asked) | Q(created_at=asked, pk__gt=answer.pk)
    return queue.filter(newer).order_by("created_at", "pk").first()


def reviewers(*, or_is: int | None = None) -> QuerySet[User]:
    """Who may judge answers: active colleagues with the permission to change reviews."""
    return allowed_to("assistant.change_answerreview", or_is=or_is)


def review(answer: Answer, reviewer: User, **said: Any) -> AnswerReview:
    """Stores what a colleague said; the last verdict counts, and is in their name."""
    found, _created = AnswerReview.objects.update_or_create(
        answer=answer, defaults={**said, "reviewer": reviewer if said.get("verdict") else None}
    )
    return found
