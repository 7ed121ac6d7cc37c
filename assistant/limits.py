"""How many turns an asker may begin, per visitor or user and per address, and the site in a day."""

from __future__ import annotations

import logging

from django.conf import settings

from assistant.bill import budgets
from assistant.refusals import BudgetSpent, RateLimited
from helpcenter import limits
from helpcenter.limits import Bucket

logger = logging.getLogger(__name__)


def charge(owner: str, address: str) -> None:
    """Counts one turn of `owner` from `address`. Raises `RateLimited` where it is one too many, and
    `BudgetSpent` where the day's budget is used up."""
    of_the_day = budgets.of_today()
    charged = limits.charge(
        [
            Bucket(f"limit:owner:{owner}", settings.ASSISTANT_TURNS_PER_VISITOR),
            Bucket(
                f"limit:address:{limits.network(address)}", settings.ASSISTANT_TURNS_PER_ADDRESS
            ),
            *(budget.bucket() for budget in of_the_day),
        ],
        settings.ASSISTANT_LIMIT_SECONDS,
        everyone=Bucket("limit:everyone", settings.ASSISTANT_TURNS_WITHOUT_VALKEY),
    )
    if charged.full is not None:
        is_spent = charged.full.name in {budget.name for budget in of_the_day}
        event = "budget_spent" if is_spent else "turn_limited"
        logger.info(event, extra={"owner": owner, "retry_after": charged.wait})
        raise (BudgetSpent if is_spent else RateLimited)(retry_after=charged.wait)
    for budget, count in zip(of_the_day, charged.counts[2:], strict=False):
        budget.was_charged(count, budget.per_turn)
