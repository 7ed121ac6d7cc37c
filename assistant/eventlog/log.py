"""The event log of a process: who writes here, who follows here, wherever the turn runs."""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing, suppress

from assistant.background import end, spawn
from assistant.eventlog.feed import Entry, Feed
from assistant.eventlog.html import html_feed
from assistant.eventlog.store import Store
from assistant.eventlog.tail import Tail
from assistant.eventlog.writing import Flusher, Writer

HEARTBEAT_SECONDS = 10.0
"""After so long without an event followers get an empty batch."""

_logs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, EventLog] = weakref.WeakKeyDictionary()


class EventLog:
    """One per event loop: `EventLog.current()`."""

    def __init__(self) -> None:
        self.store = Store()
        self._tail = Tail(self.store)
        self._flusher = Flusher(self.store, self._give_up)
        self._writers: dict[uuid.UUID, Writer] = {}
        self._on_taken: dict[uuid.UUID, Callable[[], None]] = {}
        self._pulse: asyncio.Task[None] | None = None
        self._lifetime: AsyncGenerator[None, None] | None = None

    @classmethod
    def current(cls) -> EventLog:
        loop = asyncio.get_running_loop()
        if loop not in _logs:
            log = _logs[loop] = cls()
            log._end_with_loop()
        return _logs[loop]

    def open(self, answer_id: uuid.UUID, on_taken: Callable[[], None]) -> Writer:
        """The writing end for a turn that begins in this process; `close` it.

        `on_taken` is called when another process has ended the answer in the meantime.
        """
        writer = self._writers[answer_id] = Writer(answer_id, self._flusher)
        self._on_taken[answer_id] = on_taken
        return writer

    def close(self, writer: Writer) -> None:
        """The turn is over: whoever comes now reads what was stored."""
        answer_id = writer.feed.answer_id
        if self._writers.pop(answer_id, None) is not None:
            del self._on_taken[answer_id]
            if not writer.feed.ended:
                writer.feed.lose()

    def is_written_here(self, answer_id: uuid.UUID) -> bool:
        return answer_id in self._writers

    async def follow(
        self, answer_id: uuid.UUID, after: int = 0, *, html: bool = False
    ) -> AsyncGenerator[list[Entry], None]:
        """Batches of the answer's entries after `after` up to its end, see `Feed.follow`.

        `html`: deltas come as `html` events. Raises `LostError`.
        """
        if self._pulse is None or self._pulse.done():
            self._pulse = spawn(self._wake_idle(), "event log pulse")
        async with AsyncExitStack() as stack:
            writer = self._writers.get(answer_id)
            feed = (
                writer.feed
                if writer is not None
                else await stack.enter_async_context(self._tail.mirror(answer_id))
            )
            source = html_feed(feed) if html else feed
            async with aclosing(source.follow(after)) as batches:
                async for batch in batches:
                    yield batch

    async def entries(self, answer_id: uuid.UUID) -> list[Entry]:
        """The answer's entries so far. Raises `LostError`."""
        writer = self._writers.get(answer_id)
        if writer is not None:
            return list(writer.feed.entries)
        async with self._tail.mirror(answer_id) as feed:
            return list(feed.entries)

    async def aclose(self) -> None:
        """Ends the log's tasks and connections, for a loop that is about to close."""
        await end(self._pulse)
        await self._flusher.aclose()
        await self._tail.aclose()
        await self.store.aclose()
        _logs.pop(asyncio.get_running_loop(), None)

    def _end_with_loop(self) -> None:
        """A loop that closes ends its generators first, and with this one the log."""

        async def lifetime() -> AsyncGenerator[None, None]:
            try:
                yield
            finally:
                await self.aclose()

        self._lifetime = lifetime()
        with suppress(StopIteration):
            self._lifetime.__anext__().send(None)

    def _give_up(self, answer_id: uuid.UUID) -> None:
        writer = self._writers.get(answer_id)
        if writer is not None:
            on_taken = self._on_taken[answer_id]
            self.close(writer)
            on_taken()

    async def _wake_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1)
            for feed in self._feeds():
                feed.wake_idle(loop.time() - HEARTBEAT_SECONDS)

    def _feeds(self) -> list[Feed]:
        return [*(writer.feed for writer in self._writers.values()), *self._tail.feeds()]
