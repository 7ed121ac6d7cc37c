"""The writers' queue: every act on topics, its history, and undo.

An act changes the standing of some topics in one transaction and leaves a step for each. Undo
takes back one's own last act of the last quarter of an hour, where a topic still stands as the
act left it; what somebody did since is theirs. Whoever acts has been checked before.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from assistant.colleagues import allowed_to
from assistant.gaps.counts import recount
from assistant.gaps.naming import name_of
from assistant.models import GapQuestion, GapStep, GapTopic

EXPIRES = timedelta(minutes=15)

STANDING = ("status", "dismissed_as", "assignee_id", "due_on", "article_id", "merged_into_id")
"""The fields that acts set. `held` follows: whatever was acted on is left alone by the report."""

Action = GapStep.Action

_MEANS = """
UPDATE assistant_gaptopic t SET centroid = m.mean, texts_count = m.count, embedding_model = m.model
FROM (
    SELECT topic_id, avg(embedding) AS mean, count(*) AS count, max(embedding_model) AS model
    FROM assistant_gapquestion WHERE topic_id = ANY(%s) AND embedding IS NOT NULL
    GROUP BY topic_id HAVING count(DISTINCT embedding_model) = 1
) m WHERE m.topic_id = t.id
"""


@dataclass(frozen=True)
class Undone:
    """The topics that are back where they stood, and those that were changed since."""

    restored: list[GapTopic]
    left: list[GapTopic]


@transaction.atomic
def change(
    topics: Iterable[GapTopic],
    user: User | None,
    *,
    action: GapStep.Action = Action.CHANGED,
    note: str = "",
    batch: uuid.UUID | None = None,
    **fields: Any,
) -> list[GapTopic]:
    """Sets `fields`, some of `STANDING`, on topics. Returns those that stood otherwise before.

    Without a user the site itself acts, which nobody undoes. Changes of one `batch` are one act.
    """
    changed = []
    batch = batch or uuid.uuid4()
    for topic in _locked(topics):
        before = standing(topic)
        for name, value in fields.items():
            setattr(topic, name, value)
        if topic.status != GapTopic.Status.DISMISSED:
            topic.dismissed_as = ""
        if standing(topic) == before and not note:
            continue
        topic.held = True
        topic.save(update_fields=[*STANDING, "held"])
        _step(topic, user, action, before, batch, note=note)
        changed.append(topic)
    return changed


def dismiss(topics: Iterable[GapTopic], user: User, reason: str) -> list[GapTopic]:
    """Takes topics out of the work, with why. They stay dismissed when they are asked again."""
    return change(topics, user, status=GapTopic.Status.DISMISSED, dismissed_as=reason)


@transaction.atomic
def claim(topics: Iterable[GapTopic], user: User) -> list[GapTopic]:
    """Takes topics for oneself. What a colleague works on stays theirs: `assign` hands it over."""
    free = [topic for topic in _locked(topics) if not _is_anothers(topic, user)]
    return change(free, user, status=GapTopic.Status.CLAIMED, assignee_id=user.pk)


def _is_anothers(topic: GapTopic, user: User) -> bool:
    at_work = topic.status in {GapTopic.Status.CLAIMED, GapTopic.Status.DRAFTED}
    return at_work and topic.assignee_id not in (None, user.pk)


@transaction.atomic
def assign(topics: Iterable[GapTopic], user: User, to: User) -> list[GapTopic]:
    """Hands topics to a person, who has claimed from then on those that nobody worked on."""
    locked, batch = _locked(topics), uuid.uuid4()
    idle = [topic for topic in locked if topic.status == GapTopic.Status.OPEN]
    busy = [topic for topic in locked if topic.status != GapTopic.Status.OPEN]
    claimed = GapTopic.Status.CLAIMED
    return [
        *change(idle, user, batch=batch, status=claimed, assignee_id=to.pk),
        *change(busy, user, batch=batch, assignee_id=to.pk),
    ]


def status_with(topic: GapTopic, assignee_id: int | None) -> str:
    """Its status once it is this person's, or nobody's: a topic that is open or claimed is
    claimed with somebody and open without."""
    if topic.status in {GapTopic.Status.OPEN, GapTopic.Status.CLAIMED}:
        return GapTopic.Status.CLAIMED if assignee_id else GapTopic.Status.OPEN
    return topic.status


def workers(*, or_is: int | None = None) -> QuerySet[User]:
    """Who may work the queue: active colleagues with the permission to change topics."""
    return allowed_to("assistant.change_gaptopic", or_is=or_is)


def reopen(topics: Iterable[GapTopic], user: User | None, note: str = "") -> list[GapTopic]:
    return change(topics, user, status=GapTopic.Status.OPEN, note=note)


def reopen_verified(newest: Mapping[int, datetime]) -> None:
    """What was thought to be answered and is not: topics that were asked again, at the moments
    given, after they were verified. What was asked before came too late to tell."""
    verified = GapTopic.objects.filter(pk__in=newest, status=GapTopic.Status.VERIFIED)
    since = verified.annotate(
        verified_at=Max("steps__at", filter=Q(steps__after__status=GapTopic.Status.VERIFIED))
    )
    grown = [
        topic
        for topic in since
        if topic.verified_at is None or newest[topic.pk] > topic.verified_at
    ]
    change(grown, None, action=Action.REOPENED, status=GapTopic.Status.OPEN)


@transaction.atomic
def comment(topic: GapTopic, user: User, text: str) -> None:
    (topic,) = _locked([topic])
    topic.held = True
    topic.save(update_fields=["held"])
    _step(topic, user, Action.COMMENTED, standing(topic), uuid.uuid4(), note=text)


@transaction.atomic
def merge(topics: Iterable[GapTopic], into: GapTopic, user: User) -> list[GapTopic]:
    """Moves all questions of `topics` into another of their kind. Returns what was merged."""
    wanted = {topic.pk for topic in topics} | {into.pk}
    locked = {topic.pk: topic for topic in _locked(GapTopic.objects.filter(pk__in=wanted))}
    goal = locked.pop(into.pk)
    merged = [topic for topic in locked.values() if topic.kind == goal.kind]
    batch = uuid.uuid4()
    for topic in merged:
        before = standing(topic)
        moved = list(topic.questions.values_list("pk", flat=True))
        topic.questions.update(topic=goal)
        topic.merged_into, topic.held = goal, True
        topic.questions_count = topic.askers_count = topic.texts_count = 0
        topic.centroid = None
        topic.save()
        GapTopic.objects.filter(merged_into=topic).update(merged_into=goal)
        _step(topic, user, Action.MERGED, before, batch, moved=moved)
    if merged:
        goal.held = True
        goal.save(update_fields=["held"])
        # By number: a name is made of words that can be erased, and the history cannot.
        note = ", ".join(f"#{topic.pk}" for topic in merged)
        _step(goal, user, Action.MERGED, standing(goal), batch, note=note)
        _settle({goal.pk})
    return merged


@transaction.atomic
def split(topic: GapTopic, question_ids: Sequence[int], user: User) -> GapTopic | None:
    """Moves some of a topic's questions, with all that say the same words, into a new one.

    None where that would be none or all of them.
    """
    (topic,) = _locked([topic])
    marks = topic.questions.filter(pk__in=question_ids).exclude(text="").values("fingerprint")
    chosen = topic.questions.filter(fingerprint__in=marks)
    moved = list(chosen.order_by("pk").values_list("pk", flat=True))
    if not moved or len(moved) == topic.questions.count():
        return None
    first = GapQuestion.objects.get(pk=moved[0])
    new = GapTopic.objects.create(
        kind=topic.kind,
        name=name_of(first.text),
        language=topic.language,
        first_seen=first.asked_at,
        last_seen=first.asked_at,
        held=True,
    )
    GapQuestion.objects.filter(pk__in=moved).update(topic=new)
    topic.held = True
    topic.save(update_fields=["held"])
    batch = uuid.uuid4()
    _step(topic, user, Action.SPLIT, standing(topic), batch, note=f"#{new.pk}")
    _step(new, user, Action.SPLIT, standing(new), batch, moved=moved, source=topic.pk)
    _settle({topic.pk, new.pk})
    return new


def latest(user: User) -> list[GapStep]:
    """The steps of what this person did last, if it can still be undone. Empty otherwise."""
    mine = GapStep.objects.filter(user_id=user.pk, at__gte=timezone.now() - EXPIRES)
    last = mine.exclude(action=Action.COMMENTED).first()
    if last is None or last.action == Action.UNDONE:
        return []
    return list(GapStep.objects.filter(batch=last.batch).select_related("topic").order_by("pk"))


@transaction.atomic
def undo(user: User) -> Undone:
    """Takes back the person's last act. Works once."""
    done = Undone([], [])
    steps = latest(user)
    batch = uuid.uuid4()
    locked = {topic.pk: topic for topic in _locked(step.topic for step in steps)}
    for step in steps:
        topic = locked[step.topic_id]
        if standing(topic) != _standing_in(step.after):
            done.left.append(topic)
            continue
        before = standing(topic)
        _put_back(topic, step)
        _step(topic, user, Action.UNDONE, before, batch)
        done.restored.append(topic)
    return done


