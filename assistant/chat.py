"""The door to the assistant: ask, follow, stop. WebSocket, SSE and JSON are skins over it.

`ask` makes the turn of a send, or finds it, and sees that it runs; `events` follows an
answer from any cursor, wherever it runs and whether or not it still does; `stop` ends one.
Whose answer it is has been checked by `find_answer` before. Everything here raises
`assistant.refusals`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from articles.access import ANONYMOUS, Reader
from assistant.access import Owner, get_answer
from assistant.agent import Model
from assistant.answers import answer_payload, with_ledger
from assistant.background import spawn
from assistant.database import DATABASE_DOWN, db
from assistant.eventlog import UNREACHABLE, Entry, EventLog, LostError
from assistant.models import Answer
from assistant.questions import Ask
from assistant.refusals import NotFound, Refusal, Unavailable
from assistant.turns.delivered import Delivered
from assistant.turns.live import LiveTurns
from assistant.turns.preparation import Loaded, load
from assistant.turns.sending import Opened, Sender, open_turn
from assistant.turns.stored_events import Seen, stored_events
from assistant.turns.turn import AnswerTurn
from helpcenter import logs

POLL_SECONDS = 0.5
STOP_SECONDS = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer that is the caller's."""

    answer_id: uuid.UUID
    conversation_id: uuid.UUID
    is_running: bool
    last_seq: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A send: whose it was, and its turn."""

    sender: Sender
    opened: Opened


async def ask(sender: Sender, question: Ask, model: Model | None = None) -> Opened:
    """The turn of this send, running or finished. It goes on when the caller goes away, even
    in the middle of this. `model`: who answers in place of the one that the settings name."""
    return (await ask_as(lambda: sender, question, model)).opened


async def ask_as(who: Callable[[], Sender], question: Ask, model: Model | None = None) -> Asked:
    """The same where the database has to be asked who sends: `who` runs as a part of the step
    that makes the turn, and may refuse."""
    begun = await asyncio.shield(spawn(_begin(who, question, model), "send", logs.ids()))
    if isinstance(begun, Refusal):
        raise begun
    return begun


async def find_answer(owner: Owner | None, answer_id: str) -> Found:
    """Raises `NotFound` for an answer that is not the owner's, as for one that is unknown."""
    try:
        answer = await db(get_answer, owner, answer_id)
    except Answer.DoesNotExist:
        raise NotFound from None
    is_running = answer.status == Answer.Status.RUNNING
    return Found(answer.pk, answer.conversation_id, is_running, answer.last_seq)


async def events(
    answer_id: uuid.UUID, reader: Reader, *, after: int = 0, html: bool = False
) -> AsyncGenerator[list[Entry], None]:
    """Batches of the answer's events after `after` up to its end; an empty one in silence.

    `html`: rendered blocks in place of deltas. Where the log has nothing to give, or tells
    of sources that are not as they were, the database does.
    """
    seen = Seen.after(after)
    anew = await _told_anew(answer_id, reader, seen, html=html)
    if anew is not None:
        yield anew
        return
    log = EventLog.current()
    while True:
        with suppress(LostError):
            async with aclosing(log.follow(answer_id, seen.position, html=html)) as batches:
                async for batch in batches:
                    if not batch and await _ended_unheard(answer_id):
                        break
                    seen.take(batch)
                    yield batch
                else:
                    return
        try:
            stored = await db(stored_events, answer_id, reader, seen, html=html)
        except DATABASE_DOWN as error:
            logger.error("database_unavailable", extra={"error": type(error).__name__})
            stored = None
        if stored is not None:
            yield stored
            return
        yield []
        await asyncio.sleep(POLL_SECONDS)


async def _told_anew(
    answer_id: uuid.UUID, reader: Reader, seen: Seen, *, html: bool
) -> list[Entry] | None:
    """What follows in an old answer whose log does not have its end, or one of whose sources has
    changed since, was renamed, is gone or may not be seen by this reader any more; None for any
    other answer."""
    if LiveTurns.current().find(answer_id) is not None:
        return None
    try:
        entries = await EventLog.current().entries(answer_id)
        end = Delivered.of(entries).end
        if end is None:
            return await _completed(entries, answer_id, reader, seen, html=html)
        stored = await db(stored_events, answer_id, reader, seen, html=html)
    except (LostError, *DATABASE_DOWN):
        return None  # whoever follows finds out, and says so
    if not stored or json.loads(stored[-1].body).get("sources") == end.get("sources"):
        return None
    return stored


