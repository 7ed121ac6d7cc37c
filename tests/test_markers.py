"""The grammar of citation markers: which labels name references, and which are text."""

import pytest

from assistant.writing.markers import LENTICULAR_HEAD, lenticular_references, references


@pytest.mark.parametrize(
    ("label", "refs"),
    [
        ("3", (3,)),
        ("^3", (3,)),
        ("007", (7,)),
        ("999", (999,)),
        (" 3 ", (3,)),
        ("\u00a03\u3000", (3,)),
        ("1, 2", (1, 2)),
        ("1,2", (1, 2)),
        ("1;2", (1, 2)),
        ("1，2", (1, 2)),
        ("1、2", (1, 2)),
        ("1 and 2", (1, 2)),
        ("1 & 2", (1, 2)),
        ("1&2", (1, 2)),
        ("^1, ^2", (1, 2)),
        ("1, 2 and 3", (1, 2, 3)),
        ("2, 1, 2", (2, 1)),
        ("1-3", (1, 2, 3)),
        ("1–3", (1, 2, 3)),
        ("1 - 3", (1, 2, 3)),
        ("1-3, 7", (1, 2, 3, 7)),
        ("5-5", (5,)),
        ("1-21", tuple(range(1, 22))),
        ("1-22", (1, 22)),
        ("3-1", (3, 1)),
    ],
)
def test_labels_that_name_references(label: str, refs: tuple[int, ...]) -> None:
    assert references(label) == refs


@pytest.mark.parametrize(
    "label",
    [
        *("", " ", "x", "bar", "1 2", "1000", "2024", "1.", "1.2", "-1", "+1", "1,", ",1", "1,,2"),
        *("^", "^^1", "1^", "1and2", "1 and", "1-", "-", "1-2-3", "1\n2", "1\n", "\n1", "١", "①"),
        *("0", "00", "000", "^0", "1, 0", "0-3", "3-0", "[1]", "1†source", "4:0", "1/2", "1 or 2"),
    ],
)
def test_labels_that_are_text(label: str) -> None:
    assert references(label) is None


@pytest.mark.parametrize(
    ("label", "refs"),
    [
        ("3", (3,)),
        ("3†source", (3,)),
        ("3†", (3,)),
        ("3 †L1-L9", (3,)),
        ("1, 2†a", (1, 2)),
        ("1-3", (1, 2, 3)),
        ("†source", ()),
        ("4:0†source", ()),
        ("4:0", ()),
        ("12:345†billing-faq", ()),
        ("0", ()),
        ("1, 0", ()),
        ("0†x", ()),
    ],
)
def test_lenticular_labels(label: str, refs: tuple[int, ...]) -> None:
    assert lenticular_references(label) == refs


@pytest.mark.parametrize("label", ["", " ", "设定", "1000", "1†a】", "1†\n", "1:†", "a1", "1a†b"])
def test_lenticular_labels_that_are_text(label: str) -> None:
    assert lenticular_references(label) is None


def test_the_head_of_a_lenticular_marker_stops_where_none_can_go_on() -> None:
    match = LENTICULAR_HEAD.match("1, 2 and 3†source】")

    assert match is not None
    assert match[0] == "1, 2 and 3"
