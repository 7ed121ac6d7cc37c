"""One process under the supervisor: started in a group of its own, started again if it dies."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

RESTARTS = 5
WINDOW_SECONDS = 60.0
_PR_SET_PDEATHSIG = 1


class Child:
    """`grace_seconds` is how long it may take to end after SIGTERM, before its group is killed.
    With `niceness` above 0 it leaves the processor to others that want it (see nice(1)).
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        grace_seconds: float,
        niceness: int = 0,
    ) -> None:
        self.name = name
        self.grace_seconds = grace_seconds
        self._niceness = niceness
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: deque[float] = deque(maxlen=RESTARTS)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        # Ctrl-C reaches the terminal's whole group; these must hear of it from us, in order.
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=self._prepare,
        )

    def exit_status(self) -> int | None:
        """None while it runs."""
        return self._process.poll() if self._process else None

    def may_restart(self) -> bool:
        """Count one death; whether there were not too many of them lately."""
        self._deaths.append(time.monotonic())
        often = len(self._deaths) == RESTARTS
        return not (often and self._deaths[-1] - self._deaths[0] < WINDOW_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Signal the process itself; how it ends its own children is its business."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)

    def end(self) -> None:
        """Tell it to end and wait until it has, or kill it."""
        self.signal(signal.SIGTERM)
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self.grace_seconds)
        self.kill()

    def _prepare(self) -> None:
        """Runs in the new process. On Linux it ends when the supervisor is killed: nothing keeps
        the port or works on unseen."""
        os.nice(self._niceness)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group, what a dead leader left behind as well."""
        if self._process:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            self._process.wait()
