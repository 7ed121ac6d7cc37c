"""Rows for spreadsheet programs, in which no text of a visitor's becomes a formula.

Excel, LibreOffice and Google Sheets run a cell that begins with `=`, `+`, `-` or `@`, also
behind a tab or a line break. Such a cell gets an apostrophe in front, which they read as
"text", and every cell stands in quotes, so that a separator inside begins no new cell.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable
from typing import Any

BOM = "\ufeff"
"""Begins a file: Excel takes it for UTF-8 then."""

_FORMULA = frozenset("=+-@\t\r\n")
_SKIPPED = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


def cell(value: Any) -> str:
    """What stands in the cell: numbers and dates as they are, nothing for None, texts neutral."""
    if value is None:
        return ""
    text = str(value)
    return neutral(text) if isinstance(value, str) else text


def neutral(text: str) -> str:
    """The text; with an apostrophe in front where a program could take it for a formula."""
    seen = next((char for char in text if unicodedata.category(char) not in _SKIPPED), "")
    widths = unicodedata.normalize("NFKC", seen)[:1]
    return f"'{text}" if text[:1] in _FORMULA or widths in _FORMULA else text


def csv_line(values: Iterable[Any]) -> str:
    """One line of a CSV file, its end included."""
    return _Line.of([cell(value) for value in values])


class _Line:
    """What `csv` writes into: it keeps the line that it was given."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    @classmethod
    def of(cls, cells: list[str]) -> str:
        line = cls()
        csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
        return line.text
