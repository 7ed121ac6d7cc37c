"""An answer's sentences, and which citation belongs to which."""

from __future__ import annotations

import pytest

from articles.markup.answer_rendering import Citation, Registered, render_answer
from assistant.support.claims import Cited, sentences, split

PLANS = "/articles/plans/"
REGISTERED = Registered(
    frozenset({PLANS}), citations={number: Citation(number, "Title", None) for number in (1, 2, 3)}
)

Found = list[tuple[str, list[int | str]]]


def found(markdown: str) -> Found:
    """Text and citations of each sentence of a delivered answer."""
    return [
        (sentence.text, [cite.number or cite.address for cite in sentence.cites])
        for sentence in sentences(render_answer(markdown, REGISTERED))
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Open it [1]. Save it [2].", [("Open it.", [1]), ("Save it.", [2])]),
        ("Open it. [1] Save it.", [("Open it.", [1]), ("Save it.", [])]),
        ("Open it.[1][2] Save it.", [("Open it.", [1, 2]), ("Save it.", [])]),
        ("Open it.\n\n[1]\n\nSave it.", [("Open it.", [1]), ("Save it.", [])]),
        ("Is it on? [1] Yes… [2]", [("Is it on?", [1]), ("Yes…", [2])]),
        ("He said “open it.” [1] Save.", [("He said “open it.”", [1]), ("Save.", [])]),
    ],
)
def test_a_citation_belongs_to_the_sentence_before_it(markdown: str, expected: Found) -> None:
    assert found(markdown) == expected


def test_items_rows_headings_and_hard_breaks_end_a_sentence() -> None:
    assert found("- Open it [1]\n- Save it [2]\n  - Twice [3]") == [
        ("Open it", [1]),
        ("Save it", [2]),
        ("Twice", [3]),
    ]
    assert found("## Steps\nOpen it [1]  \nSave it") == [
        ("Steps", []),
        ("Open it", [1]),
        ("Save it", []),
    ]
    assert found("| Plan | Seats |\n| --- | --- |\n| Basic | 3 [1] |\n| Team | 9 [2] |") == [
        ("Plan Seats", []),
        ("Basic 3", [1]),
        ("Team 9", [2]),
    ]


def test_links_are_citations_and_their_labels_are_not_the_sentence_s_own() -> None:
    html = render_answer(f"Compare [the plans]({PLANS}) first. Pay.", REGISTERED)
    first, second = sentences(html)
    assert first.cites == (Cited(address=PLANS),)
    assert (first.text, first.own) == ("Compare the plans first.", "Compare first.")
    assert second.cites == ()


def test_a_titled_link_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert found(f"Plans start at $12. ([Plans]({PLANS})) Pay.") == [
        ("Plans start at $12. (Plans)", [PLANS]),
        ("Pay.", []),
    ]


def test_code_cites_nothing_and_says_nothing() -> None:
    assert found("Set `a[1]` to 3 [2].\n\n```\nx[1]. y\n```\n\n[3]") == [
        ("Set a[1] to 3.", [2, 3]),
    ]


@pytest.mark.parametrize("markdown", ["[1]", "", "**[1]**", "```\n[1]\n```"])
def test_a_citation_without_any_sentence_is_none(markdown: str) -> None:
    assert found(markdown) == []


def test_the_same_citation_twice_in_a_sentence_is_one() -> None:
    assert found("Open it [1] and save it [1].") == [("Open it and save it.", [1])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("設定を開きます。保存します。", ["設定を開きます。", "保存します。"]),
        ("打开“设置”。保存！完成", ["打开“设置”。", "保存！", "完成"]),
        ("Am 3. Mai endet er. Danach nicht.", ["Am 3. Mai endet er.", "Danach nicht."]),
        ("Use a phone, e.g. Yours. Then go.", ["Use a phone, e.g. Yours.", "Then go."]),
        ("Version 2.5 is out. Get it.", ["Version 2.5 is out.", "Get it."]),
        ("¿Dónde está? ¡Aquí! Ábrelo.", ["¿Dónde está?", "¡Aquí!", "Ábrelo."]),
        ("Ouvrez la page… Puis validez.", ["Ouvrez la page…", "Puis validez."]),
        ("See example.com.  and go on", ["See example.com.  and go on"]),
    ],
)
def test_sentences_end_as_their_languages_end_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_private_characters_in_a_text_mark_nothing() -> None:
    assert found("Open\ue002 7\ue002 it\ue000 [1].") == [("Open 7 it.", [1])]


def test_a_long_answer_takes_no_longer_than_its_length() -> None:
    text = "Open the page [1]. " * 5_000
    assert len(split(text)) == 5_000
    assert len(split("." * 100_000 + "“" * 100_000)) == 1
