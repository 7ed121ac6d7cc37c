"""Anchors of headings: in any script, unique in their document, never empty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.markup.anchors import FALLBACK, HeadingSource, anchors, heading_source, slug

COLUMN = 200
"""Characters that the database keeps of a passage's anchor."""


def anchors_of(*sources: str) -> list[str]:
    return anchors([heading_source(source) for source in sources])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set up SSO", "set-up-sso"),
        ("  Set up \n", "set-up"),
        ("Don't want to manage your own proxy?", "dont-want-to-manage-your-own-proxy"),
        ("Events & goals", "events--goals"),
        ("include.time_labels", "includetime_labels"),
        ("1. First step", "1-first-step"),
        ("Größe ÄNDERN", "größe-ändern"),
        ("Re\u0301initialiser", "réinitialiser"),
        ("密码重置", "密码重置"),
        ("إعادة تعيين", "إعادة-تعيين"),
        ("รีเซ็ตรหัสผ่าน", "รีเซ็ตรหัสผ่าน"),
        ("पासवर्ड रीसेट", "पासवर्ड-रीसेट"),
        ("Line\nbreak\tand tab", "line-break-and-tab"),
        ("Party 🎉 time", "party--time"),
        ("☎\ufe0f Call", "-call"),
        ("a\ufe00b\ufe0fc", "abc"),
        ("\u202eevil\u202c", "evil"),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_any_script(text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.mark.parametrize("text", ["", "😀", "??", "☎\ufe0f", "---", "\u200b", "\u0301", "_"])
def test_a_heading_without_letter_or_digit_has_an_anchor_too(text: str) -> None:
    assert slug(text) == FALLBACK


def test_repeated_headings_are_counted() -> None:
    assert anchors_of("FAQ!", "FAQ!", "faq", "??", "!!") == [
        "faq",
        "faq-1",
        "faq-2",
        "section",
        "section-1",
    ]


def test_a_count_never_meets_another_heading() -> None:
    assert anchors_of("a", "a-1", "a", "a") == ["a", "a-1", "a-2", "a-3"]


def test_markup_of_a_heading_is_no_part_of_its_anchor() -> None:
    assert anchors_of("**Bold** `code_name` [label](https://e.example/) ![alt](x.png)") == [
        "bold-code_name-label-alt"
    ]


@pytest.mark.parametrize(
    ("source", "text", "explicit_id"),
    [
        ("Title {#gtm}", "Title", "gtm"),
        ("Title {#include.imports}  ", "Title", "include.imports"),
        ("Title{#größe}", "Title", "größe"),
        ("{#alone}", "", "alone"),
        ("Title {#}", "Title {#}", None),
        ("Title {#two words}", "Title {#two words}", None),
        ('Title {#"onclick}', 'Title {#"onclick}', None),
        ("Title {#a} more", "Title {#a} more", None),
        ("Title \\{#a}", "Title \\{#a}", None),
        ("`code {#a}`", "`code {#a}`", None),
        (f"Title {{#{'x' * 180}}}", "Title", "x" * 180),
        (f"Title {{#{'x' * 181}}}", f"Title {{#{'x' * 181}}}", None),
    ],
)
def test_a_heading_may_name_its_anchor(source: str, text: str, explicit_id: str | None) -> None:
    assert heading_source(source) == HeadingSource(text, explicit_id)


def test_a_named_anchor_wins_over_headings_further_up() -> None:
    assert anchors_of("Setup", "Install {#setup}", "Again {#setup}") == [
        "setup-1",
        "setup",
        "setup-2",
    ]


@given(st.lists(st.text(max_size=300) | st.sampled_from(["a", "a-1", "a {#a}", "b {#a-1}"])))
def test_anchors_are_unique_short_and_without_white_space(sources: list[str]) -> None:
    given_anchors = anchors_of(*sources)
    assert len(set(given_anchors)) == len(given_anchors) == len(sources)
    assert all(given_anchors)
    assert all(len(anchor) <= COLUMN and anchor.split() == [anchor] for anchor in given_anchors)


@given(st.lists(st.text("~ #{}ab-"), max_size=6))
def test_no_anchor_is_the_name_of_something_on_the_page(sources: list[str]) -> None:
    """The templates' own ids begin with a sign that no anchor has."""
    assert not any("~" in anchor for anchor in anchors_of(*sources))


def test_ten_thousand_equal_headings_take_no_longer_than_different_ones() -> None:
    given_anchors = anchors_of(*["a"] * 10_000)
    assert given_anchors[-1] == "a-9999"
