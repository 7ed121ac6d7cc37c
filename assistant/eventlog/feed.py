"""The events of one answer as this process knows them, and those who follow them.

A feed holds its answer's entries from the first one on: entry `seq` stands at index
`seq - 1`, so a cursor is an index, and a follower that is slow costs nothing but its place.
"""

from __future__ import annotations

import asyncio
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

LAST_TYPES = frozenset({"done", "error"})


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the log. `body` is its JSON object without `seq`.

    `note` is JSON for whoever renders or repairs the answer, see `eventlog.notes`;
    it is never sent to a client.
    """

    seq: int
    type: str
    body: str
    note: str = ""

    @property
    def is_last(self) -> bool:
        return self.type in LAST_TYPES


class LostError(Exception):
    """The log cannot give what follows: expired, incomplete or out of reach. Ask the database."""


class Feed:
    """The entries of an answer so far, and a way to wait for the next ones."""

    def __init__(self, answer_id: uuid.UUID) -> None:
        self.answer_id = answer_id
        self.entries: list[Entry] = []
        self.ended = False
        self.lost = False
        self.derived: DerivedFeed | None = None
        self._waiting: dict[asyncio.Future[None], float] = {}

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Adds entries, the next ones by `seq`, and wakes the followers."""
        self.entries.extend(entries)
        self.ended = bool(self.entries) and self.entries[-1].is_last
        self._changed()

    def lose(self) -> None:
        """Nothing more will come: followers get `LostError` unless they have the end."""
        self.lost = True
        self._changed()

    async def follow(self, after: int) -> AsyncGenerator[list[Entry], None]:
        """Batches of what stands after `after`, then of what comes, up to the end.

        An empty batch means that nothing has come for a while. A cursor beyond what there is
        counts as one that has everything; beyond the end of a finished answer, as one that
        lacks the end. Raises `LostError`.
        """
        position = self._position(after)
        loop = asyncio.get_running_loop()  # asked for once: that is a system call
        while True:
            if position < len(self.entries):
                batch = self.entries[position:]
                position = len(self.entries)
                yield batch
            elif self.ended:
                return
            elif self.lost:
                raise LostError
            elif not await self._changes(loop):
                yield []

    def wake_idle(self, since: float) -> None:
        """Gives an empty batch to those who have waited from before `since` (loop time)."""
        for waiter, began in self._waiting.items():
            if began < since and not waiter.done():
                waiter.set_result(None)
        if self.derived is not None:
            self.derived.wake_idle(since)

    def _position(self, after: int) -> int:
        if after <= len(self.entries):
            return after
        return len(self.entries) - 1 if self.ended else len(self.entries)

    async def _changes(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Waits; False where it was woken by nothing but time."""
        known = (len(self.entries), self.lost)
        waiter = loop.create_future()
        self._waiting[waiter] = loop.time()
        try:
            await waiter
        finally:
            del self._waiting[waiter]
        return known != (len(self.entries), self.lost)

    def _changed(self) -> None:
        if self.derived is not None:
            self.derived.advance()
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


class DerivedFeed(Feed, ABC):
    """A feed that is made from another one, which tells it of every change."""

    @abstractmethod
    def advance(self) -> None: ...
