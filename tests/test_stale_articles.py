"""The list names articles that may not hold any more: by date, by age, by votes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from articles import publishing
from articles.models import Article, ArticleFeedback, Rating
from tests.factories import make_article
from tests.writing import article_url

pytestmark = pytest.mark.django_db


def listed(client: Client, value: str) -> set[str]:
    page = client.get(article_url("changelist"), {"attention": value})
    return {article.title for article in page.context["cl"].result_list}


def vote(article: Article, rating: Rating, count: int) -> None:
    assert article.live_revision is not None
    for _number in range(count):
        voter = f"visitor:{ArticleFeedback.objects.count()}"
        ArticleFeedback.objects.create(
            article=article, revision=article.live_revision, voter=voter, rating=rating
        )


def age(article: Article, days: int) -> None:
    """Revisions are immutable, by a trigger: only a test may turn it off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        article.revisions.update(created_at=timezone.now() - timedelta(days=days))
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_an_article_is_due_on_its_review_date(staff_client: Client) -> None:
    today = timezone.localdate()
    make_article("Today", review_on=today)
    make_article("Tomorrow", review_on=today + timedelta(days=1))
    make_article("Never")
    make_article("Draft", review_on=today, publish=False)
    assert listed(staff_client, "review") == {"Today"}


def test_an_old_text_is_stale_unless_somebody_looks_again_later(staff_client: Client) -> None:
    for title, days in (("Old", 400), ("New", 300)):
        age(make_article(title), days)
    looked_at = make_article("Looked at", review_on=timezone.localdate() + timedelta(days=30))
    age(looked_at, 400)
    assert listed(staff_client, "old") == {"Old"}


def test_votes_count_for_the_text_they_were_given_to(staff_client: Client) -> None:
    bad, mixed, few, improved = map(make_article, ("Bad", "Mixed", "Few", "Improved"))
    vote(bad, Rating.NEGATIVE, 3)
    vote(bad, Rating.POSITIVE, 2)
    vote(mixed, Rating.NEGATIVE, 3)
    vote(mixed, Rating.POSITIVE, 3)
    vote(few, Rating.NEGATIVE, 2)
    vote(improved, Rating.NEGATIVE, 5)
    improved.body = "Better."
    publishing.publish(improved)
    assert listed(staff_client, "unhelpful") == {"Bad"}


def test_any_of_these(staff_client: Client) -> None:
    make_article("Due", review_on=timezone.localdate())
    vote(make_article("Bad"), Rating.NEGATIVE, 3)
    make_article("Fine")
    assert listed(staff_client, "stale") == {"Due", "Bad"}
