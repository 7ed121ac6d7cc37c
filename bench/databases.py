"""Databases of benches: built once, kept in the cache folder, used again.

Servers run with the settings of a real site. A database is known by what it was built
of; a build that was interrupted starts anew.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.corpora import load_average
from helpcenter.embedded.postgres import Postgres
from tests.servers import TestServers, set_environment

Figures = dict[str, Any]


@contextmanager
def servers(cache: Path) -> Iterator[None]:
    """PostgreSQL and Valkey in the cache folder, and Django set up to use them."""
    cache.mkdir(parents=True, exist_ok=True)
    cache.chmod(0o711)
    both = TestServers(cache)
    both.postgres = Postgres(cache)
    with both.postgres, both.valkey:
        set_environment(both)
        os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"
        import django

        django.setup()
        yield


@contextmanager
def passing() -> Iterator[None]:
    """The same with an empty database, in a temporary folder that goes with it."""
    both = TestServers.start()
    try:
        os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
    finally:
        both.stop()


def use(
    name: str, version: str, build: Callable[[], Figures], cache: Path, *, anew: bool = False
) -> Figures:
    """Make `name` the database of this process, built of `version`; where it is not there, build
    it. Returns the figures that its build gave, `load` and `seconds` among them."""
    note = cache / f"{name}.json"
    built = json.loads(note.read_text()) if note.exists() else {}
    is_there = not anew and built.get("version") == version and _exists(name)
    if not is_there:
        note.unlink(missing_ok=True)
        _create(name)
    _connect_to(name)
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    if is_there:
        return dict(built["figures"])
    print(f"building the database {name} ...", file=sys.stderr)
    began = time.perf_counter()
    figures = build()
    figures |= {"seconds": time.perf_counter() - began, "load": load_average()}
    note.write_text(json.dumps({"version": version, "figures": figures}))
    return figures


def _exists(name: str) -> bool:
    from django.db import connection

    _connect_to("postgres")
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [name])
        return cursor.fetchone() is not None


def _create(name: str) -> None:
    from django.db import connection
    from psycopg import sql

    _connect_to("postgres")
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _connect_to(name: str) -> None:
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = name


def environment() -> dict[str, str]:
    """The environment for a process of the site on the database in use."""
    from django.db import connection

    name = connection.settings_dict["NAME"]
    url = os.environ["DATABASE_URL"].replace("/helpcenter?", f"/{name}?")
    return {**os.environ, "DATABASE_URL": url}
