"""The supervisor: the embedded servers, the web server, the worker and the schedule, as one.

It starts them, starts again what dies (a few times, then it gives up and says so), and on Ctrl-C
or SIGTERM ends them in order: first the processes, which may finish what they are at, then, when
the last one is gone, Valkey and PostgreSQL.
"""

import errno
import fcntl
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.core.management.base import CommandError

from helpcenter import web
from helpcenter.embedded.shared import SharedServer
from helpcenter.environment import SettingError
from helpcenter.processes import Child

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.1
SERVER_CHECK_SECONDS = 5.0
PORT_WAIT_SECONDS = 3.0
# A worker may finish the task it is at; what takes longer is handed out again later.
WORKER_GRACE_SECONDS = 20
# Neither a start nor an import of a thousand articles makes visitors wait.
BEHIND_THE_PAGES = 10


class Supervisor:
    """`servers` are the embedded ones that it holds; `children` are started in their order."""

    def __init__(self, children: Sequence[Child], servers: Sequence[SharedServer]) -> None:
        self._children = children
        self._servers = servers
        self._signals = 0
        self._next_check = 0.0

    def run(self) -> None:
        """Start all of it; return when it was told to stop and everything has ended."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(signal.SIGHUP, self._on_signal)
        try:
            for child in self._children:
                child.start()
            while not self._signals:
                time.sleep(TICK_SECONDS)
                self._check_children()
                self._check_servers()
        finally:
            self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _check_children(self) -> None:
        for child in self._children:
            status = child.exit_status()
            if status is None or self._signals:
                continue
            logger.error("process_ended", extra={"child": child.name, "status": status})
            if not child.may_restart():
                raise CommandError(
                    f"The {child.name} process keeps ending (status {status}); "
                    "see the lines above for its reason."
                )
            child.kill()
            child.start()

    def _check_servers(self) -> None:
        if time.monotonic() < self._next_check:
            return
        for server in self._servers:
            if server.ensure_running():
                logger.error("server_restarted", extra={"server": server.name})
        self._next_check = time.monotonic() + SERVER_CHECK_SECONDS

    def _stop(self) -> None:
        """End the children together. A second signal, or the end of its time, kills a child."""
        patience = self._signals + 1
        started = time.monotonic()
        for child in self._children:
            child.signal(signal.SIGTERM)
        waiting = list(self._children)
        while waiting:
            waiting = [child for child in waiting if child.exit_status() is None]
            for child in waiting:
                if self._signals >= patience or time.monotonic() - started > child.grace_seconds:
                    child.kill()
            time.sleep(TICK_SECONDS)
        for child in self._children:
            child.kill()


def site_children() -> list[Child]:
    """The processes of a site, configured by the settings of this one."""
    environment = child_environment()
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "helpcenter"]
    worker = ["worker", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    turn = settings.ASSISTANT_TURN_SECONDS
    web_grace = turn + web.STORE_SECONDS + web.CLOSE_SECONDS + 5
    return [
        Child("web", [sys.executable, "-m", "helpcenter.web"], environment, web_grace),
        Child("worker", [*celery, *worker], environment, WORKER_GRACE_SECONDS, BEHIND_THE_PAGES),
        Child("schedule", [*celery, "beat", "--pidfile="], environment, 5, BEHIND_THE_PAGES),
    ]


def child_environment() -> dict[str, str]:
    """This process's environment, with what it was left to find out itself spelled out."""
    return {
        **os.environ,
        "PYTHONPATH": str(settings.BASE_DIR),
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "HELPCENTER_DATA_DIR": str(settings.DATA_DIR),
        "SECRET_KEY": settings.SECRET_KEY,
        "ALLOWED_HOSTS": ",".join(settings.ALLOWED_HOSTS),
    }


def claim_port(host: str, port: int) -> None:
    """Make sure that the port is free. A site that was just stopped may need a moment."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    deadline = time.monotonic() + PORT_WAIT_SECONDS
    while True:
        try:
            socket.create_server((host, port), family=family).close()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise SettingError("HOST", f"cannot listen on {host}: {error.strerror}") from None
            if time.monotonic() > deadline:
                raise SettingError("PORT", f"{port} is in use; set PORT to a free one") from None
            time.sleep(TICK_SECONDS)
        else:
            return


@contextmanager
def sole_site(data_dir: Path) -> Iterator[None]:
    """One running site for a data folder: two would run every scheduled job twice."""
    with (data_dir / "site.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingError(
                "HELPCENTER_DATA_DIR", f"a site already runs on {data_dir}; choose another folder"
            ) from None
        yield