async def _completed(
    entries: list[Entry], answer_id: uuid.UUID, reader: Reader, seen: Seen, *, html: bool
) -> list[Entry] | None:
    """What follows in an answer that ended while Valkey was away: what its log has, and the rest
    from the database, at once. None where the answer is still being written."""
    if not await _is_over(answer_id):
        return None
    rest = [] if html else entries[seen.position :]
    seen.take(rest)
    stored = await db(stored_events, answer_id, reader, seen, html=html)
    return rest + (stored or [])


async def _ended_unheard(answer_id: uuid.UUID) -> bool:
    """Whether the turn has ended and nobody could write its end into the log."""
    return not EventLog.current().is_written_here(answer_id) and await _is_over(answer_id)


async def payload(found: Found, reader: Reader) -> dict[str, Any]:
    """The answer as JSON, see `answers.answer_payload`; of a running one what was delivered. Of a
    turn whose process died, or could not store it, the log has the end before the database."""
    stored = await db(_stored_payload, found.answer_id, reader)
    if stored["status"] != Answer.Status.RUNNING:
        return stored
    with suppress(LostError):
        entries = await EventLog.current().entries(found.answer_id)
        stored.update(Delivered.of(entries).payload())
    return stored


async def wait(answer_id: uuid.UUID) -> None:
    """Until the answer has ended."""
    async with aclosing(events(answer_id, ANONYMOUS)) as batches:
        async for _batch in batches:
            pass


async def stop(found: Found) -> None:
    """Ends the turn early, in whichever process it runs, and waits until it has ended. What was
    delivered is kept. Stopping a finished answer changes nothing."""
    turn = LiveTurns.current().find(found.answer_id)
    if turn is not None:
        turn.stop()
    elif found.is_running:
        await _request_stop(found.answer_id)
    else:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await wait(found.answer_id)


async def erase(answer_ids: Collection[uuid.UUID]) -> None:
    """Forgets answers whose rows were deleted: their turns end, their streams go."""
    live = LiveTurns.current()
    for answer_id in answer_ids:
        turn = live.find(answer_id)
        if turn is not None:
            turn.give_up()
    try:
        await EventLog.current().store.forget(answer_ids)
    except UNREACHABLE as error:
        logger.warning("streams_not_erased", extra={"error": type(error).__name__})


async def _begin(who: Callable[[], Sender], question: Ask, model: Model | None) -> Asked | Refusal:
    try:
        asked, loaded = await db(_open, who, question, model)
    except Refusal as refusal:
        return refusal
    except DATABASE_DOWN as error:
        logger.error("database_unavailable", extra={"error": type(error).__name__})
        return Unavailable()
    if asked.opened.made is not None:
        LiveTurns.current().start(AnswerTurn(asked.opened, asked.sender, model, loaded))
    return asked


def _open(
    who: Callable[[], Sender], question: Ask, model: Model | None
) -> tuple[Asked, Loaded | None]:
    """The turn of a send, and what it starts with where this send has made it."""
    sender = who()
    opened = open_turn(sender, question)
    loaded = None
    if opened.made is not None:
        # The row stands, so its turn will run: whatever goes wrong here, it tries for itself, and
        # ends with what goes wrong then.
        with suppress(Exception):
            loaded = load(opened.made, sender.reader, model)
    return Asked(sender, opened), loaded


async def _request_stop(answer_id: uuid.UUID) -> None:
    try:
        await EventLog.current().store.request_stop(answer_id)
    except UNREACHABLE as error:
        logger.warning("stop_not_sent", extra={"error": type(error).__name__})
        raise Unavailable from error


def _stored_payload(answer_id: uuid.UUID, reader: Reader) -> dict[str, Any]:
    answer = with_ledger(Answer.objects.filter(pk=answer_id)).first()
    if answer is None:
        raise NotFound
    return answer_payload(answer, reader)


async def _is_over(answer_id: uuid.UUID) -> bool:
    """Whether the database knows that the turn has ended. Where it is down, it may go on."""
    running = Answer.objects.filter(pk=answer_id, status=Answer.Status.RUNNING)
    try:
        return not await db(running.exists)
    except DATABASE_DOWN:
        return False
