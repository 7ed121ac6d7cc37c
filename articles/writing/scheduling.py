"""Publishing at a time that was set: once, however late or often the schedule comes by."""

from __future__ import annotations

import logging
from datetime import datetime

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from articles import publishing
from articles.models import Article

logger = logging.getLogger(__name__)


def publish_due() -> int:
    """Publish every article whose time has come; returns how many.

    One that fails keeps its time and is tried again with the next run; the others go on.
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
    publishing.publish(article, user)
    if user is not None:
        LogEntry.objects.create(
            user_id=user.pk,
            content_type=ContentType.objects.get_for_model(Article),
            object_id=str(article.pk),
            object_repr=str(article)[:200],
            action_flag=CHANGE,
            change_message="Published on schedule.",
        )
    logger.info("article_published_on_schedule", extra={"article_id": article_id})
    return True
