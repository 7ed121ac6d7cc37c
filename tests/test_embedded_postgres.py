"""The embedded PostgreSQL: shared, crash-safe, and nobody's folders opened."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from helpcenter.embedded import installation
from helpcenter.embedded import postgres as module
from helpcenter.embedded.postgres import Postgres
from helpcenter.environment import SettingError
from tests.processes import wait_until
from tests.servers import FAST, PROJECT

pytestmark = pytest.mark.slow

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about running as root")

USE = """
import sys, time
from pathlib import Path
import psycopg
from helpcenter.embedded.postgres import Postgres
with Postgres(Path(sys.argv[1])) as server:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        connection.execute("CREATE TABLE IF NOT EXISTS notes (text text)")
        connection.execute("INSERT INTO notes VALUES ('kept')")
    print("ready", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def open_data_dir(data_dir: Path) -> None:
    data_dir.parent.chmod(0o711)


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A data folder with a new cluster, for tests that are not about making one."""
    with tempfile.TemporaryDirectory(prefix="helpcenter-data-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        with Postgres(folder / "data"):
            pass
        yield folder / "data"


@pytest.fixture
def used_dir(data_dir: Path, template: Path) -> Path:
    """A data folder that was used before."""
    subprocess.run(["cp", "--archive", str(template), str(data_dir)], check=True)
    return data_dir


def use(data_dir: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that uses the server for so many seconds."""
    return subprocess.Popen(
        [sys.executable, "-c", USE, str(data_dir), str(seconds)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def notes(server: Postgres) -> int:
    with psycopg.connect(server.url) as connection:
        row = connection.execute("SELECT count(*) FROM notes").fetchone()
        assert row
        return int(row[0])


def server_processes(data_dir: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(data_dir / "postgres") in (process.info["cmdline"] or [])
    ]


def test_it_runs_for_as_long_as_it_is_used_and_knows_vectors(data_dir: Path) -> None:
    server = Postgres(data_dir)
    with server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,3]'").fetchone() == (1.0,)
        megabytes = module.buffer_megabytes(psutil.virtual_memory().total)
        sizes = connection.execute("SELECT pg_size_bytes(current_setting('shared_buffers'))")
        assert sizes.fetchone() == (megabytes * 1024**2,)
    assert not server.is_running()
    assert server_processes(data_dir) == []


@pytest.mark.parametrize(("gigabytes", "megabytes"), [(0.25, 128), (1, 256), (2, 512), (64, 512)])
def test_its_pages_may_fill_a_quarter_of_the_memory_within_bounds(
    gigabytes: float, megabytes: int
) -> None:
    assert module.buffer_megabytes(int(gigabytes * 1024**3)) == megabytes


def test_the_last_user_stops_it(used_dir: Path) -> None:
    first, second = Postgres(used_dir), Postgres(used_dir)
    first.acquire()
    second.acquire()
    first.release()
    assert second.is_running()
    second.release()
    assert not second.is_running()


def test_processes_that_start_at_once_share_one_server(data_dir: Path) -> None:
    processes = [use(data_dir, seconds=0.2) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    for process in processes:
        process.communicate()
    assert server_processes(data_dir) == []
    with Postgres(data_dir) as server:
        assert isinstance(server, Postgres)
        assert notes(server) == 3


def test_a_server_whose_user_was_killed_is_found_and_used(used_dir: Path) -> None:
    process = use(used_dir, seconds=600)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    server = Postgres(used_dir)
    assert server.is_running()
    with server:
        assert notes(server) == 1
    assert not server.is_running()


def test_a_server_that_was_killed_is_started_again_with_its_data(used_dir: Path) -> None:
    server = Postgres(used_dir)
    with server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE notes AS SELECT 'kept' AS text")
        assert not server.ensure_running()
        pid = int((used_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not server.is_running(), "the server's end")
        assert server.ensure_running()
        assert notes(server) == 1


def test_a_pid_file_that_names_another_process_is_no_obstacle(used_dir: Path) -> None:
    server = Postgres(used_dir)
    with server:
        pass
    # PostgreSQL believes the number of any process that it may signal.
    stranger = subprocess.Popen(["sleep", "600"], **server._identity())
    (used_dir / "postgres" / "postmaster.pid").write_text(f"{stranger.pid}\n{used_dir}\n")
    with server:
        assert server.is_running()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_cluster_that_was_not_finished_is_made_anew(data_dir: Path) -> None:
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    data_dir.chmod(0o711)
    with Postgres(data_dir) as server:
        assert server.is_running()


def test_a_cluster_of_another_version_is_refused_with_the_command_that_moves_it(
    data_dir: Path,
) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "PG_VERSION").write_text("16\n")
    data_dir.chmod(0o711)
    with pytest.raises(SettingError, match=r"PostgreSQL 16.*manage\.py upgrade_database"):
        Postgres(data_dir).acquire()
    # Refusing it, the process gave up its claim.
    with Postgres(data_dir).out_of_use() as unused:
        assert unused


def test_a_folder_with_an_unusual_name_works(data_dir: Path) -> None:
    with Postgres(data_dir.with_name("it's a folder"), options=FAST) as server:
        assert server.is_running()
        psycopg.connect(server.url).close()


@pytest.mark.parametrize("name", ["a,b", 'a"b'])
def test_a_folder_that_postgres_cannot_name_is_refused(data_dir: Path, name: str) -> None:
    with pytest.raises(SettingError, match=r"HELPCENTER_DATA_DIR: .* comma or a quotation mark"):
        Postgres(data_dir / name).acquire()
    assert not data_dir.exists()


def test_a_path_that_is_too_long_for_a_socket_is_refused(data_dir: Path) -> None:
    deep = data_dir / ("d" * 100)
    with pytest.raises(SettingError, match=r"HELPCENTER_DATA_DIR: .* bytes too long"):
        Postgres(deep).acquire()
    assert not data_dir.exists()


def test_two_data_folders_run_side_by_side(used_dir: Path) -> None:
    one, two = Postgres(used_dir), Postgres(used_dir.with_name("two"), options=FAST)
    with one, two:
        with psycopg.connect(one.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE only_here ()")
        with psycopg.connect(two.url) as connection:
            row = connection.execute("SELECT to_regclass('only_here')").fetchone()
            assert row == (None,)


def test_a_server_that_does_not_start_is_named_with_its_log(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ORPHAN_SECONDS", 0.0)
    with pytest.raises(SettingError, match=r"DATABASE_URL: .* does not start; see .*postgres\.log"):
        Postgres(data_dir, options={"shared_buffers": "nonsense"}).acquire()


def test_its_log_holds_nothing_that_people_wrote(used_dir: Path) -> None:
    insert = "INSERT INTO notes VALUES ('private words')"
    server = Postgres(used_dir)
    with server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE notes (text text UNIQUE)")
        connection.execute(insert)
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(insert)
    log = (used_dir / "run" / "postgres.log").read_text()
    assert "unique constraint" in log
    assert "private" not in log


def test_a_fork_does_not_stop_the_server_of_its_parent(used_dir: Path) -> None:
    server = Postgres(used_dir)
    with server:
        child = os.fork()
        if child == 0:
            server.release()
            os._exit(0)
        os.waitpid(child, 0)
        assert server.is_running()


@as_root
def test_as_root_a_folder_below_a_closed_one_is_refused_and_left_closed(data_dir: Path) -> None:
    home = data_dir.with_name("home")
    home.mkdir(mode=0o700)
    with pytest.raises(SettingError, match=f"{home} \\(mode 700\\) does not let it through"):
        Postgres(home / "data").acquire()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert list(home.iterdir()) == []


@as_root
def test_as_root_a_closed_folder_that_holds_something_is_refused_too(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o700)
    (data_dir / "letters").touch()
    with pytest.raises(SettingError, match=f"{data_dir} \\(mode 700\\)"):
        Postgres(data_dir).acquire()
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


@as_root
@pytest.mark.slow
def test_as_root_programs_in_a_closed_folder_are_copied_and_the_folder_stays_closed(
    used_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_open_to_everyone", lambda program: False)
    with Postgres(used_dir) as server:
        assert isinstance(server, Postgres)
        assert server.programs.is_relative_to(used_dir)
    started = time.monotonic()
    with Postgres(used_dir):
        assert time.monotonic() - started < 5


@as_root
def test_what_lies_below_a_closed_folder_is_not_open_to_everyone(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "program").touch(mode=0o755)
    assert not installation._open_to_everyone(tmp_path / "program")
    assert installation._open_to_everyone(Path("/bin/sh").resolve())
