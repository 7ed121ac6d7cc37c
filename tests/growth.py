"""Whether something does work in proportion to its input: counted in calls, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable

SHORT = 5_000
"""Characters. Quadratic work on four times as many takes sixteen times as many calls."""

ALLOWED_RATIO = 6
ALLOWED_START = 500


def assert_linear(run: Callable[[str], object], piece: str) -> None:
    """`run` on a long repetition of `piece` makes about four times the calls of a quarter of it."""
    short, long = (_calls(run, piece * (size // len(piece))) for size in (SHORT, 4 * SHORT))
    assert long < ALLOWED_RATIO * short + ALLOWED_START, f"{short} calls grew to {long}"


def _calls(run: Callable[[str], object], text: str) -> int:
    """How often a function, of Python's or in C, was called."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run(text)
    finally:
        sys.setprofile(before)
    return count