def standing(topic: GapTopic) -> dict[str, Any]:
    """What acts change, as JSON keeps it."""
    found = {name: getattr(topic, name) for name in STANDING}
    due = found["due_on"]
    return {**found, "status": str(topic.status), "dismissed_as": str(topic.dismissed_as),
            "due_on": due.isoformat() if due else None}  # fmt: skip


def told(step: GapStep, people: Mapping[int, str] | None = None) -> list[str]:
    """What a step changed, in words. `people` are the names of those who were assigned."""
    said = []
    before, after = step.before, step.after
    if before.get("status") != after.get("status"):
        label = dict(GapTopic.Status.choices).get(after.get("status", ""), "")
        reason = dict(GapTopic.Reason.choices).get(after.get("dismissed_as", ""), "")
        said.append(f"{label}: {reason}" if reason else str(label))
    if before.get("assignee_id") != after.get("assignee_id"):
        said.append(_assigned(after.get("assignee_id"), people or {}))
    if before.get("due_on") != after.get("due_on"):
        due = after.get("due_on")
        said.append(gettext("due %s") % due if due else gettext("without a due date"))
    if before.get("article_id") != after.get("article_id"):
        linked = after.get("article_id")
        said.append(gettext("article linked") if linked else gettext("article unlinked"))
    return said


