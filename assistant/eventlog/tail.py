"""Following answers that another process writes: mirrors of their streams, kept up by one reader.

A mirror is shared by all who follow its answer here and forgotten with the last of them. One
task reads what is new for all mirrors at once, so followers cost no connection each.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assistant.background import end, spawn
from assistant.eventlog.feed import Entry, Feed, LostError
from assistant.eventlog.store import UNREACHABLE, Store

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Mirror:
    feed: Feed
    users: int = 0


class Tail:
    """The mirrors of an event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mirrors: dict[uuid.UUID, _Mirror] = {}
        self._running: asyncio.Task[None] | None = None

    def feeds(self) -> list[Feed]:
        return [mirror.feed for mirror in self._mirrors.values()]

    @asynccontextmanager
    async def mirror(self, answer_id: uuid.UUID) -> AsyncGenerator[Feed, None]:
        """The answer's feed, kept up while in use.

        Raises `LostError` where the log has no beginning of it, or is out of reach.
        """
        if answer_id not in self._mirrors:
            feed = await self._loaded(answer_id)
            self._mirrors.setdefault(answer_id, _Mirror(feed))
        mirror = self._mirrors[answer_id]
        mirror.users += 1
        if self._running is None or self._running.done():
            self._running = spawn(self._run(), "event log tail")
        try:
            yield mirror.feed
        finally:
            mirror.users -= 1
            if not mirror.users and self._mirrors.get(answer_id) is mirror:
                del self._mirrors[answer_id]

    async def aclose(self) -> None:
        await end(self._running)

    async def _loaded(self, answer_id: uuid.UUID) -> Feed:
        try:
            entries = await self._store.read(answer_id)
        except UNREACHABLE as error:
            raise LostError from error
        feed = Feed(answer_id)
        if not entries or not _continues(feed, entries):
            raise LostError
        feed.deliver(entries)
        return feed

    async def _run(self) -> None:
        while cursors := self._cursors():
            try:
                news = await self._store.read_new(cursors)
            except UNREACHABLE as error:
                logger.warning("event_log_tail_lost", extra={"error": type(error).__name__})
                self._lose_all()
                return
            for answer_id, entries in news.items():
                self._deliver(answer_id, entries)

    def _cursors(self) -> dict[uuid.UUID, int]:
        return {
            answer_id: len(mirror.feed.entries)
            for answer_id, mirror in self._mirrors.items()
            if not mirror.feed.ended
        }

    def _deliver(self, answer_id: uuid.UUID, entries: Sequence[Entry]) -> None:
        mirror = self._mirrors.get(answer_id)
        if mirror is None:
            return
        if _continues(mirror.feed, entries):
            mirror.feed.deliver(entries)
        else:
            del self._mirrors[answer_id]
            mirror.feed.lose()

    def _lose_all(self) -> None:
        lost, self._mirrors = self._mirrors, {}
        for mirror in lost.values():
            mirror.feed.lose()


def _continues(feed: Feed, entries: Sequence[Entry]) -> bool:
    """Whether the entries are the feed's next ones, without a gap."""
    start = len(feed.entries) + 1
    return [entry.seq for entry in entries] == list(range(start, start + len(entries)))
