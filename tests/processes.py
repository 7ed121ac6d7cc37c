"""Real processes of the site, against the test session's database, for tests that need them.

Rows are visible to them only once they are committed: such tests are `transaction=True`.
"""

import os
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self
from urllib.error import URLError
from urllib.parse import quote

from helpcenter.celery import app
from helpcenter.processes import Child
from tests.servers import PROJECT

START_SECONDS = 60.0


def wait_until(condition: Callable[[], object], what: str, seconds: float = START_SECONDS) -> None:
    """Return as soon as `condition()` is true; fail, naming `what` was waited for, if it stays
    false for too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} seconds for {what}")
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def answers(url: str) -> bool:
    """Whether the server at `url` answers with 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def site_environment(**variables: str) -> dict[str, str]:
    """The environment of a process that works on the test database this test sees."""
    from django.db import connection

    database = connection.settings_dict
    name, folder = database["NAME"], quote(str(database["HOST"]), safe="")
    return {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "DATABASE_URL": f"postgresql://{database['USER']}@/{name}?host={folder}",
        **variables,
    }


@contextmanager
def running(name: str, command: list[str], environment: dict[str, str]) -> Iterator[Child]:
    """The process runs inside; it is told to end, and waited for, at the end."""
    child = Child(name, command, environment, grace_seconds=20)
    child.start()
    try:
        yield child
    finally:
        child.end()


class WebProcess:
    """A web server on the test database, with these environment variables, at an address of its
    own. `module`: what it runs."""

    def __init__(self, module: str = "helpcenter.web", **variables: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        environment = site_environment(**{"PORT": str(port), "SITE_URL": self.url, **variables})
        command = [sys.executable, "-m", module]
        self.child = Child("web", command, environment, grace_seconds=20)

    def is_up(self) -> bool:
        return answers(f"{self.url}/healthz")

    @contextmanager
    def running(self) -> Iterator[Self]:
        """It serves inside, and is told to end, and waited for, at the end."""
        self.child.start()
        try:
            wait_until(self.is_up, "the web server")
            yield self
        finally:
            self.child.end()


@contextmanager
def web_process(**variables: str) -> Iterator[str]:
    """A web server with these environment variables; inside, its URL."""
    with WebProcess(**variables).running() as web:
        yield web.url


@contextmanager
def worker_process(**variables: str) -> Iterator[Child]:
    """A Celery worker with these environment variables, ready for tasks."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "helpcenter"]
    options = ["worker", "--concurrency=1", "--without-gossip", "--without-mingle"]
    with running("worker", [*command, *options], site_environment(**variables)) as child:
        wait_until(lambda: app.control.ping(timeout=0.5), "the worker")
        yield child
