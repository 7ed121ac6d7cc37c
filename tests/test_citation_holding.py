"""What is held back is what is undecided, and it is let go as soon as it is decided."""

from __future__ import annotations

import pytest

from assistant.citations import CitationWriter
from assistant.provenance import Ledger


def test_a_line_that_is_too_long_for_a_list_is_not_waited_for() -> None:
    writer = CitationWriter(Ledger())
    line = "[" + "x" * 1000

    assert writer.feed(f"So.\n\nSources: {line}") == f"So.\n\nSources: {line}"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("a ", " 1"),
        ("a [x](/nope/)", "1"),
        ("a [9]", " 1"),
        ("a [9]", "."),
        ("a ", " *"),
        ("a\n", "\n-"),
        ("", "-"),
    ],
)
def test_what_begins_no_line_behind_a_removal_is_not_held_back(before: str, text: str) -> None:
    writer = CitationWriter(Ledger())
    writer.feed(before)

    assert writer.feed(f"{text.strip()}`") == text


def test_what_is_held_back_is_let_go_when_it_is_decided() -> None:
    writer = CitationWriter(Ledger())

    assert writer.feed("a [" + "x" * 300) == "a"
    assert writer.feed("y") == " [" + "x" * 300 + "y"
    assert writer.feed(" `b") == ""
    assert writer.feed("\n") == " `b"
