"""Records every look of the staff at conversations, before anything is shown.

Where the record cannot be written, nothing is shown: the error passes through.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from assistant.models import AccessRecord, Answer, Conversation

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Action = AccessRecord.Action


def opened(user: User, seen: Answer | Conversation, page: str) -> None:
    """Somebody is about to see an answer, or a whole conversation, on a page of this name."""
    is_answer = isinstance(seen, Answer)
    _record(
        user,
        Action.VIEWED,
        conversation_id=seen.conversation_id if isinstance(seen, Answer) else seen.pk,
        answer_id=seen.pk if is_answer else None,
        detail=page,
    )


def listed(user: User, count: int, page: str) -> None:
    """Somebody is about to see the questions of so many answers."""
    _record(user, Action.LISTED, count=count, detail=page)


def exported(user: User, count: int, page: str) -> None:
    """Somebody is about to be given so many answers as a file."""
    _record(user, Action.EXPORTED, count=count, detail=page)


def forget() -> int:
    """Deletes records that are older than `ACCESS_LOG_DAYS`. Returns how many.

    The one way to delete any: the database wants to be told that this is the retention.
    """
    before = timezone.now() - timedelta(days=settings.ACCESS_LOG_DAYS)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL helpcenter.retention = 'on'")
        cursor.execute("DELETE FROM assistant_accessrecord WHERE at < %s", [before])
        count = int(cursor.rowcount)
        cursor.execute("SET LOCAL helpcenter.retention = 'off'")
    return count


def _record(user: User, action: AccessRecord.Action, **fields: object) -> None:
    AccessRecord.objects.create(
        user_id=user.pk, username=user.get_username()[:150], action=action, **fields
    )
