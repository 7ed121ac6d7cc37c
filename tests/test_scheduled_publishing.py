"""Articles that go live at a set time: once, in the site's time zone, and not if cancelled."""

from __future__ import annotations

import html
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from articles import publishing
from articles.models import Article, Status
from articles.tasks import publish_due
from articles.writing import scheduling
from tests.factories import make_article
from tests.writing import article_url, change_url, form_of

pytestmark = pytest.mark.django_db


def due(staff: User, title: str = "Plans", **fields: str) -> Article:
    article = make_article(title, publish=False, **fields)
    publishing.schedule(article, timezone.now() - timedelta(minutes=5), staff)
    return article


def scheduled(article: Article, day: str, clock: str) -> dict[str, object]:
    return form_of(article, publish_at_0=day, publish_at_1=clock)


def test_what_is_due_is_published_and_logged_by_who_scheduled_it(staff: User) -> None:
    article = due(staff)
    assert publish_due() == 1

    article.refresh_from_db()
    assert article.status == Status.PUBLISHED
    assert (article.publish_at, article.scheduled_by) == (None, None)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.change_message) == (staff, "Published on schedule.")


def test_a_late_worker_and_a_second_run_publish_once(staff: User) -> None:
    article = due(staff)
    Article.objects.update(publish_at=timezone.now() - timedelta(days=3))
    assert [publish_due(), publish_due()] == [1, 0]
    assert article.revisions.count() == 1
    assert LogEntry.objects.count() == 1


def test_a_run_beside_another_finds_the_row_taken(staff: User) -> None:
    article = due(staff)
    now = timezone.now()
    assert scheduling._publish(article.pk, now)
    assert not scheduling._publish(article.pk, now)


def test_what_is_not_due_waits(staff: User) -> None:
    article = make_article("Plans", publish=False)
    publishing.schedule(article, timezone.now() + timedelta(minutes=5), staff)
    assert publish_due() == 0


def test_the_working_copy_of_a_live_article_goes_live_at_its_time(staff: User) -> None:
    article = make_article("Plans", body="Three plans.")
    article.body = "Four plans."
    publishing.schedule(article, timezone.now() - timedelta(minutes=1), staff)
    article.save()
    assert publish_due() == 1
    article.refresh_from_db()
    assert article.live_revision is not None
    assert article.live_revision.body == "Four plans."


def test_one_that_fails_keeps_its_time_and_the_others_go_on(staff: User) -> None:
    broken, fine = due(staff, "Broken"), due(staff, "Fine")
    publish = publishing.publish

    def failing(article: Article, author: User | None = None) -> object:
        if article.pk == broken.pk:
            raise RuntimeError("no")
        return publish(article, author)

    with mock.patch.object(publishing, "publish", failing):
        assert publish_due() == 1
    fine.refresh_from_db()
    broken.refresh_from_db()
    assert (fine.status, broken.status) == (Status.PUBLISHED, Status.DRAFT)
    assert broken.publish_at is not None
    assert publish_due() == 1


def test_who_scheduled_it_may_be_gone(staff: User) -> None:
    article = due(staff)
    Article.objects.update(scheduled_by=None)
    assert publish_due() == 1
    article.refresh_from_db()
    assert article.status == Status.PUBLISHED


@pytest.mark.parametrize("step", ["publish", "withdraw"])
def test_publishing_or_withdrawing_by_hand_ends_the_schedule(staff: User, step: str) -> None:
    article = due(staff)
    getattr(publishing, step)(article)
    article.refresh_from_db()
    assert article.publish_at is None
    assert publish_due() == 0


def test_the_form_takes_times_of_the_sites_zone(staff_client: Client, staff: User) -> None:
    article = make_article("Plans", publish=False)
    with timezone.override("Europe/Berlin"):
        year = timezone.now().year + 1
        response = staff_client.post(
            change_url(article), scheduled(article, f"{year}-07-01", "09:00")
        )
    assert response.status_code == 302
    article.refresh_from_db()
    assert article.publish_at == datetime(year, 7, 1, 7, tzinfo=UTC)
    assert article.scheduled_by == staff

    page = staff_client.get(article_url("changelist"), {"changes": "scheduled"}).content.decode()
    assert "publishes" in page
    form = staff_client.get(change_url(article)).content.decode()
    assert "goes live on" in form
    assert "In the site's time zone, UTC." in html.unescape(form)


def test_an_emptied_time_cancels(staff_client: Client, staff: User) -> None:
    article = make_article("Plans", publish=False)
    publishing.schedule(article, timezone.now() + timedelta(days=1), staff)
    staff_client.post(change_url(article), form_of(article))
    article.refresh_from_db()
    assert (article.publish_at, article.scheduled_by) == (None, None)


def test_a_time_that_has_passed_is_refused(staff_client: Client) -> None:
    article = make_article("Plans", publish=False)
    response = staff_client.post(change_url(article), scheduled(article, "2001-01-01", "09:00"))
    assert "The time has passed." in response.content.decode()
    article.refresh_from_db()
    assert article.publish_at is None


def test_the_list_cancels_several(staff_client: Client, staff: User) -> None:
    articles = [make_article(f"Plan {number}", publish=False) for number in range(2)]
    publishing.schedule(articles[0], timezone.now() + timedelta(days=1), staff)
    response = staff_client.post(
        article_url("changelist"),
        {"action": "unschedule_selected", "_selected_action": [a.pk for a in articles]},
        follow=True,
    )
    assert "1 scheduled article will not be published." in response.content.decode()
    assert not Article.objects.filter(publish_at__isnull=False).exists()
    assert LogEntry.objects.get().change_message == "Cancelled scheduled publishing."
