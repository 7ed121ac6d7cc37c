"""Field reports about the gap report and its jobs, by their numbers in `cases/field-reports.md`.

B108 is tested with the articles' admin, B113 with the exports of answers and in
`test_gap_sharing`; both come back here for the queue.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings as site
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles import publishing, tasks
from articles.models import Article
from assistant import gaps
from assistant.gaps import queue, report
from assistant.models import Answer, GapQuestion, GapRun, GapStep, GapTopic, Grounding, Origin
from helpcenter.celery import app
from tests.factories import make_answer, make_article

pytestmark = pytest.mark.django_db


def test_b108_a_bulk_action_leaves_an_entry_for_each_topic(client: Client, staff: User) -> None:
    for question in ("Where is my card?", "Can I pay by invoice?", "Which currencies are there?"):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    client.force_login(staff)
    chosen = list(GapTopic.objects.values_list("pk", flat=True))
    url = reverse("admin:assistant_gaptopic_changelist")
    client.post(url, {"action": "dismiss_duplicate", "_selected_action": chosen})

    steps = GapStep.objects.filter(username="staff", after__dismissed_as="duplicate")
    assert steps.count() == len(chosen) == 3
    assert LogEntry.objects.filter(user=staff, object_id__in=map(str, chosen)).count() == 3


@pytest.mark.django_db(transaction=True)
def test_b110_a_check_begins_on_commit_only(staff: User) -> None:
    make_answer("Where is my card?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic = GapTopic.objects.get()
    article = make_article("Cards", publish=False)
    queue.change([topic], staff, article_id=article.pk)

    with transaction.atomic():
        publishing.publish(Article.objects.get())
        transaction.set_rollback(True)
    topic.refresh_from_db()
    assert topic.status == GapTopic.Status.OPEN

    with transaction.atomic():
        publishing.publish(Article.objects.get())
        topic.refresh_from_db()
        assert topic.status == GapTopic.Status.OPEN
    topic.refresh_from_db()
    assert topic.status == GapTopic.Status.PUBLISHED


def test_b110_a_row_that_is_gone_is_nothing_to_do() -> None:
    assert tasks.index_article(987_654) != "indexed"


def test_b111_a_period_has_one_result_however_often_it_is_run() -> None:
    make_answer("Where is my card?", grounding=Grounding.NO_HITS)
    until = timezone.now() + timedelta(minutes=1)
    assert gaps.update_report(until=until) is not None
    assert gaps.update_report(until=until) is None
    assert gaps.update_report(until=until - timedelta(hours=1)) is None
    assert GapRun.objects.count() == 1
    assert GapQuestion.objects.count() == 1


def test_b111_no_task_is_handed_out_again_while_it_may_still_run() -> None:
    app.loader.import_default_modules()
    visible = site.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    for name in ("update_gap_report", "check_gap_topics", "send_gap_digest"):
        limit = app.tasks[f"assistant.tasks.{name}"].time_limit
        assert limit is not None
        assert limit < visible


def test_b111_a_run_that_is_killed_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    make_answer("Where is my card?", grounding=Grounding.NO_HITS)

    def killed(*args: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(report, "measure", killed)
        with pytest.raises(SystemExit):
            gaps.update_report()
    assert not GapTopic.objects.exists()
    assert not GapRun.objects.exists()
    run = gaps.update_report()
    assert run is not None
    assert run.questions_added == 1


@pytest.mark.parametrize(
    "change",
    [
        datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),  # an hour that never was
        datetime(2026, 10, 25, 2, 30, fold=0, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
    ],
)
def test_b111_a_change_of_the_clock_neither_loses_nor_repeats_a_question(
    settings: Any, change: datetime
) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    moment = change.astimezone(UTC)
    for minutes in range(-120, 121, 20):
        make_answer(
            f"Where is my card number {minutes}?",
            grounding=Grounding.NO_HITS,
            finished_at=moment + timedelta(minutes=minutes),
        )
    for hours in range(-3, 4):
        gaps.update_report(until=moment + timedelta(hours=hours))
    assert GapQuestion.objects.count() == Answer.objects.count() == 13


def test_b113_no_topic_in_the_file_is_a_formula_and_none_is_changed(staff_client: Client) -> None:
    for question in ("=1+2 what", "+SUM(1,2) how", "-3 where", "@now when"):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    response: Any = staff_client.get(reverse("admin:assistant_gaptopic_export"))
    text = response.content.decode("utf-8-sig")
    names = {row["topic"] for row in csv.DictReader(text.splitlines())}
    assert all(name.startswith("'") for name in names)
    assert not GapTopic.objects.filter(name__startswith="'").exists()


def test_b114_only_what_was_not_answered_is_a_gap() -> None:
    for _ in range(5):
        make_answer("How do I reset my password?", grounding=Grounding.GROUNDED)
    for _ in range(3):
        make_answer("Does it support SSO with Okta?", grounding=Grounding.NO_HITS)
    failed = Answer.Status.FAILED
    make_answer("Why is it slow?", grounding=Grounding.UNAVAILABLE, status=failed)
    make_answer("hello", grounding=Grounding.SMALLTALK)
    make_answer("Does it support SSO with Okta?", grounding=Grounding.NO_HITS, origin=Origin.STAFF)
    gaps.update_report()
    topics = dict(GapTopic.objects.values_list("name", "questions_count"))
    assert topics == {"Does it support SSO with Okta?": 3}


def test_b116_personal_data_is_masked_and_nobody_is_named(client: Client, stranger: User) -> None:
    asker = User.objects.create_user("secretive-asker")
    answer = make_answer(
        "My mail is jo@example.test, card 4242 4242 4242 4242, why declined?",
        grounding=Grounding.NO_HITS,
    )
    answer.conversation.__class__.objects.update(user=asker, visitor_id=None)
    Answer.objects.update(owner=f"user:{asker.pk}")
    gaps.update_report()
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.add(Permission.objects.get(codename="view_gaptopic"))
    client.force_login(stranger)
    topic = GapTopic.objects.get()
    pages = [
        client.get(reverse("admin:assistant_gaptopic_changelist")).content.decode(),
        client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk])).content.decode(),
        client.get(reverse("assistant:gaps")).content.decode(),
    ]
    for page in pages:
        assert "[email], card [card], why declined?" in page
        for secret in (
            "jo@example.test",
            "4242 4242",
            "secretive-asker",
            f"user:{asker.pk}",
            str(answer.pk),
        ):
            assert secret not in page
