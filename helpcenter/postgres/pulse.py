"""Whether PostgreSQL answers, for a process in which nobody may wait for ever.

libpq waits as long as the connection stands, and that of a server that is frozen, or behind a
network that swallows, stands for hours. So whoever waits for the server says so here. Where
somebody has waited for a while, the server is asked whether it takes connections, beside them.
If it does not say so, and nobody else got an answer meanwhile, it counts as down: who waits is
freed with an error, who comes is refused at once, until it answers again.

A statement that only takes long disturbs nothing: its server answers.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

import psycopg

TICK_SECONDS = 0.1
OVERDUE_SECONDS = 0.4
"""Who waits as long as this has the server asked."""

ANSWER_SECONDS = 0.8
"""How long the server has to answer. With the wait before it less than the two seconds within
which a visitor is told."""

ASK_AGAIN_SECONDS = 0.5

_FROM_SERVER = ":  "
"""What libpq puts between the severity and the text of a server's message, in any language, and
into no message of its own."""

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")

logger = logging.getLogger(__name__)


class NoAnswerError(psycopg.OperationalError):
    """The database does not answer."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


class Pulse:
    """Of one server. `answers` asks it, and may hang. `overdue` and `patience` are the two waits
    above, in seconds, where they are others."""

    def __init__(
        self,
        answers: Callable[[], bool],
        overdue: float | None = None,
        patience: float | None = None,
    ) -> None:
        self.is_down = False
        self._answers = answers
        self._overdue = OVERDUE_SECONDS if overdue is None else overdue
        self._patience = ANSWER_SECONDS if patience is None else patience
        self._waits: dict[int, float] = {}
        self._numbers = itertools.count()
        self._answered_at = 0.0
        self._ask_at = 0.0
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None

    def check(self) -> None:
        """Raises `NoAnswerError` while the server is down."""
        if self.is_down:
            raise NoAnswerError

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Around every wait for the server. One that ends without an error is a sign of life."""
        if self._watcher is None:
            self._start()
        number = next(self._numbers)
        self._waits[number] = time.monotonic()
        try:
            yield
            self._answered_at = time.monotonic()
        finally:
            del self._waits[number]

    def interruptible(self, steps: Generator[T, R, V]) -> Generator[T, R, V]:
        """The same steps, of which psycopg takes one at least every tenth of a second. Raises
        `NoAnswerError` between two of them when the server has gone down since the first."""
        begun = time.monotonic()
        try:
            step = next(steps)
            while True:
                given = yield step
                if self.is_down and time.monotonic() - begun > self._overdue:
                    steps.close()
                    raise NoAnswerError
                step = steps.send(given)
        except StopIteration as end:
            return cast(V, end.value)

    def look(self) -> None:
        """One look at those who wait, and at the server where one of them has waited for long."""
        now = time.monotonic()
        if now < self._ask_at:
            return
        if self.is_down:
            self._ask_at = now + ASK_AGAIN_SECONDS
            if self._answers_in_time():
                self.is_down = False
                logger.info("database_answers_again")
        elif any(now - begun > self._overdue for begun in list(self._waits.values())):
            self._ask_at = now + ASK_AGAIN_SECONDS
            if not self._answers_in_time() and self._answered_at < now:
                self.is_down = True
                logger.error("database_does_not_answer", extra={"waiting": len(self._waits)})

    def _answers_in_time(self) -> bool:
        found: list[bool] = []
        asking = threading.Thread(
            target=lambda: found.append(self._answers()), name="database-pulse", daemon=True
        )
        asking.start()
        asking.join(self._patience)
        return found == [True]

    def _start(self) -> None:
        with self._lock:
            if self._watcher is None:
                self._watcher = threading.Thread(
                    target=self._watch, name="database-watch", daemon=True
                )
                self._watcher.start()

    def _watch(self) -> None:
        while True:
            time.sleep(TICK_SECONDS)
            self.look()


def answers(conninfo: str, seconds: int = 2) -> bool:
    """Whether the server says anything: that it is full, or starts up, is an answer as well.
    libpq's own `PQping` is no use here: psycopg holds the interpreter's lock while it waits."""
    try:
        psycopg.connect(conninfo, connect_timeout=seconds).close()
    except psycopg.OperationalError as error:
        return _FROM_SERVER in str(error)
    return True
