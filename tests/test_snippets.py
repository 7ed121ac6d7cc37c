"""Which piece of a text a search result shows, and which words in it are marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.ranking.snippets import Piece, marked, snippet


def shown(pieces: tuple[Piece, ...]) -> str:
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Reset your password here.", "password", "Reset your [password] here."),
        ("Réinitialiser le mot", "REINITIALISER", "[Réinitialiser] le mot"),
        ("re\u0301initialiser", "réinitialiser", "[re\u0301initialiser]"),
        ("Cancellation of plans", "cancel plan", "[Cancellation] of [plans]"),
        ("Your passwords", "password", "Your [passwords]"),
        ("How to do it", "how do I cancel", "How to do it"),
        ("How do I", "how do i", "[How] [do] [I]"),
        ("您可以在账单页面下载电子发票", "电子发票", "您可以在账单页面下载[电子发票]"),
        ("Straße und ﬁle", "strasse file", "[Straße] und [ﬁle]"),
        ("a [b](c) .*", ".* (", "a [b](c) .*"),
        ("Nothing here", "", "Nothing here"),
        ("", "password", ""),
    ],
)
def test_the_words_of_the_query_are_marked(text: str, query: str, expected: str) -> None:
    assert shown(snippet(text, query)) == expected
    assert shown(marked(text, query)) == expected


def test_a_long_text_is_cut_around_the_first_match() -> None:
    text = "lorem ipsum " * 60 + "A refund takes a week. " + "dolor sit " * 60
    result = shown(snippet(text, "refund"))

    assert result.startswith("… ")
    assert result.endswith(" …")
    assert "A [refund] takes a week." in result
    assert len(result) < 260


def test_a_text_without_a_match_begins_at_its_beginning() -> None:
    assert shown(snippet("word " * 100, "nothing")).startswith("word word")


def test_a_word_without_end_is_cut_all_the_same() -> None:
    assert shown(snippet("x" * 1000, "y")) == "x" * 240 + " …"


@given(text=st.text(max_size=600), query=st.text(max_size=40), length=st.integers(1, 300))
def test_a_snippet_is_a_piece_of_the_text(text: str, query: str, length: int) -> None:
    folded = " ".join(text.split())
    pieces = snippet(text, query, length)
    inner = "".join(piece.text for piece in pieces if piece.text not in ("… ", " …"))
    assert inner in folded
    assert len(inner) <= max(length, 1)
