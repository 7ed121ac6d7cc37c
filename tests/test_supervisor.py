"""The whole site under its supervisor, as `make run` starts it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from helpcenter.embedded.postgres import Postgres
from tests.processes import answers, free_port, wait_until
from tests.servers import PROJECT, documented_variables

pytestmark = pytest.mark.slow

SAVE = """
from helpcenter.models import SiteSettings
SiteSettings.objects.update_or_create(id=1, defaults={"name": "Kept"})
"""
SHOW = "from helpcenter.models import SiteSettings; print(SiteSettings.load().name)"


class Site:
    """A site on a data folder of its own; `output` is what it has printed so far."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir = data_dir
        self.url = f"http://127.0.0.1:{port}"
        self._log = Path(tempfile.mkstemp(prefix="output.", dir=data_dir.parent)[1])
        inherited = {
            name: value for name, value in os.environ.items() if name not in documented_variables()
        }
        self.environment = {
            **inherited,
            "LOCAL_DEFAULTS": "on",
            "PORT": str(port),
            "HELPCENTER_DATA_DIR": str(data_dir),
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "runhelpcenter"],
                cwd=PROJECT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        return self._log.read_text()

    def wait_until_ready(self) -> None:
        wait_until(
            lambda: answers(f"{self.url}/readyz") or self.process.poll() is not None,
            "the site",
            seconds=120,
        )
        assert self.process.poll() is None, self.output

    def children(self) -> dict[str, psutil.Process]:
        """The processes under the supervisor, by what they are."""
        found: dict[str, psutil.Process] = {}
        marks = {"web": "helpcenter.web", "worker": "worker", "schedule": "beat"}
        for process in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                words = process.cmdline()
                found |= {name: process for name, mark in marks.items() if mark in words}
        return found

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)

    def manage(self, *arguments: str) -> str:
        result = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return result.stdout


@contextmanager
def site(data_dir: Path, port: int | None = None) -> Iterator[Site]:
    started = Site(data_dir, port or free_port())
    try:
        yield started
    finally:
        if started.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                started.stop(signal.SIGTERM)
            started.process.kill()
            started.process.wait()


@pytest.fixture
def open_dir(data_dir: Path) -> Path:
    data_dir.parent.chmod(0o711)
    return data_dir


def processes_on(data_dir: Path) -> list[str]:
    """Whatever still runs with this data folder in its command or environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            if str(data_dir) in " ".join([*process.cmdline(), *process.environ().values()]):
                found.append(" ".join(process.cmdline()))
    return found


def test_it_sets_itself_up_serves_and_ctrl_c_ends_all_of_it_with_the_data_kept(
    open_dir: Path,
) -> None:
    with site(open_dir) as first:
        first.wait_until_ready()
        password = re.search(r"password  (\S+)", first.output)
        assert password
        assert set(first.children()) == {"web", "worker", "schedule"}
        assert "warning" not in first.output.lower()
        # Commands use the servers that run, and leave them running.
        first.manage("shell", "-c", SAVE)
        assert answers(f"{first.url}/readyz")
        assert first.stop(signal.SIGINT) == 0
    assert processes_on(open_dir) == []

    with site(open_dir) as second:
        second.wait_until_ready()
        assert "password" not in second.output
        assert "Kept" in second.manage("shell", "-c", SHOW)
        assert second.stop(signal.SIGTERM) == 0
    assert processes_on(open_dir) == []


def test_it_survives_being_killed_and_what_died_under_it(open_dir: Path) -> None:
    with site(open_dir) as killed:
        killed.wait_until_ready()
        worker = killed.children()["worker"]
        worker.kill()
        wait_until(
            lambda: killed.children().get("worker", worker).pid != worker.pid, "another worker"
        )
        assert "process_ended child=worker" in killed.output
        server = int((open_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGKILL)
        wait_until(lambda: "server_restarted server=postgres" in killed.output, "the database")
        wait_until(lambda: answers(f"{killed.url}/readyz"), "the site with its database")
        killed.process.kill()
        killed.process.wait()
    # Its processes end by themselves; the servers are found and used by the next one.
    with site(open_dir) as following:
        following.wait_until_ready()
        assert following.stop(signal.SIGTERM) == 0
    assert processes_on(open_dir) == []
    with Postgres(open_dir) as postgres, psycopg.connect(postgres.url) as connection:
        assert connection.execute("SELECT count(*) FROM auth_user").fetchone() == (1,)


def test_a_port_in_use_and_a_folder_in_use_are_each_refused_in_one_line(open_dir: Path) -> None:
    with site(open_dir) as running:
        running.wait_until_ready()
        port = int(running.environment["PORT"])
        with site(open_dir.with_name("other"), port) as other:
            assert other.process.wait(60) == 1
            assert other.output == f"PORT: {port} is in use; set PORT to a free one\n"
        with site(open_dir) as twin:
            assert twin.process.wait(60) == 1
            assert twin.output == (
                f"HELPCENTER_DATA_DIR: a site already runs on {open_dir}; choose another folder\n"
            )
        assert answers(f"{running.url}/readyz")
