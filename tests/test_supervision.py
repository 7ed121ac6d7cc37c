"""The supervisor's decisions: what is started again, when it gives up, in which order it ends."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from helpcenter import supervisor as module
from helpcenter.environment import SettingError
from helpcenter.processes import RESTARTS, Child
from helpcenter.supervisor import Supervisor, claim_port, site_children, sole_site

FAIL = "raise SystemExit(3)"
STOP = "import os, signal, sys; os.kill(int(sys.argv[1]), signal.SIGTERM); signal.pause()"
STUBBORN = (
    "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "os.kill(int(sys.argv[1]), signal.SIGTERM); signal.pause()"
)
# Tells the supervisor to stop, and once more when it is itself told to end.
STUBBORN_TWICE = """
def again(number, frame):
    os.kill(int(sys.argv[1]), signal.SIGINT)

signal.signal(signal.SIGTERM, again)
os.kill(int(sys.argv[1]), signal.SIGTERM)
while True:
    signal.pause()
"""


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """The signal handlers of the test session come back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def child(script: str, grace_seconds: float = 20) -> Child:
    command = [sys.executable, "-c", script, str(os.getpid())]
    return Child("example", command, dict(os.environ), grace_seconds)


def test_a_process_that_keeps_ending_is_started_a_few_times_and_then_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(CommandError, match=r"The example process keeps ending \(status 3\)"):
        Supervisor([child(FAIL)], []).run()
    assert caplog.text.count("process_ended") == RESTARTS


def test_sigterm_ends_the_processes_and_the_run() -> None:
    process = child(STOP)
    Supervisor([process], []).run()
    assert process.exit_status() == -signal.SIGTERM


def test_a_process_that_does_not_end_in_its_time_is_killed() -> None:
    process = child(STUBBORN, grace_seconds=0.2)
    Supervisor([process], []).run()
    assert process.exit_status() == -signal.SIGKILL


def test_a_second_signal_does_not_wait() -> None:
    process = child(f"import os, signal, sys\n{STUBBORN_TWICE}")
    started = time.monotonic()
    Supervisor([process], []).run()
    assert process.exit_status() == -signal.SIGKILL
    assert time.monotonic() - started < process.grace_seconds


def test_a_port_in_use_is_refused_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORT_WAIT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingError, match=f"PORT: {port} is in use"):
            claim_port("127.0.0.1", port)
    claim_port("127.0.0.1", port)


def test_a_host_that_is_not_this_machines_is_refused() -> None:
    with pytest.raises(SettingError, match=r"HOST: cannot listen on 203\.0\.113\.1"):
        claim_port("203.0.113.1", 0)


def test_an_ipv6_address_can_be_listened_on() -> None:
    claim_port("::1", 0)


def test_one_data_folder_has_one_site(tmp_path: Path) -> None:
    refused = pytest.raises(SettingError, match="HELPCENTER_DATA_DIR: a site already runs on")
    with sole_site(tmp_path), refused, sole_site(tmp_path):
        pass
    with sole_site(tmp_path):
        pass


def test_a_site_is_a_web_server_a_worker_and_a_schedule() -> None:
    assert [process.name for process in site_children()] == ["web", "worker", "schedule"]
