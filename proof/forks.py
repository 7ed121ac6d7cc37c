"""Work in forked processes: what is loaded once is there for all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

CRASHED = 99
"""The exit code of work that raised."""


def forked(work: Sequence[Callable[[], int]], jobs: int) -> Iterator[tuple[int, int]]:
    """Runs each piece of work in a process of its own, as many at a time as there are jobs.

    Gives its place and exit code as it ends; minus the signal, where one ended it.
    """
    waiting = list(range(len(work)))[::-1]
    running: dict[int, int] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            place = waiting.pop()
            running[start(work[place])] = place
        process, status = os.wait()
        yield running.pop(process), os.waitstatus_to_exitcode(status)


def start(work: Callable[[], int]) -> int:
    """Starts work in a process of its own, which ends with it; its id."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = CRASHED
    try:
        code = work()
    finally:
        sys.stdout.flush()
        os._exit(code)


def silence() -> None:
    """Nobody reads what a test that fails has to say."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
