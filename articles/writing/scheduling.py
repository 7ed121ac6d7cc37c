"""Publishing at a time that was set: once, however late or often the schedule comes by."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from articles import publishing
from articles.models import Article

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

logger = logging.getLogger(__name__)


def publish_due() -> int:
    """Publish every article whose time has come; returns how many.

    One that fails keeps its time and is tried again with the next run; the others go on. One
    without a text loses its time, and its history says why.
    """
    now = timezone.now()
    due = Article.objects.filter(publish_at__lte=now).order_by("publish_at", "pk")
    published = 0
    for article_id in due.values_list("pk", flat=True):
        try:
            published += _publish(article_id, now)
        except Exception:
            logger.exception("scheduled_article_not_published", extra={"article_id": article_id})
    return published


@transaction.atomic
def _publish(article_id: int, now: datetime) -> bool:
    """The row decides: locked by another run, or published by one, it is not due any more."""
    rows = Article.objects.select_for_update(skip_locked=True)
    article = rows.filter(pk=article_id, publish_at__lte=now).first()
    if article is None:
        return False
    user = article.scheduled_by
    try:
        publishing.refuse_empty(article)
    except ValidationError:
        publishing.schedule(article, None)
        _note(article, user, "Not published on schedule: there was no text.")
        logger.warning("scheduled_article_without_text", extra={"article_id": article_id})
        return False
    publishing.publish(article, user)
    _note(article, user, "Published on schedule.")
    logger.info("article_published_on_schedule", extra={"article_id": article_id})
    return True


def _note(article: Article, user: AbstractBaseUser | None, message: str) -> None:
    if user is not None:
        LogEntry.objects.create(
            user_id=user.pk,
            content_type=ContentType.objects.get_for_model(Article),
            object_id=str(article.pk),
            object_repr=str(article)[:200],
            action_flag=CHANGE,
            change_message=message,
        )
