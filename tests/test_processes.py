"""A process under the supervisor: its group, its end, its restarts."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from helpcenter.processes import RESTARTS, WINDOW_SECONDS, Child
from tests.processes import wait_until

WAIT = "import signal; signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); signal.pause()"
PARENT = """
import subprocess, sys, signal
from pathlib import Path
grandchild = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
Path(sys.argv[1]).write_text(str(grandchild.pid))
signal.pause()
"""


def child(script: str, *arguments: str, grace_seconds: float = 20) -> Child:
    command = [sys.executable, "-c", script, *arguments]
    return Child("example", command, dict(os.environ), grace_seconds)


@pytest.fixture
def waiting() -> Iterator[Child]:
    process = child(WAIT)
    process.start()
    yield process
    process.kill()


def test_it_runs_until_it_is_told_to_end(waiting: Child) -> None:
    assert waiting.exit_status() is None
    waiting.end()
    assert waiting.exit_status() == -signal.SIGTERM


def test_it_has_a_group_of_its_own_that_a_terminal_does_not_interrupt(waiting: Child) -> None:
    assert waiting.pid
    assert os.getpgid(waiting.pid) == waiting.pid
    assert os.getsid(waiting.pid) != os.getsid(0)


def test_one_that_does_not_end_in_its_time_is_killed() -> None:
    process = child(STUBBORN, grace_seconds=0.1)
    process.start()
    process.end()
    assert process.exit_status() in {-signal.SIGKILL, -signal.SIGTERM}


def test_killing_it_kills_what_it_has_started(tmp_path: Path) -> None:
    process = child(PARENT, str(tmp_path / "pid"))
    process.start()
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "its child")
    grandchild = psutil.Process(int((tmp_path / "pid").read_text()))
    process.kill()
    wait_until(lambda: not is_alive(grandchild), "the grandchild's end")


def is_alive(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)


def test_before_it_was_started_it_can_be_ended_and_killed() -> None:
    process = child(WAIT)
    assert process.exit_status() is None
    assert process.pid is None
    process.end()
    process.kill()


def test_it_may_die_a_few_times_but_not_often_within_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("helpcenter.processes.time.monotonic", lambda: now)
    process = child(WAIT)
    for _ in range(RESTARTS - 1):
        assert process.may_restart()
    assert not process.may_restart()
    now = 2 * WINDOW_SECONDS
    assert process.may_restart()


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process of its parent's end"
)
def test_it_ends_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys
from pathlib import Path
from helpcenter.processes import Child
child = Child("example", [sys.executable, "-c", {WAIT!r}], dict(os.environ), 20)
child.start()
Path(sys.argv[1]).write_text(str(child.pid))
signal.pause()
"""
    supervisor = child(script, str(tmp_path / "pid"))
    supervisor.start()
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "its child")
    orphan = psutil.Process(int((tmp_path / "pid").read_text()))
    supervisor.kill()
    wait_until(lambda: not is_alive(orphan), "the orphan's end")


def test_it_can_be_put_behind_others() -> None:
    command = [sys.executable, "-c", WAIT]
    process = Child("example", command, dict(os.environ), 20, niceness=3)
    process.start()
    assert process.pid
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 3
    process.end()
