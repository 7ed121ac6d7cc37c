"""Taking back what was done to several articles at once, for a quarter of an hour.

Only where an article still stands as the change left it: what somebody did since is theirs.
Texts are not touched, so nothing that was written can be lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from articles import publishing
from articles.models import Article, ArticleRevision, BulkChange, BulkChangeItem, Status

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

EXPIRES = timedelta(minutes=15)

Standing = dict[str, str | int | None]
"""`status`, `live_revision` (an id), `publish_at` and `review_on` (in ISO 8601) of an article."""


@dataclass(frozen=True)
class Undone:
    """The articles that are back where they stood, and those that were changed since."""

    restored: list[Article]
    left: list[Article]


def standing(article: Article) -> Standing:
    return {
        "status": str(article.status),
        "live_revision": article.live_revision_id,
        "publish_at": article.publish_at.isoformat() if article.publish_at else None,
        "review_on": article.review_on.isoformat() if article.review_on else None,
    }


def remember(
    user: AbstractBaseUser, label: str, before: Mapping[int, Standing], articles: Sequence[Article]
) -> BulkChange:
    """Keep how `articles` stood before, by id; what nobody can undo any more is dropped."""
    BulkChange.objects.filter(made_at__lt=timezone.now() - EXPIRES).delete()
    change = BulkChange.objects.create(user_id=user.pk, label=label[:200])
    BulkChangeItem.objects.bulk_create(
        BulkChangeItem(
            change=change, article=article, before=before[article.pk], after=standing(article)
        )
        for article in articles
    )
    return change


def latest(user_id: int) -> BulkChange | None:
    """What this person did last and can still take back."""
    since = timezone.now() - EXPIRES
    changes = BulkChange.objects.filter(user_id=user_id, made_at__gte=since)
    return changes.order_by("-made_at", "-pk").first()


@transaction.atomic
def take_back(change: BulkChange, user: AbstractBaseUser) -> Undone:
    """Put every article back that still stands as the change left it. Works once."""
    done = Undone([], [])
    items = change.items.order_by("article_id")
    before_and_after = {item.article_id: (item.before, item.after) for item in items}
    locked = Article.objects.select_for_update().filter(pk__in=before_and_after).order_by("pk")
    for article in locked:
        before, after = before_and_after[article.pk]
        if standing(article) == after:
            _restore(article, before, user)
            done.restored.append(article)
        else:
            done.left.append(article)
    change.delete()
    return done


def _restore(article: Article, before: Standing, user: AbstractBaseUser) -> None:
    publish_at, review_on = before["publish_at"], before["review_on"]
    status, live = Status(str(before["status"])), before["live_revision"]
    if (article.status, article.live_revision_id) != (status, live):
        revision = ArticleRevision.objects.get(pk=live) if live else None
        publishing.return_to(article, status, revision)
    article.review_on = date.fromisoformat(str(review_on)) if review_on else None
    article.save(update_fields=["review_on"])
    when = datetime.fromisoformat(str(publish_at)) if publish_at else None
    publishing.schedule(article, when, user)
