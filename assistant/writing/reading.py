"""Reads a text that arrives in slices, so that how it is sliced makes no difference.

Pure. A reader is a generator that stops wherever the next character decides, and goes on
from there when it has come. What it says about a text at any moment depends on the text
alone. Subclasses write the generator.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator

Scan = Generator[None, None, int]
"""A step of a reader: stops for more text, and gives the position it came to."""


class Reader(ABC):
    """Give it text with `feed` and the end with `close`, or with `stop` where it breaks off.

    `steps` counts the work done, in characters and pieces looked at.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._text = ""
        self._is_closed = False
        self._breaks_off = False
        self._ran_out = False  # the last look ahead met the end of the text
        self._scan = self._document(0)

    @abstractmethod
    def _document(self, position: int) -> Generator[None, None, None]:
        """Reads all of the text, from `position` on."""

    def feed(self, text: str) -> None:
        # As the only reference to it, the text grows in place: no copy for each slice.
        held, self._text = self._text, ""
        held += text
        self._text = held
        del held
        self._resume()

    def close(self) -> None:
        """The end of the text: what is undecided is text."""
        self._is_closed = True
        self._resume()

    def stop(self) -> None:
        """The text breaks off: a marker, link or address that is unfinished is left out."""
        self._breaks_off = True
        self.close()

    def _resume(self) -> None:
        next(self._scan, None)

    def _has(self, position: int) -> Generator[None, None, bool]:
        """Waits for the character at `position`; False where the text ends before it."""
        while position >= len(self._text):
            if self._is_closed:
                self._ran_out = True
                return False
            yield
        return True

    def _is_half(self, end: int) -> bool:
        """Whether what was read up to here is cut short by an answer that breaks off."""
        return self._breaks_off and end >= len(self._text)

    def _skip(self, position: int, run: re.Pattern[str]) -> Scan:
        """The end of the longest run from here, once the character behind it is known."""
        while (yield from self._has(position)):
            end = end_of(run, self._text, position)
            self.steps += end - position + 1
            if end == position:
                break
            position = end
        return position


def end_of(run: re.Pattern[str], text: str, position: int) -> int:
    """The end of a run that may be empty. No match is kept, for it would keep the text."""
    return run.match(text, position).end()  # type: ignore[union-attr]
