"""The connections of a process with a pool: watched, and handed out soon or not at all. Those of
a worker's processes are watched as well, with more patience."""

from __future__ import annotations

import functools
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import pq
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from helpcenter.postgres.pulse import NoAnswerError, Pulse, answers

FIRST_WAIT_SECONDS = 1.0
"""After so long without a connection a request looks whether the server is there at all."""

POOL_SECONDS = 5.0
"""How long a request waits for a connection that others have, before it is told to come again."""

RECONNECT_SECONDS = 1.0
"""How long the pool tries to replace a lost connection by itself. By default it does so for five
minutes, with growing pauses, in which a server that is back is not noticed."""


WORKER_OVERDUE_SECONDS = 5.0
WORKER_PATIENCE_SECONDS = 10.0
"""Nobody looks at what a worker does: it may wait longer, and no busy machine ends its tasks."""

_is_worker = False


def watch_as_a_worker() -> None:
    """From now on this process, which has no pool, watches the connections that it makes."""
    global _is_worker
    _is_worker = True
    pulse_of.cache_clear()


class WatchedConnection(psycopg.Connection[Any]):
    """Waits for the server only as long as that answers anybody."""

    _pulse: Pulse | None = None

    @classmethod
    def connect(cls, conninfo: str = "", **kwargs: Any) -> WatchedConnection:
        connection = super().connect(conninfo, **kwargs)
        connection._pulse = pulse_of(_named(kwargs))
        return connection

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        if self._pulse is None:
            return super().wait(gen, *args, **kwargs)
        try:
            with self._pulse.watching():
                return super().wait(self._pulse.interruptible(gen), *args, **kwargs)
        except NoAnswerError:
            # Its statement is still under way: nobody can use it any more.
            self.close()
            raise


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        pool = self.pool
        if pool is None and not _is_worker:
            return super().get_new_connection(conn_params)
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        if pool is None:
            return WatchedConnection.connect(**conn_params)
        pool.open()
        return _taken(pool, pulse_of(_named(conn_params)))


def _taken(pool: ConnectionPool[Any], pulse: Pulse) -> Any:
    """A connection of the pool. Raises psycopg's `OperationalError`: after a second or so where
    the server is down, after five where all connections are in use."""
    pulse.check()
    failed = _failed_to_connect(pool)
    try:
        with pulse.watching():
            return pool.getconn(timeout=FIRST_WAIT_SECONDS)
    except PoolTimeout:
        pulse.check()
        if _failed_to_connect(pool) > failed:
            raise
    return pool.getconn(timeout=POOL_SECONDS - FIRST_WAIT_SECONDS)


def _failed_to_connect(pool: ConnectionPool[Any]) -> int:
    """How often so far. A server that is stopped or starts up refuses each time."""
    return pool.get_stats().get("connections_errors", 0)


def _named(parameters: dict[str, Any]) -> str:
    """The connection string among all that Django and psycopg pass on."""
    found = {name: value for name, value in parameters.items() if name in _libpq_parameters()}
    return _conninfo(frozenset(found.items()))


@functools.cache
def _conninfo(parameters: frozenset[tuple[str, Any]]) -> str:
    return make_conninfo("", **dict(parameters))


@functools.cache
def _libpq_parameters() -> frozenset[str]:
    return frozenset(option.keyword.decode() for option in pq.Conninfo.get_defaults())


@functools.cache
def pulse_of(conninfo: str) -> Pulse:
    """The one of this process for a server."""
    if _is_worker:
        asking = functools.partial(answers, conninfo, round(WORKER_PATIENCE_SECONDS))
        return Pulse(asking, WORKER_OVERDUE_SECONDS, WORKER_PATIENCE_SECONDS)
    return Pulse(functools.partial(answers, conninfo))
