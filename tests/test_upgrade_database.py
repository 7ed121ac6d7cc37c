"""Moving the embedded database to another major version of PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from helpcenter.embedded.postgres import Postgres, cluster_major
from helpcenter.embedded.upgrade import upgrade
from helpcenter.environment import SettingError
from tests.servers import PROJECT

pytestmark = pytest.mark.slow


@pytest.fixture
def old_dir(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of PostgreSQL 16 with a table in it."""
    data_dir.parent.chmod(0o711)
    monkeypatch.setattr("helpcenter.embedded.postgres.LOCALE", ["--locale=C"])
    old = Postgres(data_dir, major=16)
    with old, psycopg.connect(old.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE notes AS SELECT 'kept' AS text, '[1,2]'::vector AS place")
    monkeypatch.undo()
    return data_dir


def notes(data_dir: Path) -> object:
    server = Postgres(data_dir)
    with server, psycopg.connect(server.url) as connection:
        return connection.execute("SELECT text, place::text FROM notes").fetchall()


def test_the_data_moves_and_the_old_cluster_stays(old_dir: Path) -> None:
    assert cluster_major(old_dir / "postgres") == 16
    result = subprocess.run(
        [sys.executable, "manage.py", "upgrade_database"],
        cwd=PROJECT,
        env={
            **os.environ,
            "DATABASE_URL": "embedded",
            "HELPCENTER_DATA_DIR": str(old_dir),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"kept in {old_dir / 'postgres.16'}" in result.stdout
    assert cluster_major(old_dir / "postgres") == 18
    assert cluster_major(old_dir / "postgres.16") == 16
    assert notes(old_dir) == [("kept", "[1,2]")]
    assert not (old_dir / "upgrade.dump").exists()
    assert upgrade(old_dir) is None


def test_a_restore_that_fails_leaves_the_old_cluster_in_its_place(
    old_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(server: Postgres, program: str, *arguments: str) -> None:
        if program == "pg_restore":
            raise subprocess.CalledProcessError(1, program)

    monkeypatch.setattr("helpcenter.embedded.upgrade._run", broken)
    with pytest.raises(subprocess.CalledProcessError):
        upgrade(old_dir)
    assert cluster_major(old_dir / "postgres") == 16
    monkeypatch.undo()
    assert upgrade(old_dir) == old_dir / "postgres.16"
    assert notes(old_dir) == [("kept", "[1,2]")]


def test_a_database_in_use_is_not_moved(old_dir: Path) -> None:
    with Postgres(old_dir, major=16), pytest.raises(SettingError, match="in use; stop the site"):
        upgrade(old_dir)


def test_an_earlier_copy_is_not_overwritten(old_dir: Path) -> None:
    (old_dir / "postgres.16").mkdir()
    with pytest.raises(SettingError, match=r"postgres\.16 exists; move it away first"):
        upgrade(old_dir)


def test_a_version_without_programs_is_named(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "PG_VERSION").write_text("11\n")
    with pytest.raises(SettingError, match="no programs of PostgreSQL 11"):
        upgrade(data_dir)


def test_without_a_database_there_is_nothing_to_move(data_dir: Path) -> None:
    assert upgrade(data_dir) is None


def test_an_upgrade_that_was_interrupted_at_its_last_step_is_named(old_dir: Path) -> None:
    (old_dir / "postgres").rename(old_dir / "postgres.16")
    with pytest.raises(SettingError, match=r"holds postgres\.16 but no postgres"):
        Postgres(old_dir).acquire()
