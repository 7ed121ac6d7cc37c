"""What changed between two texts, line by line and word by word."""

from hypothesis import given
from hypothesis import strategies as st

from articles.writing.diffs import LONGEST_BY_WORDS, DiffLine, diff_lines, diff_words


def test_equal_texts_differ_in_nothing() -> None:
    assert diff_lines("a\nb", "a\nb") == []


def test_changed_lines_stand_among_their_neighbours() -> None:
    assert diff_lines("a\nb\nc", "a\nB\nc") == [
        DiffLine("same", "a"),
        DiffLine("removed", "b"),
        DiffLine("added", "B"),
        DiffLine("same", "c"),
    ]


def test_unchanged_stretches_are_left_out() -> None:
    old = "\n".join(f"line {number}" for number in range(40))
    new = old.replace("line 2\n", "line two\n").replace("line 37", "line 37!")
    kinds = [line.kind for line in diff_lines(old, new)]
    assert kinds.count("gap") == 1
    assert (kinds.count("removed"), kinds.count("added")) == (2, 2)


def test_lines_that_look_like_a_patch_header_stay() -> None:
    assert diff_lines("x", "--- a\n+++ b\nx")[:2] == [
        DiffLine("added", "--- a"),
        DiffLine("added", "+++ b"),
    ]


def test_a_first_version_is_all_new() -> None:
    assert diff_lines("", "a\nb") == [DiffLine("added", "a"), DiffLine("added", "b")]


def test_words_are_woven_into_one_text() -> None:
    pieces = diff_words("Open it [2][9].", "Open it [1].")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "Open it "),
        ("removed", "[2][9]"),
        ("added", "[1]"),
        ("same", "."),
    ]


@given(st.text("ab []1\n", max_size=60), st.text("ab []1\n", max_size=60))
def test_either_text_can_be_read_from_the_pieces(old: str, new: str) -> None:
    pieces = diff_words(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new


def test_long_texts_are_compared_by_lines() -> None:
    old = "a word\n" * (LONGEST_BY_WORDS // 6)
    pieces = diff_words(old, f"{old}one more")
    assert [piece.kind for piece in pieces] == ["same", "added"]
