"""The writer's work grows with the text and no faster, whatever the text, and however sliced.

Work is counted and not timed: `steps` are characters and pieces that the scanner looked at.
"""

import pytest

from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger

SHAPES = {
    "letters": "abc ",
    "opening brackets": "[",
    "closing brackets": "]",
    "boxes": "[x] ",
    "markers": "[1]",
    "unknown markers": "[9] ",
    "unfinished markers": "[1, ",
    "links that end at once": "](",
    "links without an end": "[](",
    "links with half a title": '[a](b "',
    "links with half a title in parentheses": "[a](b (",
    "links with half a pointed destination": "[a](<",
    "links over lines": "[a](\n",
    "links in links": "[[a](/x)",
    "images without an end": "![",
    "lenticular brackets": "【",
    "lenticular markers without an end": "【1†",
    "autolinks without an end": "<a:",
    "tags": "<think ",
    "addresses in addresses": "https://a(",
    "starts of addresses": "h ",
    "backticks": "`",
    "runs of two lengths": "` `` ",
    "backslashes": "\\",
    "fences": "```\n",
    "white space": " ",
    "blank lines": "\n",
    "quotes": "> ",
    "items": "- ",
    "lists of references": "Sources:\n- [1]\n\n",
    "lists that are none": "Sources:\n- [1]\n\nText.\n\n",
    "definitions": "[a]: b\n",
    "entries that go on": "Sources: [1], [",
    "emphasis behind a removal": "[9]*",
}


def steps(text: str, size: int) -> int:
    ledger = Ledger()
    ledger.expose(Document("a", "A", "/articles/a/"), Exposure.EXCERPT)
    writer = CitationWriter(ledger)
    for start in range(0, len(text), size):
        writer.feed(text[start : start + size])
    writer.close()
    return writer.steps


def of(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@pytest.mark.field_report("B74")
@pytest.mark.parametrize("size", [1, 1_000_000], ids=["by character", "whole"])
@pytest.mark.parametrize("unit", SHAPES.values(), ids=SHAPES)
def test_twice_the_text_is_twice_the_work(unit: str, size: int) -> None:
    once, twice = (steps(of(unit, length), size) for length in (5_000, 10_000))

    assert twice <= 2.2 * once + 10
    assert twice <= 6 * 10_000


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["by character", "whole"])
def test_runs_of_backticks_that_all_differ_are_linear(size: int) -> None:
    text = " ".join("`" * length for length in range(1, 150))

    assert steps(text, size) <= 4 * len(text)


@pytest.mark.field_report("B74")
def test_brackets_cost_what_letters_cost() -> None:
    letters, brackets = (steps(unit * 100_000, 1) for unit in ("a", "["))

    assert brackets <= 2.5 * letters


def test_nested_brackets_are_linear() -> None:
    once, twice = (steps("[" * n + "a" + "]" * n, 1) for n in (3_000, 6_000))

    assert twice <= 2.2 * once
