"""The end of a turn: stored, with patience where the database is away, and then told as stored.

All that an end needs of the database is one step: whether the question is far from everything
that the site has, where the verdict depends on it; the answer and what belongs to it; the tokens
of the day. What the visitor is told is written in the same step, for it takes milliseconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.db import IntegrityError

from assistant.background import spawn
from assistant.bill import budgets
from assistant.database import DATABASE_DOWN, db, is_rehearsal
from assistant.events import Done, Error
from assistant.models import Answer, Grounding
from assistant.scope import is_outside
from assistant.turns.conclusion import Delivered, Ending, depends_on_scope, end_of, last_event
from assistant.turns.persistence import End, store_end
from assistant.turns.preparation import Work
from assistant.turns.sending import Sender
from helpcenter import drain, logs

SAVE_SECONDS = 10
"""How long an end waits for the database before the visitor is told that it was not saved."""

MOST_REFUSALS = 5
"""So often the database may refuse an end: what it refuses still, it will always refuse."""

SAVE_LATER_SECONDS = 3600
LONGEST_PAUSE_SECONDS = 5.0

_WORTH_TRYING_AGAIN = (*DATABASE_DOWN, IntegrityError)
"""An article may be deleted between the look and the commit: the next try sees that."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """An end as it was stored, and the event that says so."""

    end: End
    event: Done | Error


class NotSavedError(Exception):
    """The database did not take the end of a turn in time."""


async def finish(
    delivered: Delivered, ending: Ending, work: Work | None, sender: Sender
) -> Told | None:
    """Stores the end. None where somebody else has ended the answer, or deleted it. `work` is
    None where the turn failed before there was anything to do."""
    try:
        return await _patiently(partial(_finish, delivered, ending, work, sender), delivered)
    except NotSavedError:
        end = _as_not_saved(end_of(delivered, ending, work))
        drain.track(spawn(_store_later(end), "storing an answer later", logs.ids()))
        return await db(_told, end, work, sender)


def _finish(delivered: Delivered, ending: Ending, work: Work | None, sender: Sender) -> Told | None:
    end = end_of(delivered, ending, work, outside=_is_outside(ending, work, sender))
    return _told(end, work, sender) if store_end(end) else None


def _is_outside(ending: Ending, work: Work | None, sender: Sender) -> bool:
    """Where the database is down, storing the answer will meet that again, and wait."""
    if work is None or not depends_on_scope(ending, work):
        return False
    try:
        return is_outside(work.search, sender.reader, sender.language)
    except DatabaseFailure as error:
        logger.warning("scope_not_measured", extra={"error": type(error).__name__})
        return False


def _told(end: End, work: Work | None, sender: Sender) -> Told:
    _spend(end)
    return Told(end, last_event(end, work, sender.language))


def _spend(end: End) -> None:
    """Counts the tokens for the day's budget; that it fails is no matter of the visitor's."""
    used = end.fields.get("prompt_tokens", 0) + end.fields.get("completion_tokens", 0)
    if not (used and settings.ASSISTANT_TOKENS_PER_DAY) or is_rehearsal():
        return
    try:
        budgets.spend_tokens(used)
    except DatabaseFailure as error:
        logger.warning("tokens_not_counted", extra={"error": type(error).__name__})


async def _patiently(step: Callable[[], T], delivered: Delivered) -> T:
    """What the step returns, tried until the database takes it. Raises `NotSavedError`."""
    pause, refusals, ids = 0.1, 0, {"answer_id": delivered.answer_id}
    try:
        async with asyncio.timeout(None if is_rehearsal() else SAVE_SECONDS):
            while True:
                try:
                    return await db(step)
                except IntegrityError:
                    refusals += 1
                    if refusals == MOST_REFUSALS:
                        raise
                except DATABASE_DOWN:
                    pass
                logger.warning("answer_not_saved_yet", extra=ids)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    except (TimeoutError, DatabaseFailure) as error:
        logger.error("answer_not_saved", extra=ids)
        raise NotSavedError from error


def _as_not_saved(end: End) -> End:
    return replace(
        end,
        status=Answer.Status.FAILED,
        grounding=Grounding.UNAVAILABLE,
        fields={**end.fields, "error_code": "not_saved", "truncated_by": ""},
    )


async def _store_later(end: End) -> None:
    """The visitor was told that it was not saved; what was written is stored all the same."""
    deadline = asyncio.get_running_loop().time() + SAVE_LATER_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(LONGEST_PAUSE_SECONDS)
        with suppress(*_WORTH_TRYING_AGAIN):
            await db(store_end, end)
            logger.info("answer_saved_late", extra={"answer_id": end.answer_id})
            return
