"""The documentation-gap report: questions the articles did not answer, grouped into topics.

Reads only the verdict stored on each answer. A run takes the visitors' answers
that finished since the last run and are not in the queue yet, masks personal
data, and puts each question into the topic of its duplicates or into a new one.
It is one transaction under one lock: killed at any point it leaves nothing, run
twice it adds nothing, and never do two run at once.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Max, Min
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext

from articles.analysis import query_terms
from assistant.grounding import GAPS
from assistant.models import Answer, GapQuestion, GapRun, GapTopic, Grounding, Origin
from helpcenter.masking import mask

OVERLAP = timedelta(hours=1)
"""How far a run looks back before its period: an answer may commit after its `finished_at`."""

SIMILARITY = 0.6
"""Share of terms (Jaccard) from which two questions are near duplicates."""

_LOCK = 0x6761705F  # "gap_", any number that nothing else in this database locks


@dataclass
class _Topics:
    """The topics of one kind, found by what their questions say."""

    by_fingerprint: dict[str, int] = field(default_factory=dict)
    by_term: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    questions: list[tuple[frozenset[str], int]] = field(default_factory=list)

    def add(self, words: frozenset[str], topic_id: int) -> None:
        exact = fingerprint(words)
        if exact in self.by_fingerprint:
            return
        self.by_fingerprint[exact] = topic_id
        for word in words:
            self.by_term[word].add(len(self.questions))
        self.questions.append((words, topic_id))

    def nearest(self, words: frozenset[str]) -> int | None:
        """The topic of an exact duplicate, else of the nearest question above `SIMILARITY`."""
        exact = self.by_fingerprint.get(fingerprint(words))
        if exact is not None:
            return exact
        best, best_topic = SIMILARITY, None
        for index in sorted({index for word in words for index in self.by_term.get(word, ())}):
            other, topic_id = self.questions[index]
            similarity = len(words & other) / len(words | other)
            if similarity >= best and (best_topic is None or similarity > best):
                best, best_topic = similarity, topic_id
        return best_topic


def update_report(until: datetime | None = None) -> GapRun | None:
    """Takes in the answers that finished before `until` (default: now).

    Returns the run, or None where another run holds the lock or `until` is not
    after the last one.
    """
    until = until or timezone.now()
    with transaction.atomic():
        if not _lock():
            return None
        last = GapRun.objects.first()
        if last is not None and last.period_end >= until:
            return None
        start = last.period_end if last else None
        added = _add(_candidates(start, until))
        return GapRun.objects.create(
            period_start=start, period_end=until, finished_at=timezone.now(), questions_added=added
        )


def forget(answer_ids: Iterable[object]) -> None:
    """Erases the texts of these answers from the queue. Counts stay."""
    questions = GapQuestion.objects.filter(answer_id__in=list(answer_ids))
    topics = set(questions.values_list("topic_id", flat=True))
    texts = set(questions.values_list("text", flat=True))
    questions.update(text="", fingerprint="")
    for topic in GapTopic.objects.filter(pk__in=topics, name__in=[name_of(t) for t in texts]):
        other = topic.questions.exclude(text="").first()
        topic.name = name_of(other.text) if other else gettext("Topic %d") % topic.pk
        topic.save(update_fields=["name"])


def words_of(question: str, language: str) -> frozenset[str]:
    """What a question says: its terms as search sees them, else the bare words."""
    terms = {term for word in query_terms(question, language) for term in word}
    return frozenset(terms) or frozenset(question.casefold().split())


@receiver(pre_delete, sender=Answer, dispatch_uid="assistant.gaps")
def _forget_erased(instance: Answer, **kwargs: Any) -> None:
    forget([instance.pk])


def fingerprint(words: frozenset[str]) -> str:
    """Equal for questions that say the same words, whatever their order and form."""
    return hashlib.sha256("\0".join(sorted(words)).encode()).hexdigest()


def name_of(question: str) -> str:
    """A topic's name from a question: its first line, shortened at a word."""
    line = " ".join(question.split())
    return line if len(line) <= 120 else f"{line[:119].rsplit(' ', 1)[0]}…"


def _lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def _candidates(start: datetime | None, until: datetime) -> Iterator[Answer]:
    answers = Answer.objects.filter(
        origin=Origin.VISITOR,
        grounding__in=[*GAPS, Grounding.UNCITED],
        finished_at__lt=until,
        gap_question__isnull=True,
    )
    if start is not None:
        answers = answers.filter(finished_at__gte=start - OVERLAP)
    fields = ("id", "question", "language", "grounding", "created_at")
    return answers.only(*fields).order_by("created_at", "id").iterator()


def _add(answers: Iterator[Answer]) -> int:
    topics: dict[str, _Topics] = {}
    touched: set[int] = set()
    added = 0
    for answer in answers:
        kind = _kind(answer)
        known = topics.get(kind) or topics.setdefault(kind, _load(kind))
        text = mask(answer.question)
        words = words_of(text, answer.language)
        topic_id = known.nearest(words)
        if topic_id is None:
            topic_id = _new_topic(kind, text, answer).pk
        known.add(words, topic_id)
        GapQuestion.objects.create(
            topic_id=topic_id,
            answer=answer,
            text=text,
            fingerprint=fingerprint(words),
            grounding=answer.grounding,
            asked_at=answer.created_at,
        )
        touched.add(topic_id)
        added += 1
    _recount(touched)
    return added


def _kind(answer: Answer) -> str:
    uncited = answer.grounding == Grounding.UNCITED
    return GapTopic.Kind.UNCITED if uncited else GapTopic.Kind.GAP


def _load(kind: str) -> _Topics:
    known = _Topics()
    questions = GapQuestion.objects.filter(topic__kind=kind).exclude(text="")
    for question in questions.select_related("topic").order_by("pk").iterator():
        known.add(words_of(question.text, question.topic.language), question.topic_id)
    return known


def _new_topic(kind: str, text: str, answer: Answer) -> GapTopic:
    return GapTopic.objects.create(
        kind=kind,
        name=name_of(text),
        language=answer.language,
        first_seen=answer.created_at,
        last_seen=answer.created_at,
    )


def _recount(topic_ids: set[int]) -> None:
    """Exact counts from the rows themselves; a topic done before reopens when asked again."""
    counts = (
        GapQuestion.objects.filter(topic_id__in=topic_ids)
        .values("topic_id")
        .order_by()
        .annotate(count=Count("pk"), first=Min("asked_at"), last=Max("asked_at"))
    )
    for row in counts:
        topic = GapTopic.objects.get(pk=row["topic_id"])
        topic.questions_count = row["count"]
        topic.first_seen, topic.last_seen = row["first"], row["last"]
        if topic.status == GapTopic.Status.DONE:
            topic.status = GapTopic.Status.OPEN
        topic.save(update_fields=["questions_count", "first_seen", "last_seen", "status"])
