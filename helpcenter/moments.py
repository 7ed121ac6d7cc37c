"""How staff's tables show when something was: relative, and the exact time on hover."""

from __future__ import annotations

from datetime import datetime

from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html


def ago(moment: datetime | None) -> str:
    """`<time>` with "3 hours ago"; a dash for None."""
    if moment is None:
        return "–"
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        date_format(local, "DATETIME_FORMAT"),
        naturaltime(moment),
    )
