"""A server in the data folder that every process in need of it shares.

Who uses the server is known by the kernel, not by a file of process ids: each user holds a shared
lock on one file for as long as it needs the server. The first one in starts it, the last one out
stops it, and both happen under a second, exclusive lock. A process that is killed drops its locks
with it; the server it leaves behind is found running by the next process, and used.
"""

import fcntl
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

from helpcenter import data_folder
from helpcenter.environment import SettingError

# The kernel's limit on a Unix socket's path, less its final NUL.
MAX_SOCKET_PATH = 107


class SharedServer(ABC):
    """Use as a context manager: inside it, the server runs and answers at `url`."""

    name: str

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.run_dir = data_dir / "run"
        self._use: IO[bytes] | None = None
        self._user_pid = 0

    @property
    @abstractmethod
    def url(self) -> str:
        """Where the server listens. Known before it runs: it follows from the data folder."""

    @abstractmethod
    def socket_path(self) -> Path: ...

    @abstractmethod
    def is_running(self) -> bool: ...

    @abstractmethod
    def start(self) -> None:
        """Start the server and return when it answers. Called under the exclusive lock."""

    @abstractmethod
    def stop(self) -> None:
        """Stop the server, its data sound. Called under the exclusive lock."""

    def acquire(self) -> None:
        """Count this process as a user of the server, and start the server if it is not running."""
        self._prepare_folders()
        with self._exclusive():
            self._use = self._open("use")
            fcntl.flock(self._use, fcntl.LOCK_SH)
            self._user_pid = os.getpid()
            try:
                self._start_if_down()
            except BaseException:
                self._use.close()
                self._use = None
                raise

    def release(self) -> None:
        """Stop being a user. Does nothing in a fork of the process that acquired it."""
        if self._use is None or self._user_pid != os.getpid():
            return
        with self._exclusive():
            if self._locked(self._use) and self.is_running():
                self.stop()
            self._use.close()
            self._use = None

    def ensure_running(self) -> bool:
        """Start the server again if it died under its users. Says whether it had to."""
        if self.is_running():
            return False
        with self._exclusive():
            return self._start_if_down()

    @contextmanager
    def out_of_use(self) -> Iterator[bool]:
        """Inside, no other process can start or use the server; what a killed process left running
        has been stopped. False if others use it: then nothing was done."""
        self._prepare_folders()
        with self._exclusive(), self._open("use") as use:
            unused = self._locked(use)
            if unused and self.is_running():
                self.stop()
            yield unused

    def __enter__(self) -> "SharedServer":
        self.acquire()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _start_if_down(self) -> bool:
        if self.is_running():
            return False
        self.start()
        return True

    @staticmethod
    def _locked(file: IO[bytes]) -> bool:
        """Lock the file exclusively; False if anybody else holds a lock on it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self._open("start") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _open(self, purpose: str) -> IO[bytes]:
        return (self.data_dir / f"{self.name}.{purpose}.lock").open("ab")

    def refuse_unusable_folder(self) -> None:
        """Refuse a data folder that cannot serve, before anything is made in it."""
        excess = len(os.fsencode(self.socket_path())) - MAX_SOCKET_PATH
        if excess > 0:
            raise SettingError(
                "HELPCENTER_DATA_DIR",
                f"{self.data_dir} is {excess} bytes too long for the sockets of the embedded "
                "servers; choose a shorter path",
            )

    def _prepare_folders(self) -> None:
        self.refuse_unusable_folder()
        data_folder.create(self.data_dir)
        try:
            self.run_dir.mkdir(mode=0o700, exist_ok=True)
            self._open("start").close()
        except OSError as error:
            raise SettingError(
                "HELPCENTER_DATA_DIR", f"{error.filename}: {error.strerror}"
            ) from None
