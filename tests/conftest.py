"""The ground under every test: real servers, a closed network, clean state, and a cast."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from psycopg.errors import DeadlockDetected

import tests.profiles  # noqa: F401 - loads Hypothesis' profile
from tests.processes import site_environment, wait_until, web_process, worker_process
from tests.servers import PROJECT, TestServers, use_own_valkey_database

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from helpcenter.processes import Child
    from tests.scripted_provider import ScriptedProvider

# Pages of tests name their assets without the hashes that collecting them gives.
PLAIN_STORAGE = "django.contrib.staticfiles.storage.StaticFilesStorage"
FLUSH_TRIES = 3
KEPT_TABLES = {"django_content_type", "auth_permission"}
NEVER = -1
"""What Valkey says of the time that is left to a key that does not expire."""
QUEUE = (b"celery", b"unacked")
"""What waits in the queue of tasks, and what a worker has taken out and not finished."""
SERVERS = pytest.StashKey[TestServers]()


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment, then let pytest-django find configured settings."""
    if hasattr(config, "workerinput"):
        use_own_valkey_database(config.workerinput["workerid"])
    else:
        config.stash[SERVERS] = TestServers.start()
    os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"
    from django.conf import settings

    assert os.environ["REDIS_URL"] == settings.REDIS_URL
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    # Not for xdist's workers to inherit: they would read the settings before they come by here.
    del os.environ["DJANGO_SETTINGS_MODULE"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES["staticfiles"]["BACKEND"] = PLAIN_STORAGE


def pytest_unconfigure(config: pytest.Config) -> None:
    if SERVERS in config.stash:
        config.stash[SERVERS].stop()


@pytest.fixture(autouse=True, scope="session")
def closed_network() -> Iterator[None]:
    """Nothing but this machine can be reached: a test that tries fails."""
    connect = socket.socket.connect
    connect_ex = socket.socket.connect_ex

    def guarded(sock: socket.socket, address: Any) -> None:
        refuse_outside(sock, address)
        connect(sock, address)

    def guarded_ex(sock: socket.socket, address: Any) -> int:
        refuse_outside(sock, address)
        return connect_ex(sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        patch.setattr(socket.socket, "connect_ex", guarded_ex)
        yield


def refuse_outside(sock: socket.socket, address: Any) -> None:
    if sock.family == socket.AF_UNIX:
        return
    host = address[0]
    if host != "localhost" and host != "::1" and not host.startswith("127."):
        sock.close()
        pytest.fail(f"A test tried to reach {host}, outside this machine.")


@pytest.fixture(autouse=True, scope="session")
def tables_emptied_in_peace() -> Iterator[None]:
    """Tables are emptied when the site's own processes have come to rest.

    Each locks tables in an order of its own, so the emptying and the last write of a turn
    could wait for each other. Postgres then ends one of the two. What a process remembers by
    its id for ever, as Django does the content types, is kept.
    """
    from django.db.backends.postgresql.operations import DatabaseOperations
    from django.db.utils import OperationalError

    empty = DatabaseOperations.execute_sql_flush

    def patiently(operations: Any, sql_list: list[str]) -> None:
        for tries_left in reversed(range(FLUSH_TRIES)):
            wait_until(lambda: _others_rest(operations.connection), "the database to come to rest")
            try:
                empty(operations, sql_list)
            except OperationalError as error:
                if not tries_left or not isinstance(error.__cause__, DeadlockDetected):
                    raise
            else:
                return

    flush = DatabaseOperations.sql_flush

    def sparingly(operations: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        emptied = [table for table in tables if table not in KEPT_TABLES]
        return list(flush(operations, style, emptied, **options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", patiently)
        patch.setattr(DatabaseOperations, "sql_flush", sparingly)
        yield


def _others_rest(connection: Any) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            " AND state <> 'idle'"
        )
        return bool(cursor.fetchone()[0] == 0)


@pytest.fixture(scope="session")
def valkey_client() -> Iterator[redis.Redis]:
    from django.conf import settings

    with redis.Redis.from_url(settings.REDIS_URL) as client:
        yield client


@pytest.fixture(autouse=True)
def clean_valkey(valkey_client: redis.Redis) -> Iterator[None]:
    """Nothing in Valkey outlives a test, but Celery's routing, which a running worker relies on.
    Whatever the test left there would have gone by itself, but the queue of tasks."""
    yield
    keys = [key for key in valkey_client.scan_iter() if not key.startswith(b"_kombu")]
    if keys:
        lasting = [key for key in keys if valkey_client.ttl(key) == NEVER]
        valkey_client.delete(*keys)
        assert [key for key in lasting if not key.startswith(QUEUE)] == [], "every key expires"


@pytest.fixture
def worker(django_db_setup: None) -> Iterator["Child"]:
    """A real Celery worker on the test database, for `transaction=True` tests.

    It ends with its test: one that lived on would take up what later tests hand out,
    in the middle of the emptying of their tables.
    """
    with worker_process() as child:
        yield child


@pytest.fixture(scope="session")
def collected_assets(django_db_setup: None) -> None:
    """What `{% static %}` names in a real web process."""
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    subprocess.run(command, check=True, cwd=PROJECT, env=site_environment())


@pytest.fixture(scope="session")
def live_site(collected_assets: None) -> Iterator[str]:
    """The URL of a real web process on the test database, for `transaction=True` tests.

    For one with other settings, call `tests.processes.web_process(NAME="value")`.
    """
    with web_process() as url:
        yield url


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty folder for embedded servers: its parents are open, its path is short."""
    with tempfile.TemporaryDirectory(prefix="helpcenter-data-") as name:
        yield Path(name) / "data"


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    """An empty folder for uploaded and imported files."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return tmp_path / "media"


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with corpora and cases that some tests measure against, where there is one."""
    folder = PROJECT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the corpora and cases beside the checkout, in ../shared")
    return folder


@pytest.fixture
def owner(db: None) -> "User":
    """The signed-in person whose things a test is about."""
    return _user("owner")


@pytest.fixture
def stranger(db: None) -> "User":
    """Another signed-in person, who may not see them."""
    return _user("stranger")


@pytest.fixture
def staff(db: None) -> "User":
    """A colleague with every permission."""
    return _user("staff", is_staff=True, is_superuser=True)


@pytest.fixture
def staff_client(staff: "User") -> "Client":
    """A browser in which the colleague with every permission is signed in."""
    from django.test import Client

    client = Client()
    client.force_login(staff)
    return client


def _user(name: str, **flags: bool) -> "User":
    from django.contrib.auth.models import User

    return User.objects.create_user(name, f"{name}@example.com", "a password of tests", **flags)


@pytest.fixture
def provider(settings: Any, request: pytest.FixtureRequest) -> Iterator["ScriptedProvider"]:
    """The model that answers: a server on this machine that follows the test's script."""
    from tests.leaks import assert_people_stay_apart
    from tests.scripted_provider import ScriptedProvider

    with ScriptedProvider() as server:
        settings.OPENAI_BASE_URL = server.url
        settings.ASSISTANT_MODEL = "scripted"
        yield server
        if request.node.get_closest_marker("django_db"):
            assert_people_stay_apart(server.requests)
