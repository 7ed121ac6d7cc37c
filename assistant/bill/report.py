"""What answers used and cost, in sums by day and model: for the admin's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, cast

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from assistant.bill.budgets import Budget, of_today
from assistant.models import CostReport
from helpcenter.valkey import UNREACHABLE


@dataclass(frozen=True, slots=True)
class Row:
    """`day` and `model` are None in the sum of all. `cost`: None where no answer has a price;
    `unpriced`: how many have none, of those that used tokens. `estimated`: answers whose tokens
    the provider did not tell."""

    day: date | None
    model: str | None
    turns: int
    read: int
    cached: int
    written: int
    estimated: int
    unpriced: int
    cost: Decimal | None

    @property
    def cached_percent(self) -> int:
        return round(100 * self.cached / self.read) if self.read else 0


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget of today. `spent` is None while Valkey is down."""

    budget: Budget
    spent: int | None

    @property
    def percent(self) -> int:
        return 100 * (self.spent or 0) // self.budget.limit


def rows(days: int) -> list[Row]:
    """By day and model, newest first, of the last `days` with today."""
    zone = timezone.get_default_timezone()
    first = timezone.localdate(timezone=zone) - timedelta(days=days - 1)
    found = (
        CostReport.objects.annotate(day=TruncDate("created_at", tzinfo=zone))
        .filter(day__gte=first)
        .values("day", "model")
        .annotate(**_SUMS)
        .order_by("-day", "model")
    )
    return [Row(**cast("dict[str, Any]", row)) for row in found]


def total(parts: Sequence[Row]) -> Row:
    costs = [row.cost for row in parts if row.cost is not None]
    return Row(
        day=None,
        model=None,
        turns=sum(row.turns for row in parts),
        read=sum(row.read for row in parts),
        cached=sum(row.cached for row in parts),
        written=sum(row.written for row in parts),
        estimated=sum(row.estimated for row in parts),
        unpriced=sum(row.unpriced for row in parts),
        cost=sum(costs, Decimal()) if costs else None,
    )


def today() -> list[Spent]:
    """How far today's budgets are used."""
    return [Spent(budget, _spent(budget)) for budget in of_today()]


def _spent(budget: Budget) -> int | None:
    try:
        return budget.spent()
    except UNREACHABLE:
        return None


_USED = Q(prompt_tokens__gt=0) | Q(completion_tokens__gt=0)
_SUMS: dict[str, Any] = {
    "turns": Count("pk"),
    "read": Sum("prompt_tokens"),
    "cached": Sum("cached_tokens"),
    "written": Sum("completion_tokens"),
    "estimated": Count("pk", filter=Q(usage_estimated=True)),
    "unpriced": Count("pk", filter=Q(cost__isnull=True) & _USED),
    "cost": Sum("cost"),
}
