"""How many turns an asker may begin: per visitor or user, and per address, in a fixed window."""

from __future__ import annotations

import logging

from django.conf import settings

from assistant.refusals import RateLimited
from helpcenter import limits
from helpcenter.limits import Bucket

logger = logging.getLogger(__name__)


def charge(owner: str, address: str) -> None:
    """Counts one turn of `owner` from `address`. Raises `RateLimited` where it is one too many."""
    wait = limits.charge(
        [
            Bucket(f"limit:owner:{owner}", settings.ASSISTANT_TURNS_PER_VISITOR),
            Bucket(
                f"limit:address:{limits.network(address)}", settings.ASSISTANT_TURNS_PER_ADDRESS
            ),
        ],
        settings.ASSISTANT_LIMIT_SECONDS,
        everyone=Bucket("limit:everyone", settings.ASSISTANT_TURNS_WITHOUT_VALKEY),
    )
    if wait:
        logger.info("turn_limited", extra={"owner": owner, "retry_after": wait})
        raise RateLimited(retry_after=wait)
