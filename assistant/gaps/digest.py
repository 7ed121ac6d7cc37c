"""The weekly e-mail about the queue: what is new, what grows, what was closed.

Sent once for each week of the site's time zone to `GAP_DIGEST_EMAILS`, to each address by itself;
a week in which nothing happened has none.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import F
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assistant.gaps.listing import TO_DO, url_of
from assistant.models import GapTopic
from helpcenter.valkey import client

MOST = 10
"""Topics of each part; how many more there are is said."""

WEEK = timedelta(days=7)
KEPT_SECONDS = 14 * 24 * 3600

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Digest:
    new: list[GapTopic]
    growing: list[GapTopic]
    closed: list[GapTopic]

    def __bool__(self) -> bool:
        return bool(self.new or self.growing or self.closed)


def gather(now: datetime) -> Digest:
    """What happened in the seven days before `now`, the greatest impact first."""
    since = now - WEEK
    topics = GapTopic.objects.filter(merged_into=None).defer("centroid").order_by("-impact", "pk")
    to_do = topics.filter(status__in=TO_DO)
    closed = topics.filter(
        status__in=[GapTopic.Status.VERIFIED, GapTopic.Status.DISMISSED], steps__at__gte=since
    )
    return Digest(
        list(to_do.filter(created_at__gte=since)),
        list(to_do.filter(created_at__lt=since, week_count__gt=F("week_before_count"))),
        list(closed.distinct()),
    )


def send(now: datetime | None = None) -> int:
    """Sends the week's e-mail. Returns to how many; 0 where it was sent before. A failure to send
    is raised, and the next call tries the addresses that are left."""
    now = now or timezone.now()
    found = gather(now)
    if not found:
        return 0
    year, week, _day = timezone.localtime(now).isocalendar()
    valkey, count = client(settings.REDIS_URL), 0
    with translation.override(settings.LANGUAGE_CODE):
        subject, text = written(found)
        for address in settings.GAP_DIGEST_EMAILS:
            key = f"gap-digest:{year}-{week}:{address}"
            if not valkey.set(key, "1", nx=True, ex=KEPT_SECONDS):
                continue
            try:
                send_mail(subject, text, None, [address])
            except Exception:
                valkey.delete(key)
                raise
            count += 1
    logger.info("gap_digest_sent", extra={"count": count})
    return count


def written(digest: Digest) -> tuple[str, str]:
    """Subject and text."""
    counts = {"new": len(digest.new), "closed": len(digest.closed)}
    subject = _("Documentation gaps this week: %(new)d new, %(closed)d closed") % counts
    parts = [
        *_part(_("New"), digest.new),
        *_part(_("Growing"), digest.growing),
        *_part(_("Closed"), digest.closed),
        settings.SITE_URL + reverse("admin:assistant_gaptopic_changelist"),
    ]
    return subject, "\n\n".join(parts) + "\n"


def _part(title: str, topics: Sequence[GapTopic]) -> list[str]:
    if not topics:
        return []
    said = [title.upper(), *map(_topic, topics[:MOST])]
    more = len(topics) - MOST
    if more > 0:
        said.append(ngettext("and %d more", "and %d more", more) % more)
    return said


def _topic(topic: GapTopic) -> str:
    asked = ngettext("%d question", "%d questions", topic.questions_count) % topic.questions_count
    week = _("%(now)d in the last 7 days, %(before)d in the 7 before") % {
        "now": topic.week_count,
        "before": topic.week_before_count,
    }
    status = topic.get_status_display()
    return f"{topic.name}\n{asked}; {week}; {status}\n{url_of(topic)}"
