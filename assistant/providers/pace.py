"""How often a process that writes many answers reads each of them on.

Alone, an answer is read word by word. Among many, each is left to collect for a moment between
two readings, and what has come in the meantime is read, stored and delivered as one piece: a
reading costs a process the same for one word as for three. Those who are due in the same tick
are read one after the other, so their words go into the log together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

TICK_SECONDS = 0.037
"""With 300 answers of 25 words a second, nineteen of twenty gaps between two pieces are at most
46 ms longer than the model's own; ticks of 40 ms made that 52 (`bench/turns.py`)."""

STREAMS_PER_TICK = 20
"""For so many streams more, each of them rests a tick longer."""

MOST_TICKS = 2
"""What is shown in thirteen steps a second still flows; a longer rest would be seen."""

_paces: WeakKeyDictionary[asyncio.AbstractEventLoop, Pace] = WeakKeyDictionary()


class Pace:
    """The streams of an event loop: `Pace.current()`."""

    def __init__(self) -> None:
        self._streams = 0
        self._ticks = 0
        self._resting: dict[int, list[asyncio.Future[None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def current(cls) -> Pace:
        return _paces.setdefault(asyncio.get_running_loop(), cls())

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Inside, there is one stream more."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    async def rest(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets a stream collect. With few streams it returns at once. `loop`: the running one, for
        which to ask is a system call."""
        ticks = min(self._streams // STREAMS_PER_TICK, MOST_TICKS)
        if not ticks:
            return
        if self._timer is None:
            self._timer = loop.call_later(TICK_SECONDS, self._tick, loop)
        waiter = loop.create_future()
        self._resting.setdefault(self._ticks + ticks, []).append(waiter)
        await waiter

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ticks += 1
        for waiter in self._resting.pop(self._ticks, ()):
            if not waiter.done():
                waiter.set_result(None)
        self._timer = None
        if self._resting:
            self._timer = loop.call_later(TICK_SECONDS, self._tick, loop)
