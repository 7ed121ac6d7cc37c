"""What changed between two texts, line by line."""

from articles.diffs import DiffLine, diff_lines


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
