"""One run of the report: what was asked since the last one goes into topics.

It is one transaction under one lock: killed at any point it leaves nothing, run twice it adds
nothing, never do two run at once, and a period has one result. Periods are moments in time, not
clock times, so a change of the clock neither skips nor repeats an hour.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from articles.embeddings import EmbeddingError
from articles.terms.analysis import base_language
from assistant.classifiers.language_guess import language_of_message
from assistant.gaps import progress, queue, vectors
from assistant.gaps.asked import Asked, asked
from assistant.gaps.counts import measure, recount
from assistant.gaps.grouping import FIRST_NEW, Grouping
from assistant.gaps.naming import central, name_of
from assistant.models import GapQuestion, GapRun, GapTopic

BATCH = 5_000

ATTEMPTS = 3

_LOCK = 0x6761705F  # "gap_", any number that nothing else in this database locks

_COPY = """
COPY assistant_gapquestion (topic_id, answer_id, search_id, text, fingerprint, asker, grounding,
    asked_at, embedding, embedding_model) FROM STDIN
"""
_MOVE = """
UPDATE assistant_gapquestion q SET topic_id = moved.new
FROM (SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[])) AS moved(mark, old, new)
WHERE q.fingerprint = moved.mark AND q.topic_id = moved.old
"""

logger = logging.getLogger(__name__)


def update_report(until: datetime | None = None) -> GapRun | None:
    """Takes in the answers that finished, and the searches made, before `until` (default: now).

    Returns the run, or None where another run holds the lock, `until` is not after the last
    one, or an embedding endpoint is down: the next run then takes it all.
    """
    until = until or timezone.now()
    try:
        for _attempt in range(ATTEMPTS - 1):
            # What is erased while a run reads it is refused by the database when the run commits.
            with suppress(IntegrityError):
                return _run(until)
            logger.info("gap_report_again")
        return _run(until)
    except EmbeddingError as error:
        logger.warning("gap_report_waits", extra={"reason": str(error)})
        return None
    finally:
        progress.over()


@transaction.atomic
def _run(until: datetime) -> GapRun | None:
    if not _lock():
        return None
    last = GapRun.objects.first()
    if last is not None and last.period_end >= until:
        return None
    start = last.period_end if last else None
    added = _add(asked(start, until))
    measure(until)
    return GapRun.objects.create(
        period_start=start, period_end=until, finished_at=timezone.now(), questions_added=added
    )


def _lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def _add(questions: Iterable[Asked]) -> int:
    by_kind: dict[str, list[Asked]] = {}
    groups: dict[str, Grouping] = {}
    waiting = iter(questions)
    while batch := list(islice(waiting, BATCH)):
        for kind in dict.fromkeys(one.kind for one in batch):
            own = [one for one in batch if one.kind == kind]
            by_kind.setdefault(kind, []).extend(own)
            group = groups.get(kind) or groups.setdefault(kind, Grouping.load(kind))
            group.take(own)
        progress.say(sum(map(len, by_kind.values())))
    for kind, group in groups.items():
        _store(group, by_kind[kind])
    return sum(map(len, by_kind.values()))


def _store(group: Grouping, questions: Sequence[Asked]) -> None:
    has_changed = bool(group.fresh or group.reembedded)
    if has_changed:
        group.settle()
    ids = _create_topics(group, questions)
    moved = _move(group, ids)
    _copy(group, questions, ids)
    newest: dict[int, datetime] = {}
    for one in questions:
        topic_id = _id(group.topic_of(one), ids)
        newest[topic_id] = max(one.asked_at, newest.get(topic_id, one.asked_at))
    touched = newest.keys() | moved
    recount(touched)
    if has_changed:
        _store_vectors(group, touched, ids)
    queue.reopen_verified(newest)


def _create_topics(group: Grouping, questions: Sequence[Asked]) -> dict[int, int]:
    """The ids of the topics that are new, by their numbers. The central question names one, and
    its words say the language; where they do not, the page that it was asked on does."""
    first: dict[int, Asked] = {}
    for one in questions:
        first.setdefault(group.topic_of(one), one)
    numbers = sorted(set(group.labels[group.labels >= FIRST_NEW].tolist()))
    made = [_topic(group, number, first.get(number)) for number in numbers]
    GapTopic.objects.bulk_create(made, batch_size=BATCH)
    return {number: topic.pk for number, topic in zip(numbers, made, strict=True)}


def _topic(group: Grouping, number: int, first: Asked | None) -> GapTopic:
    places = (group.labels == number).nonzero()[0]
    place = int(places[central(group.smooth[places])])
    if place >= len(group.known):
        speaker = group.fresh[place - len(group.known)]
        text, language, when = speaker.text, speaker.language, speaker.asked_at
    else:
        known = GapQuestion.objects.select_related("topic").get(pk=group.known[place].id)
        text, language, when = known.text, known.topic.language, known.asked_at
    when = first.asked_at if first else when
    return GapTopic(
        kind=group.kind,
        name=name_of(text),
        language=language_of_message(text, base_language(language)) or language,
        first_seen=when,
        last_seen=when,
    )


def _move(group: Grouping, ids: dict[int, int]) -> set[int]:
    """Moves known questions whose topic is another now. Returns the topics that changed."""
    moves = [
        (known.fingerprint, known.topic_id, _id(int(label), ids))
        for known, label in zip(group.known, group.labels, strict=False)
        if known.topic_id != label
    ]
    if not moves:
        return set()
    marks, old, new = map(list, zip(*moves, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, [marks, old, new])
    left = {_id(int(label), ids) for label in group.labels}
    for topic_id in set(old) - left:
        goals = [goal for _mark, source, goal in moves if source == topic_id]
        _close(topic_id, max(set(goals), key=goals.count))
    return {*old, *new}


def _close(topic_id: int, into: int) -> None:
    """An emptied topic stays as the way to the one that has its questions now."""
    if GapQuestion.objects.filter(topic=topic_id).exists():
        return  # those whose words were erased
    GapTopic.objects.filter(pk=topic_id).update(
        merged_into=into, questions_count=0, askers_count=0, texts_count=0, centroid=None
    )
    GapTopic.objects.filter(merged_into=topic_id).update(merged_into=into)


def _copy(group: Grouping, questions: Sequence[Asked], ids: dict[int, int]) -> None:
    waiting = {
        one.fingerprint: place for place, one in enumerate(group.fresh, start=len(group.known))
    }
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for one, asker in zip(questions, _askers(questions), strict=True):
            place = waiting.pop(one.fingerprint, None)
            vector = None if place is None else vectors.written(group.matrix[place])
            model = "" if place is None else group.model
            topic = _id(group.topic_of(one), ids)
            where = (topic, one.answer_id, one.search_id)
            copy.write_row(
                (*where, one.text, one.fingerprint, asker, one.grounding, one.asked_at, vector,
                 model)
            )  # fmt: skip


def _askers(questions: Sequence[Asked]) -> Iterator[str]:
    """A mark that tells askers apart and cannot be traced back; a search has none."""
    key = settings.SECRET_KEY.encode()
    for one in questions:
        made = hmac.new(key, f"gap:{one.owner}".encode(), hashlib.sha256)
        yield made.hexdigest()[:16] if one.owner else ""


def _store_vectors(group: Grouping, topic_ids: set[int], ids: dict[int, int]) -> None:
    start = len(group.known) - group.reembedded
    for place, known in enumerate(group.known[start:], start=start):
        GapQuestion.objects.filter(pk=known.id).update(
            embedding=group.matrix[place], embedding_model=group.model
        )
    numbers = {topic_id: number for number, topic_id in ids.items()}
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE assistant_gaptopic SET centroid = %s, texts_count = %s, embedding_model = %s"
            " WHERE id = %s AND merged_into_id IS NULL",
            [
                (vectors.written(mean), count, group.model, topic_id)
                for topic_id in topic_ids
                for mean, count in [group.mean(numbers.get(topic_id, topic_id))]
                if count
            ],
        )


def _id(number: int, ids: dict[int, int]) -> int:
    return ids.get(number, number)
