"""A stretch of days, both ends included, in the site's time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_date

DAYS = 30
MOST_DAYS = 366


@dataclass(frozen=True)
class Period:
    """From `first` to `last`. At most `MOST_DAYS` long."""

    first: date
    last: date

    @classmethod
    def of(cls, chosen: Mapping[str, str], days: int = DAYS) -> Period:
        """What `from` and `to` name; without them the last `days` days, today included. Ends
        that are no dates are as if they were missing, and the two are put in order."""
        last = parsed(chosen.get("to", "")) or timezone.localdate()
        first = parsed(chosen.get("from", "")) or last - timedelta(days=days - 1)
        first, last = sorted((first, last))
        return cls(max(first, last - timedelta(days=MOST_DAYS - 1)), last)

    @property
    def start(self) -> datetime:
        return midnight(self.first)

    @property
    def end(self) -> datetime:
        """The first moment that does not belong to it any more."""
        return midnight(self.last + timedelta(days=1))

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]


def parsed(text: str) -> date | None:
    """A day that was typed or linked. None for what is none, and for days beyond all calendars."""
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return day if day and 1970 <= day.year < 9999 else None


def midnight(day: date) -> datetime:
    """The day's first moment. Where clocks skip it, the first one after."""
    return timezone.make_aware(datetime.combine(day, time.min))
