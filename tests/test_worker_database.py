"""A worker's process does not wait without an end for a PostgreSQL that is frozen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import signals
from django.db import OperationalError, connection

from helpcenter.postgres import base
from helpcenter.postgres.base import DatabaseWrapper, WatchedConnection
from tests.failing_servers import Wire

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process is one of a worker, whose patience is short."""
    monkeypatch.setattr(base, "_is_worker", False)
    monkeypatch.setattr(base, "WORKER_OVERDUE_SECONDS", 0.2)
    monkeypatch.setattr(base, "WORKER_PATIENCE_SECONDS", 0.6)
    signals.worker_process_init.send(sender=None)
    yield
    base.pulse_of.cache_clear()


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Wire(f"{connection.settings_dict['HOST']}/.s.PGSQL.5432") as wire:
        yield wire


@pytest.fixture
def database(wire: Wire) -> Iterator[DatabaseWrapper]:
    """A connection of its own that leads through the wire."""
    own: dict[str, Any] = {**connection.settings_dict, "HOST": "127.0.0.1", "PORT": str(wire.port)}
    database = DatabaseWrapper(own, "default")
    yield database
    database.close()


def execute(database: DatabaseWrapper, statement: str) -> object:
    with database.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()


def test_a_frozen_server_is_noticed_and_taken_up_again(
    worker: None, wire: Wire, database: DatabaseWrapper
) -> None:
    assert execute(database, "SELECT 1") == (1,)
    assert isinstance(database.connection, WatchedConnection)
    wire.fail("freeze")
    begun = time.monotonic()
    with pytest.raises(OperationalError, match="does not answer"):
        execute(database, "SELECT 2")
    assert time.monotonic() - begun < 5
    wire.mend()
    database.close()
    assert execute(database, "SELECT 3") == (3,)


def test_a_statement_that_takes_long_is_not_ended(worker: None, database: DatabaseWrapper) -> None:
    assert execute(database, "SELECT 1 FROM pg_sleep(1.2)") == (1,)


def test_a_command_is_not_watched(database: DatabaseWrapper) -> None:
    execute(database, "SELECT 1")
    assert not isinstance(database.connection, WatchedConnection)
