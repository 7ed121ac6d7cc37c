"""What all turns of the site together may use in a day: so many turns, so many tokens.

Counted where the other limits are, in Valkey, until midnight in the site's time zone. A turn is
counted when it begins; its tokens when it ends, for nobody knows them earlier. So the turns that
run when the budget of tokens is spent still end as they would. Where Valkey has lost its counts,
the first one of the day is made from the stored answers.

Staff are told at 80 and at 100 percent, by a line in the log and by e-mail, once each a day.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from math import ceil
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Sum
from django.utils import timezone

from assistant.models import Answer
from helpcenter import limits
from helpcenter.celery import hand_out
from helpcenter.limits import Bucket

Kind = Literal["turns", "tokens"]

ALERTS = (80, 100)
"""Percent of a budget at which staff are told."""

TASK = "assistant.tasks.send_budget_alert"

_NO_LIMIT = 2**53

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Budget:
    """Of one day. `limit` is in turns or in tokens."""

    kind: Kind
    limit: int
    day: date

    @property
    def name(self) -> str:
        """Its key."""
        return f"limit:day:{self.day.isoformat()}:{self.kind}"

    def bucket(self) -> Bucket:
        """What a turn that begins is counted in: one turn, and no tokens yet."""
        return Bucket(self.name, self.limit, _seconds_left(), self.per_turn)

    @property
    def per_turn(self) -> int:
        """What a turn counts when it begins."""
        return 1 if self.kind == "turns" else 0

    def spend(self, amount: int) -> None:
        """Counts, whether there is room or not."""
        spent = Bucket(self.name, _NO_LIMIT, _seconds_left(), amount)
        self.was_charged(limits.charge([spent], 1).counts[0], amount)

    def was_charged(self, count: int, amount: int) -> None:
        """Looks whether a charge of `amount` that made it `count` reached one of the marks:
        exactly one charge of a day does."""
        if not amount:
            return
        if count == amount and (known := _stored(self.day)[self.kind] - amount) > 0:
            self.spend(known)
        for percent in ALERTS:
            mark = ceil(self.limit * percent / 100)
            if count - amount < mark <= count:
                self._alert(percent, count)

    def spent(self) -> int:
        """Raises what `helpcenter.valkey.UNREACHABLE` names."""
        return limits.counted(self.name)

    def _alert(self, percent: int, count: int) -> None:
        facts = {"kind": self.kind, "percent": percent, "spent": count, "budget": self.limit}
        logger.warning("budget_alert", extra=facts)
        day = self.day.isoformat()
        transaction.on_commit(
            lambda: hand_out(TASK, day, self.kind, percent, count, self.limit), robust=True
        )


def of_today() -> list[Budget]:
    """The budgets that are set."""
    today = timezone.localdate(timezone=timezone.get_default_timezone())
    limits_of: Iterable[tuple[Kind, int]] = (
        ("turns", settings.ASSISTANT_TURNS_PER_DAY),
        ("tokens", settings.ASSISTANT_TOKENS_PER_DAY),
    )
    return [Budget(kind, limit, today) for kind, limit in limits_of if limit]


def spend_tokens(tokens: int) -> None:
    """Counts what a turn has used, at its end."""
    for budget in of_today():
        if budget.kind == "tokens" and tokens:
            budget.spend(tokens)


def _stored(day: date) -> dict[Kind, int]:
    """What the stored answers of a day have used. Asks the database."""
    begins = datetime.combine(day, time.min, timezone.get_default_timezone())
    found = Answer.objects.filter(created_at__gte=begins).aggregate(
        turns=Count("pk"), tokens=Sum(F("prompt_tokens") + F("completion_tokens"))
    )
    return {"turns": found["turns"], "tokens": found["tokens"] or 0}


def _seconds_left() -> int:
    """Until midnight."""
    zone = timezone.get_default_timezone()
    now = timezone.localtime(timezone=zone)
    midnight = datetime.combine(now.date() + timedelta(days=1), time.min, zone)
    return max(1, ceil(midnight.timestamp() - now.timestamp()))
