"""The embedded Valkey: shared, its data kept, never two on the same data."""

import os
import signal
from pathlib import Path

import psutil
import pytest
import redis

from helpcenter.embedded import valkey as module
from helpcenter.embedded.valkey import Valkey
from helpcenter.environment import SettingError
from tests.processes import wait_until


def client(server: Valkey) -> redis.Redis:
    return redis.Redis.from_url(server.url)


def pid_of(server: Valkey) -> int:
    with client(server) as connection:
        return int(connection.info("server")["process_id"])


def test_it_runs_for_as_long_as_it_is_used(data_dir: Path) -> None:
    first, second = Valkey(data_dir), Valkey(data_dir)
    with second:
        with first:
            pid = pid_of(first)
        assert pid_of(second) == pid
    assert not first.is_running()
    assert not psutil.pid_exists(pid)


def test_what_waits_in_it_outlives_a_restart(data_dir: Path) -> None:
    server = Valkey(data_dir)
    with server, client(server) as connection:
        connection.rpush("celery", "a job")
    with server, client(server) as connection:
        assert connection.lrange("celery", 0, -1) == [b"a job"]


def test_a_server_that_was_killed_is_started_again(data_dir: Path) -> None:
    server = Valkey(data_dir)
    with server:
        with client(server) as connection:
            connection.set("key", "value")
            connection.execute_command("WAITAOF", 1, 0, 5000)
        os.kill(pid_of(server), signal.SIGKILL)
        wait_until(lambda: not server.is_running(), "the server's end")
        assert server.ensure_running()
        with client(server) as connection:
            assert connection.get("key") == b"value"


def test_no_second_one_is_started_beside_one_that_is_slow_to_answer(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(module, "START_SECONDS", 0.5)
    server = Valkey(data_dir)
    with server:
        pid = pid_of(server)
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(SettingError, match="REDIS_URL: the embedded Valkey does not"):
                server.ensure_running()
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(server.is_running, "the server's answer")
        assert pid_of(server) == pid


def test_a_path_with_spaces_works(data_dir: Path) -> None:
    with Valkey(data_dir / "a folder, with a name") as server:
        assert isinstance(server, Valkey)
        assert pid_of(server)


def test_a_server_that_ends_at_once_is_named_with_its_log(data_dir: Path) -> None:
    (data_dir / "valkey" / "appendonlydir").mkdir(parents=True)
    manifest = data_dir / "valkey" / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("not a manifest\n")
    with pytest.raises(SettingError, match=r"REDIS_URL: .* does not start; see .*valkey\.log"):
        Valkey(data_dir).acquire()


def test_only_its_owner_may_connect(data_dir: Path) -> None:
    with Valkey(data_dir) as server:
        assert server.socket_path().stat().st_mode & 0o077 == 0