def _assigned(to: int | None, people: Mapping[int, str]) -> str:
    if to is None:
        return gettext("released")
    return gettext("assigned to %s") % people[to] if to in people else gettext("assigned")


def _put_back(topic: GapTopic, step: GapStep) -> None:
    """As the topic stood before the step, its questions included."""
    moved = step.after.get("moved", [])
    source = step.after.get("source")
    if source:
        goal = GapTopic.objects.get(pk=source)
        topic.questions.update(topic=goal)
        topic.merged_into = goal
        topic.questions_count = topic.askers_count = topic.texts_count = 0
        topic.centroid = None
    else:
        if moved:
            GapQuestion.objects.filter(pk__in=moved, topic=topic.merged_into).update(topic=topic)
        goal = topic.merged_into if moved and topic.merged_into else topic
        before = _standing_in(step.before)
        due = before["due_on"]
        for name, value in before.items():
            setattr(topic, name, value)
        topic.due_on = date.fromisoformat(due) if due else None
    counts = ["questions_count", "askers_count", "texts_count", "centroid"] if source else []
    topic.save(update_fields=[*STANDING, *counts])
    if moved:
        _settle({topic.pk, goal.pk})


def _settle(topic_ids: set[int]) -> None:
    """Counts and means of topics whose questions were moved by hand."""
    recount(topic_ids)
    with connection.cursor() as cursor:
        cursor.execute(_MEANS, [list(topic_ids)])


def _locked(topics: Iterable[GapTopic]) -> list[GapTopic]:
    keys = [topic.pk for topic in topics]
    return list(GapTopic.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def _standing_in(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: stored.get(name) for name in STANDING}


def _step(
    topic: GapTopic,
    user: User | None,
    action: GapStep.Action,
    before: dict[str, Any],
    batch: uuid.UUID,
    *,
    note: str = "",
    **more: Any,
) -> None:
    GapStep.objects.create(
        topic=topic,
        user_id=user.pk if user else None,
        username=user.get_username()[:150] if user else "",
        action=action,
        before=before,
        after={**standing(topic), **more},
        note=note,
        batch=batch,
    )
