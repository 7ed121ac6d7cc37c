"""Whether something takes time in proportion to its input, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORT = 5_000
"""Characters. Quadratic work on four times as many takes sixteen times as long."""


def assert_linear(run: Callable[[str], object], piece: str) -> None:
    """`run` on a long repetition of `piece` takes about four times what a quarter of it takes."""
    short, long = (_cpu_seconds(run, piece * (size // len(piece))) for size in (SHORT, 4 * SHORT))
    assert long < 9 * short + 0.1


def _cpu_seconds(run: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    run(text)
    return time.process_time() - started
