"""Inline Markdown as readable text: markup goes, words, code and addresses elsewhere stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.markup.inline_text import LONGEST_ADDRESS, inline_text, without_payloads
from tests.growth import assert_linear

DEFINITIONS = {"ref": "https://e.example/ref", "own": "/articles/own/"}


def passage_text(source: str) -> str:
    return inline_text(source, definitions=DEFINITIONS, keep_addresses=True, keep_code_marks=True)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("plain text", "plain text"),
        (
            "**bold** and *it* and __bo__ and _it_ and ~~gone~~",
            "bold and it and bo and it and gone",
        ),
        ("***both*** **a *b* c**", "both a b c"),
        ("snake_case_name and 2 * 3 * 4 and a ~ b", "snake_case_name and 2 * 3 * 4 and a ~ b"),
        ("snake_case_ end, _snake_case", "snake_case_ end, _snake_case"),
        ("*unclosed and closed* twice*", "unclosed and closed twice*"),
        ("**unbalanced*", "*unbalanced"),
        ("まず**「設定」**を", "まず「設定」を"),
        ("`code *x*` ``a ` b`` ` `", "code *x* a ` b  "),
        ("`` ` ``", "`"),
        ("`open **bold**", "`open bold"),
        ("`a\nb`", "a b"),
        ("\\*not\\* \\[1] \\q", "*not* [1] \\q"),
        ("line\\\nbreak", "line\nbreak"),
        ("&amp; &lt; &#65; &#x42; &nope; &copy=1", "& < A B &nope; &copy=1"),
        ("[label](/articles/a/)", "label"),
        ("[label](<a b> \"title\") [l]( x 'y' ) [l](x (y))", "label l l"),
        ("[a [nested] label](x)", "a [nested] label"),
        ("[x](a(b)c)", "x"),
        ("[`code` **b**](x)", "code b"),
        ("![alt *text*](x.png) ![](y.png)", "alt text "),
        ("[![alt](x.png)](y)", "alt"),
        ('<img src="x.png" alt="A map"> <img alt=\'B\' src=y> <img src=z>', "A map B "),
        ("[text] (not a link) [text", "[text] (not a link) [text"),
        ("<https://e.example/a_b_c>", "https://e.example/a_b_c"),
        ("https://e.example/_a_/*b*", "https://e.example/_a_/*b*"),
        ("<b>raw</b> <domain>", "<b>raw</b> <domain>"),
        ("[shown][ref] [ref][] [Ref] ![alt][ref]", "shown ref Ref alt"),
        ("[no][where] [1]", "[no][where] [1]"),
        ("\x00 and \x001\x00", "\ufffd and \ufffd1\ufffd"),
    ],
)
def test_markup_is_reduced_to_what_a_reader_sees(source: str, text: str) -> None:
    assert inline_text(source, definitions=DEFINITIONS) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("[label](https://e.example/a_b_(c))", "[label](https://e.example/a_b_(c))"),
        ("[**label**](<https://e.example/> 'title')", "[label](https://e.example/)"),
        (
            "[mail](mailto:a@e.example) [call](tel:+49)",
            "[mail](mailto:a@e.example) [call](tel:+49)",
        ),
        ("[x](https://e.example/\\_a\\_)", "[x](https://e.example/_a_)"),
        ("[own](/articles/a/) [rel](a.md#b) [here](#c)", "own rel here"),
        ("[bad](javascript:alert(1)) [ftp](ftp://e.example)", "bad ftp"),
        ("[a][ref] [b][own]", "[a](https://e.example/ref) b"),
        (f"[long](https://e.example/{'x' * LONGEST_ADDRESS})", "long"),
        ("![image](https://e.example/x.png)", "image"),
        ("Take `cells[1]`, ``a ` b``", "Take `cells[1]`, ``a ` b``"),
    ],
)
def test_a_model_gets_addresses_of_other_sites_and_code_marks(source: str, text: str) -> None:
    assert passage_text(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("![A map](data:image/png;base64,AAAA)", "A map"),
        ('<img src="data:image/png;base64,AAAA" alt="A map">', "A map"),
        ("[x](data:text/html,hello)", "x"),
        ("see data:image/svg+xml;charset=utf-8,%3Csvg here", "see data: here"),
        ("data:;base64,AAAA", "data:"),
        ("Export data:name,email and metadata:a/b,c", "Export data:name,email and metadata:a/b,c"),
    ],
)
def test_payloads_of_data_addresses_are_left_out(source: str, text: str) -> None:
    assert passage_text(source) == text
    assert "AAAA" not in without_payloads(source)


@given(st.text(alphabet=st.sampled_from(list("ab *_~`[]()!<>\\&;\"'\x00\n1:/#")), max_size=80))
def test_any_text_can_be_reduced(source: str) -> None:
    assert "\x00" not in inline_text(source)
    assert "\x00" not in passage_text(source)


@given(st.text(alphabet="abc äöü 你好.,", max_size=80))
def test_text_without_markup_stays_as_it_is(source: str) -> None:
    assert inline_text(source) == source


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "[](", "![", "`", "*a ", "**a _b ", "[a](b ", "[[]", '[a](b "', "![](data:", "&#"),
        *("<img ", "data:image/", "[a](" + " " * 50, "`a ", "_a", "~~", "\\[", "<a:", "(a)"),
        *("[\\[", "x" * 10),
    ],
)
def test_a_reduction_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert_linear(passage_text, piece)
