"""What was done to several articles can be taken back: by who did it, for a while, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from articles import publishing
from articles.indexing import index_article
from articles.models import Article, ArticleLink, BulkChange, Passage, Status
from articles.writing import undo
from tests.factories import make_article
from tests.writing import article_url, colleague, signed_in

pytestmark = pytest.mark.django_db


def act(client: Client, action: str, *articles: Article) -> str:
    response = client.post(
        article_url("changelist"),
        {"action": action, "_selected_action": [article.pk for article in articles]},
        follow=True,
    )
    return response.content.decode()


def take_back(client: Client) -> str:
    change = BulkChange.objects.latest("pk")
    return client.post(article_url("undo", change.pk), follow=True).content.decode()


def statuses() -> list[str]:
    return list(Article.objects.order_by("pk").values_list("status", flat=True))


@pytest.mark.parametrize("action", ["unpublish_selected", "archive_selected"])
def test_withdrawn_articles_are_back_and_searchable(
    action: str, staff_client: Client, staff: User, django_capture_on_commit_callbacks: Any
) -> None:
    articles = [make_article(f"Plan {number}") for number in range(3)]
    page = act(staff_client, action, *articles)
    assert '<button type="submit" class="button">Undo</button>' in page
    assert not Passage.objects.exists()

    page = take_back(staff_client)
    assert "3 articles are back." in page
    assert statuses() == [Status.PUBLISHED] * 3
    for article in articles:
        index_article(article.pk)
    assert Passage.objects.values("article").distinct().count() == 3
    undone = LogEntry.objects.filter(user=staff, change_message="Undid a bulk action.")
    assert undone.count() == 3


def test_a_published_draft_is_a_draft_again(staff_client: Client) -> None:
    draft = make_article("Draft", publish=False)
    act(staff_client, "publish_selected", draft)
    take_back(staff_client)
    draft.refresh_from_db()
    assert (draft.status, draft.live_revision) == (Status.DRAFT, None)
    assert draft.revisions.count() == 1


def test_published_changes_are_changes_again_and_the_old_text_is_live(
    staff_client: Client,
) -> None:
    article = make_article("Plans", body="Old. [x](/articles/old/)")
    article.body = "New. [x](/articles/new/)"
    article.save()
    act(staff_client, "publish_selected", article)
    take_back(staff_client)

    article.refresh_from_db()
    assert article.live_revision is not None
    assert article.live_revision.body.startswith("Old.")
    assert article.body.startswith("New.")
    assert ArticleLink.objects.get().slug == "old"


def test_schedules_and_review_dates_come_back(staff_client: Client, staff: User) -> None:
    article = make_article("Plans", review_on=timezone.localdate())
    when = timezone.now() + timedelta(days=1)
    publishing.schedule(article, when, staff)
    act(staff_client, "archive_selected", article)
    take_back(staff_client)
    article.refresh_from_db()
    assert (article.publish_at, article.scheduled_by) == (when, staff)

    act(staff_client, "reviewed_selected", article)
    article.refresh_from_db()
    assert article.review_on is not None
    assert article.review_on > timezone.localdate()
    take_back(staff_client)
    article.refresh_from_db()
    assert article.review_on == timezone.localdate()


def test_what_was_changed_since_is_left_alone(staff_client: Client) -> None:
    mine, theirs = make_article("Mine"), make_article("Theirs")
    act(staff_client, "unpublish_selected", mine, theirs)
    publishing.withdraw(theirs, Status.ARCHIVED)
    page = take_back(staff_client)

    assert "1 article is back." in page
    assert "“Theirs” was changed since and is left as it is." in page
    assert statuses() == [Status.PUBLISHED, Status.ARCHIVED]


def test_it_works_once(staff_client: Client) -> None:
    article = make_article("Plans")
    page = act(staff_client, "unpublish_selected", article)
    assert "Undo" in page
    change = BulkChange.objects.get()
    take_back(staff_client)
    publishing.withdraw(article)
    again = staff_client.post(article_url("undo", change.pk), follow=True).content.decode()
    assert "nothing to undo any more" in again
    assert statuses() == [Status.DRAFT]


def test_it_expires_and_is_dropped(staff_client: Client) -> None:
    article = make_article("Plans")
    act(staff_client, "unpublish_selected", article)
    BulkChange.objects.update(made_at=timezone.now() - undo.EXPIRES - timedelta(seconds=1))
    assert ">Undo<" not in staff_client.get(article_url("changelist")).content.decode()
    assert "nothing to undo any more" in take_back(staff_client)
    assert statuses() == [Status.DRAFT]

    act(staff_client, "publish_selected", article)
    assert BulkChange.objects.count() == 1


def test_nobody_takes_back_what_another_did(staff_client: Client) -> None:
    article = make_article("Plans")
    act(staff_client, "unpublish_selected", article)
    other = signed_in(colleague("maria", "change_article", "view_article"))
    assert ">Undo<" not in other.get(article_url("changelist")).content.decode()
    assert "nothing to undo any more" in take_back(other)
    reader = signed_in(colleague("reader", "view_article"))
    change = BulkChange.objects.get()
    assert reader.post(article_url("undo", change.pk)).status_code == 403
    assert statuses() == [Status.DRAFT]


def test_looking_changes_nothing(staff_client: Client) -> None:
    article = make_article("Plans")
    act(staff_client, "unpublish_selected", article)
    response = staff_client.get(article_url("undo", BulkChange.objects.get().pk))
    assert response.status_code == 405


def test_an_action_without_the_permission_does_nothing() -> None:
    article = make_article("Plans")
    act(signed_in(colleague("reader", "view_article")), "unpublish_selected", article)
    assert statuses() == [Status.PUBLISHED]
    assert not BulkChange.objects.exists()
