"""Moving the embedded database to the major version of PostgreSQL that this release runs.

The old cluster is dumped and restored into a new one beside it. Only when the new one is whole do
they change places, and the old one stays, under its version's number, until somebody deletes it.
"""

import shutil
import subprocess
from pathlib import Path

from helpcenter.embedded import installation
from helpcenter.embedded.postgres import MAJOR, Postgres, cluster_major
from helpcenter.environment import SettingError

DRAFT = "postgres.upgraded"


def upgrade(data_dir: Path) -> Path | None:
    """The folder where the old cluster stays; None where there was nothing to do."""
    found = cluster_major(data_dir / "postgres")
    if found in (None, MAJOR):
        return None
    if found not in installation.FOLDERS:
        raise SettingError(
            "HELPCENTER_DATA_DIR",
            f"this release has no programs of PostgreSQL {found}; dump the database with that "
            "version's pg_dump and restore it into an empty folder",
        )
    kept = data_dir / f"postgres.{found}"
    if kept.exists():
        raise SettingError("HELPCENTER_DATA_DIR", f"{kept} exists; move it away first")
    old, new = Postgres(data_dir, major=found), Postgres(data_dir, folder=DRAFT)
    with old.out_of_use() as unused:
        if not unused:
            raise SettingError("HELPCENTER_DATA_DIR", "the database is in use; stop the site first")
        _copy(old, new)
        old.folder.rename(kept)
        new.folder.rename(old.folder)
    return kept


def _copy(old: Postgres, new: Postgres) -> None:
    dump = old.data_dir / "upgrade.dump"
    shutil.rmtree(new.folder, ignore_errors=True)
    try:
        old.start()
        try:
            _run(new, "pg_dump", "--format=custom", f"--file={dump}", old.url)
        finally:
            old.stop()
        new.start()
        try:
            _run(new, "pg_restore", "--exit-on-error", f"--dbname={new.url}", str(dump))
        finally:
            new.stop()
    finally:
        dump.unlink(missing_ok=True)


def _run(server: Postgres, program: str, *arguments: str) -> None:
    command = [str(server.programs / program), *arguments]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, cwd="/", umask=0o077)
