"""The real PostgreSQL and Valkey of a test session, in a folder of its own below /tmp.

The process that starts first (under xdist, the controller) starts them; workers inherit the
environment and take a Valkey database each. What a killed session left behind is swept up.
"""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from helpcenter.embedded.postgres import Postgres
from helpcenter.embedded.valkey import Valkey
from helpcenter.environment import SettingError

PREFIX = "helpcenter-tests-"
PROJECT = Path(__file__).resolve().parent.parent
# Nothing of a test database has to survive a power cut, and it is small.
FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "128MB",
}


class TestServers:
    """Start with `start()`, which sets the environment that the settings read; then `stop()`."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.postgres = Postgres(folder, options=FAST)
        self.valkey = Valkey(folder)

    @classmethod
    def start(cls) -> "TestServers":
        sweep()
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        folder.chmod(0o711)
        servers = cls(folder)
        servers.postgres.acquire()
        servers.valkey.acquire()
        set_environment(servers)
        return servers

    def stop(self) -> None:
        self.valkey.release()
        self.postgres.release()
        shutil.rmtree(self.folder, ignore_errors=True)


def sweep() -> None:
    """Stop and delete the servers of test sessions that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # A session that ends by itself at this moment deletes its folder too.
        with suppress(OSError, SettingError), (folder / "valkey.use.lock").open("rb"):
            stop_if_unused(TestServers(folder))


def stop_if_unused(servers: TestServers) -> None:
    with servers.postgres.out_of_use() as no_postgres, servers.valkey.out_of_use() as no_valkey:
        if no_postgres and no_valkey:
            shutil.rmtree(servers.folder, ignore_errors=True)


def set_environment(servers: TestServers) -> None:
    """Every documented variable is set, most of them to nothing: no `.env` file reaches a test."""
    for name in documented_variables():
        os.environ[name] = ""
    os.environ |= {
        "DATABASE_URL": servers.postgres.url,
        "REDIS_URL": servers.valkey.url,
        "HELPCENTER_DATA_DIR": str(servers.folder / "site"),
        "SECRET_KEY": "a key for tests only",
        "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
        "HF_HUB_OFFLINE": "1",
    }


def documented_variables() -> list[str]:
    example = (PROJECT / ".env.example").read_text(encoding="utf-8")
    return re.findall(r"^#?\s?([A-Z][A-Z_]+)=", example, flags=re.MULTILINE)


def use_own_valkey_database(worker: str) -> None:
    """One database of Valkey for each xdist worker (`gw0` takes 1)."""
    number = int(worker.removeprefix("gw")) % 15 + 1
    os.environ["REDIS_URL"] = re.sub(r"db=\d+", f"db={number}", os.environ["REDIS_URL"])
