"""The documentation-gap report: questions the articles did not answer, grouped into topics.

Reads only the verdict stored on each answer, and the record of searches. A run takes
the visitors' answers that finished since the last run and are not in the queue yet, and
likewise the searches that found nothing, masks personal data, and puts each question
into the topic of its duplicates or into a new one.
It is one transaction under one lock: killed at any point it leaves nothing, run
twice it adds nothing, and never do two run at once.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Max, Min
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext

from articles.models import SearchQuery
from articles.terms.analysis import query_terms
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


@dataclass(frozen=True)
class _Asked:
    """What somebody asked or searched for: `link` is the field of the row it came from."""

    kind: str
    text: str
    language: str
    grounding: str
    asked_at: datetime
    link: dict[str, Answer | SearchQuery]


def update_report(until: datetime | None = None) -> GapRun | None:
    """Takes in the answers that finished, and the searches made, before `until` (default: now).

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
        added = _add(chain(_questions(start, until), _searches(start, until)))
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


def _questions(start: datetime | None, until: datetime) -> Iterator[_Asked]:
    answers = Answer.objects.filter(
        origin=Origin.VISITOR,
        grounding__in=[*GAPS, Grounding.UNCITED],
        finished_at__lt=until,
        gap_question__isnull=True,
    )
    if start is not None:
        answers = answers.filter(finished_at__gte=start - OVERLAP)
    fields = ("id", "question", "language", "grounding", "created_at")
    for answer in answers.only(*fields).order_by("created_at", "id").iterator():
        yield _Asked(
            _kind(answer),
            mask(answer.question),
            answer.language,
            answer.grounding,
            answer.created_at,
            {"answer": answer},
        )


def _searches(start: datetime | None, until: datetime) -> Iterator[_Asked]:
    """Visitors' searches that found nothing at all, by no fault of search or of spelling."""
    searches = SearchQuery.objects.filter(
        by_staff=False,
        results=0,
        suggestion="",
        fallback_reason__in=["", "embeddings_off"],
        searched_at__lt=until,
        gap_question__isnull=True,
    )
    if start is not None:
        # The record knows the hour alone, which began up to an hour before the search.
        searches = searches.filter(searched_at__gte=start - OVERLAP)
    for search in searches.order_by("searched_at", "pk").iterator():
        kind, link = GapTopic.Kind.SEARCH, {"search": search}
        yield _Asked(kind, search.text, search.language, "", search.searched_at, {**link})


def _add(questions: Iterable[_Asked]) -> int:
    topics: dict[str, _Topics] = {}
    touched: set[int] = set()
    added = 0
    for asked in questions:
        known = topics.get(asked.kind) or topics.setdefault(asked.kind, _load(asked.kind))
        words = words_of(asked.text, asked.language)
        topic_id = known.nearest(words)
        if topic_id is None:
            topic_id = _new_topic(asked).pk
        known.add(words, topic_id)
        GapQuestion.objects.create(
            topic_id=topic_id,
            text=asked.text,
            fingerprint=fingerprint(words),
            grounding=asked.grounding,
            asked_at=asked.asked_at,
            **asked.link,
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


def _new_topic(asked: _Asked) -> GapTopic:
    return GapTopic.objects.create(
        kind=asked.kind,
        name=name_of(asked.text),
        language=asked.language,
        first_seen=asked.asked_at,
        last_seen=asked.asked_at,
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
