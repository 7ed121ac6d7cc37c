"""Append, then deliver: how a turn's events get into the log and to this process's followers.

Every turn of the process has a `Writer`; one `Flusher` takes what all of them have, appends
it to Valkey in one round trip, and only then delivers it. The first word of an answer and
its beginnings and ends go at once, more words every 20 ms at most. While Valkey is down,
delivery is direct; when it is back, it is given what it missed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from assistant.background import end, spawn
from assistant.eventlog.feed import Entry, Feed
from assistant.eventlog.notes import NOTHING, Note
from assistant.eventlog.store import UNREACHABLE, Store
from assistant.events import Delta, Event, payload

Batch = Sequence[tuple["Writer", list[Entry]]]

PAUSE_SECONDS = 0.02
PROBE_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Writer:
    """The writing end of an answer's feed; its turn is the only one who has it."""

    def __init__(self, answer_id: uuid.UUID, flusher: Flusher) -> None:
        self.feed = Feed(answer_id)
        self.stored = 0
        self._flusher = flusher
        self._pending: list[tuple[Event, Note]] = []
        self._has_words = False

    def append(self, event: Event, note: Note = NOTHING) -> None:
        """Hands an event over; it gets its `seq` and goes out with the next flush."""
        urgent = not isinstance(event, Delta) or not self._has_words
        if isinstance(event, Delta):
            self._append_delta(event, note)
        else:
            self._pending.append((event, note))
        self._flusher.schedule(self, urgent)

    def complete_text(self) -> None:
        """No more words will come: says so to renderers, with an empty delta where need be."""
        if self._has_words:
            self.append(Delta(""), Note(complete=True))

    async def settle(self) -> int:
        """Waits until everything appended so far is out. Returns the last `seq`."""
        await self._flusher.settle(self)
        return len(self.feed.entries)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def take(self) -> list[Entry]:
        """What is pending, as the entries that follow the feed's."""
        first = len(self.feed.entries) + 1
        entries = [
            Entry(seq, event.type, encoded(event), note.encode())
            for seq, (event, note) in enumerate(self._pending, start=first)
        ]
        self._pending = []
        return entries

    def lacking(self, entries: list[Entry]) -> list[Entry]:
        """Which of the feed's entries, and of these that follow them, Valkey lacks."""
        ahead = self.stored - len(self.feed.entries)
        return entries[ahead:] if ahead >= 0 else self.feed.entries[self.stored :] + entries

    def _append_delta(self, delta: Delta, note: Note) -> None:
        """Words that wait together go out as one delta."""
        self._has_words = True
        earlier, said = self._pending[-1] if self._pending else (None, NOTHING)
        if isinstance(earlier, Delta):
            self._pending.pop()
            delta, note = Delta(earlier.text + delta.text), said + note
        self._pending.append((delta, note))


class Flusher:
    """Flushes all writers of an event loop. `on_taken` hears of answers that another process
    has ended meanwhile: their turns have to give up."""

    def __init__(self, store: Store, on_taken: Callable[[uuid.UUID], None]) -> None:
        self.is_direct = False
        self._store = store
        self._on_taken = on_taken
        self._dirty: dict[Writer, None] = {}
        self._behind: set[Writer] = set()
        self._work = asyncio.Event()
        self._urgent = asyncio.Event()
        self._flushed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._probing: asyncio.Task[None] | None = None

    def schedule(self, writer: Writer, urgent: bool) -> None:
        self._dirty[writer] = None
        self._work.set()
        if urgent:
            self._urgent.set()
        if self._running is None or self._running.done():
            self._running = spawn(self._run(), "event log flusher")

    async def settle(self, writer: Writer) -> None:
        while writer in self._dirty:
            self._urgent.set()
            await self._flushed.wait()

    async def aclose(self) -> None:
        await end(self._running, self._probing)

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            self._urgent.clear()
            await self._flush()
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._urgent.wait()

    async def _flush(self) -> None:
        batch = [(writer, writer.take()) for writer in self._dirty]
        if not self.is_direct:
            await self._append(batch)
        for writer, entries in batch:
            if not writer.feed.lost:
                writer.feed.deliver(entries)
            if not writer.has_pending:
                del self._dirty[writer]
        self._note_behind(writer for writer, _entries in batch)
        flushed, self._flushed = self._flushed, asyncio.Event()
        flushed.set()

    def _note_behind(self, writers: Iterable[Writer]) -> None:
        """Of a turn that goes on, Valkey is given what it missed as soon as it is back: its next
        word may be long in coming. Of one that has ended, the database has the last word."""
        if self.is_direct:
            self._behind.update(writers)
            self._behind = {writer for writer in self._behind if not writer.feed.ended}

    async def _append(self, batch: Batch) -> None:
        try:
            behind = await self._stored(batch)
            for writer, _entries in await self._stored(behind):
                self._on_taken(writer.feed.answer_id)
        except UNREACHABLE as error:
            logger.warning("event_log_direct", extra={"error": type(error).__name__})
            self.is_direct = True
            self._probing = spawn(self._probe(), "event log probe")

    async def _stored(self, batch: Batch) -> Batch:
        """Stores what Valkey lacks of each answer. Returns those of which it had something else
        than was thought: after another look at what it has, they are worth another try."""
        missing = [(writer.feed.answer_id, writer.lacking(entries)) for writer, entries in batch]
        refused = await self._store.append([pair for pair in missing if pair[1]])
        behind = []
        for writer, entries in batch:
            if writer.feed.answer_id not in refused:
                writer.stored = len(writer.feed.entries) + len(entries)
            else:
                writer.stored = await self._found(writer, entries)
                behind.append((writer, entries))
        return behind

    async def _found(self, writer: Writer, entries: list[Entry]) -> int:
        """Up to which entry Valkey has this writer's events: a write whose reply was lost counts,
        a stream that was lost begins anew."""
        last = await self._store.last(writer.feed.answer_id)
        if last is None:
            return 0
        ours = [*writer.feed.entries, *entries]
        return last.seq if last in ours[last.seq - 1 : last.seq] else writer.stored

    async def _probe(self) -> None:
        while self.is_direct:
            await asyncio.sleep(PROBE_SECONDS)
            with suppress(*UNREACHABLE):
                await self._store.ping()
                self.is_direct = False
                logger.info("event_log_recovered")
        behind, self._behind = self._behind, set()
        for writer in behind:
            self.schedule(writer, urgent=True)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encoded(event: Event) -> str:
    """The event's JSON object. What is no character at all is replaced: one bad event must not
    keep those of other answers from being stored."""
    body = _encode(payload(event))
    return body if body.isascii() else body.encode("utf-8", "replace").decode("utf-8")
