"""No text becomes a formula in a spreadsheet, and every text can be read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpcenter.spreadsheets import cell, csv_line, neutral

DANGEROUS = [
    *("=1+2", "+SUM(1,2)", "-3", "@now", "\t=4", "\r=4", "\n=4", " =1", "\u200b=1", "\ufeff=1"),
    *("＝1+2", "＋1", "－1", "＠now", "\u202e=1", "=HYPERLINK(1)", "-", "\t"),
]


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_could_be_a_formula_gets_an_apostrophe(text: str) -> None:
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "How?", "1+2", "a=b", "'=1", "¿Qué?", "…", "日本"])
def test_other_texts_stay(text: str) -> None:
    assert neutral(text) == text


def test_numbers_and_nothing_are_no_texts() -> None:
    assert [cell(value) for value in (-3, 1.5, None, True)] == ["-3", "1.5", "", "True"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_a_line_is_read_back_as_it_was(texts: list[str]) -> None:
    line = csv_line(texts)
    assert list(csv.reader(io.StringIO(line, newline=""))) == [[neutral(text) for text in texts]]


@given(st.text())
def test_no_cell_begins_with_what_begins_a_formula(text: str) -> None:
    assert not cell(text).lstrip(" \u200b\ufeff").startswith(("=", "+", "-", "@", "\t", "\r"))


def test_separators_inside_begin_no_cell() -> None:
    assert csv_line(['a";=1,=2']) == '"a"";=1,=2"\r\n'
