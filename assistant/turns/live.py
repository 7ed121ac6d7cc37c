"""The turns that run in this process: started, watched, stopped.

A turn runs as a task of the process, not of the socket or request that asked, so closing a
tab ends nothing. One watcher keeps the turns' rows alive, which tells other processes that
somebody is at work, and hears from Valkey which of them were stopped elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

from django.conf import settings
from django.db import Error
from django.utils import timezone

from assistant.background import spawn
from assistant.database import db
from assistant.eventlog import UNREACHABLE, EventLog
from assistant.metrics import TURNS_RUNNING
from assistant.models import Answer
from helpcenter import drain, logs

STOP_POLL_SECONDS = 0.25
BEATS = 6
"""How often a turn says that it lives, in the time in which a dead one has to be found: it is
taken for dead after half of that, and looked for twice as often."""

logger = logging.getLogger(__name__)

_live: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LiveTurns] = weakref.WeakKeyDictionary()


class Turn(Protocol):
    answer_id: uuid.UUID

    async def run(self) -> None: ...

    def stop(self) -> None:
        """Ends it early; what was delivered is kept."""

    def give_up(self) -> None:
        """Another process has ended the answer, or it was deleted: nothing more is stored."""


class LiveTurns:
    """One per event loop: `LiveTurns.current()`."""

    def __init__(self) -> None:
        self._turns: dict[uuid.UUID, Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()

    @classmethod
    def current(cls) -> LiveTurns:
        loop = asyncio.get_running_loop()
        if loop not in _live:
            _live[loop] = cls()
        return _live[loop]

    def start(self, turn: Turn) -> None:
        is_first = not self._turns
        self._turns[turn.answer_id] = turn
        ids = {**logs.ids(), "answer_id": str(turn.answer_id)}
        task = spawn(self._run(turn), f"turn {turn.answer_id}", ids)
        self._keep(task)
        drain.track(task)
        if is_first:
            self._idle = asyncio.Event()
            self._keep(spawn(self._hear_stops(self._idle), "stops of turns"))
            self._keep(spawn(self._keep_alive(self._idle), "heartbeat of turns"))

    def find(self, answer_id: uuid.UUID) -> Turn | None:
        return self._turns.get(answer_id)

    async def wait(self) -> None:
        """Until no turn runs."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, turn: Turn) -> None:
        try:
            with TURNS_RUNNING.track_inprogress():
                await turn.run()
        finally:
            del self._turns[turn.answer_id]
            if not self._turns:
                self._idle.set()

    async def _hear_stops(self, idle: asyncio.Event) -> None:
        store = EventLog.current().store
        while not await _is_set_within(STOP_POLL_SECONDS, idle):
            with suppress(*UNREACHABLE):
                for answer_id in await store.stops_requested(self._turns):
                    if turn := self._turns.get(answer_id):
                        turn.stop()

    async def _keep_alive(self, idle: asyncio.Event) -> None:
        """In both places, because either may be down while the turn goes on. A row that was just
        made is a sign of life by itself."""
        seconds = settings.ASSISTANT_REAPER_SECONDS
        store = EventLog.current().store
        while not await _is_set_within(seconds / BEATS, idle):
            with suppress(*UNREACHABLE):
                await store.say_alive(self._turns, max(1, seconds // 2))
            try:
                over = await db(_beat, list(self._turns))
            except Error as error:
                logger.warning("heartbeat_failed", extra={"error": type(error).__name__})
                continue
            for answer_id in over:
                if turn := self._turns.get(answer_id):
                    turn.give_up()


async def _is_set_within(seconds: float, event: asyncio.Event) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _beat(answer_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Says that these turns live. Returns those whose rows say otherwise."""
    running = Answer.objects.filter(pk__in=answer_ids, status=Answer.Status.RUNNING)
    if running.update(heartbeat_at=timezone.now()) == len(answer_ids):
        return set()
    return set(answer_ids) - set(running.values_list("pk", flat=True))
