"""One file that holds all of a site: the database's dump and the media.

It gets its name when it is whole, and is readable by its owner alone.
Restoring puts the database back in one transaction: all of it or nothing.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from helpcenter import data_folder
from helpcenter.embedded import installation
from helpcenter.embedded.postgres import MAJOR

DUMP = "database.dump"
MEDIA = "media"
EXTENSION = "vector"
"""Not in the dump: often the server's administrator made it, and the site may not replace it."""


class BackupError(Exception):
    """A backup could not be made or restored; the message says why."""


def write(target: Path) -> None:
    """Write a backup of this site to `target`."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        dump = Path(folder) / DUMP
        options = ["--format=custom", "--no-owner", f"--exclude-extension={EXTENSION}"]
        _run("pg_dump", *options, f"--file={dump}")
        draft = Path(folder) / target.name
        draft.touch(mode=0o600)
        with tarfile.open(draft, "w") as archive:
            archive.add(dump, DUMP)
            if Path(settings.MEDIA_ROOT).is_dir():
                archive.add(settings.MEDIA_ROOT, MEDIA)
        draft.rename(target)


def is_empty() -> bool:
    """Whether the database has no tables yet."""
    return not connection.introspection.table_names()


def restore(source: Path) -> None:
    """Put this site's database and media back to what `source` holds."""
    data_folder.create(settings.DATA_DIR)
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as name:
        folder = Path(name)
        try:
            with tarfile.open(source) as archive:
                archive.extractall(folder, filter="data")
        except (OSError, tarfile.TarError) as error:
            raise BackupError(f"{source} cannot be read as a backup: {error}") from None
        if not (folder / DUMP).is_file():
            raise BackupError(f"{source} is not a backup of a help center.")
        _ensure_extension()
        connection.close()
        options = ["--clean", "--if-exists", "--no-owner", "--single-transaction"]
        _run("pg_restore", *options, str(folder / DUMP))
        (folder / MEDIA).mkdir(exist_ok=True)
        shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
        (folder / MEDIA).rename(settings.MEDIA_ROOT)


def _ensure_extension() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}")
    except DatabaseError as error:
        raise BackupError(f"the extension {EXTENSION}: {str(error).strip()}") from None


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on this site's database. A command line is for all to see,
    so the password goes another way."""
    where = conninfo_to_dict(settings.DATABASE_URL)
    environment = {**os.environ, "PGPASSWORD": str(where.pop("password", ""))}
    path = installation.programs(MAJOR, settings.DATA_DIR) / program
    result = subprocess.run(
        [str(path), *arguments, f"--dbname={make_conninfo('', **where)}"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        umask=0o077,
    )
    if result.returncode:
        raise BackupError(f"{program}: {result.stderr.strip()}")
