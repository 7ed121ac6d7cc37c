"""The citation writer, rule by rule. `write` plays each answer whole, by character and sliced."""

import pytest

from assistant.citations import CitationWriter, restore_references
from assistant.provenance import Document, Exposure, Ledger
from tests.citation_judge import numbers_in
from tests.citing import Given, Step, Written, play, single, whole, write

A = Given(Document("a", "Change your plan", "/articles/change-plan/"))
B = Given(Document("b", "Invoices", "/articles/invoices/"))
C = Given(Document("c", "Invite colleagues", "/articles/invite/"))
THREE = [A, B, C]

T1 = Given(Document("t1", "Seats", "/articles/seats/"), Exposure.TITLE)
T2 = Given(Document("t2", "Coupons [old]", "/articles/coupons/"), Exposure.TITLE)
CLOSED = Given(Document("x", "Internal limits", None))
CLOSED_TITLE = Given(Document("x", "Internal limits", None), Exposure.TITLE)
OPENED = Given(Document("o", "Set up SSO", "/articles/set-up-sso/"), Exposure.FULL)
READ = Given(
    Document("r", "Status page", "/articles/status/"),
    text=(
        "Look at https://status.example.org/now or write to <mailto:help@example.org>.\n"
        "![The menu](/media/menu.png) ![Elsewhere](https://cdn.example.org/x.png)\n"
        "[Form](https://help.example.com/contact/) and [Phone](tel:+4930123)."
    ),
)


def text_of(*steps: Step) -> str:
    """What is delivered, with three passages given before."""
    return write(*THREE, *steps).text


def unchanged(text: str) -> bool:
    written = write(*THREE, text)
    return (written.text, written.sources, written.dropped) == (text, [], [])


# Markers


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[3]", "[1]"),
        ("[^3]", "[1]"),
        ("[[3]]", "[1]"),
        ("[[^3]]", "[1]"),
        ("[ [3] ]", "[1]"),
        ("[ 3 ]", "[1]"),
        ("[003]", "[1]"),
        ("【3】", "[1]"),
        ("【3†source】", "[1]"),
        ("【3†】", "[1]"),
        (f"【3†{'x' * 298}】", "[1]"),
        ("【3†any: thing】", "[1]"),
        ("[3, 1]", "[1][2]"),
        ("[3;1]", "[1][2]"),
        ("[3，1]", "[1][2]"),
        ("[3、1]", "[1][2]"),
        ("[3 and 1]", "[1][2]"),
        ("[3 & 1]", "[1][2]"),
        ("[1-3]", "[1][2][3]"),
        ("[1–3]", "[1][2][3]"),
        ("[1-9]", "[1][2][3]"),
        ("[3-1]", "[1][2]"),
        ("[3, 3]", "[1]"),
        ("[[3], [1]]", "[[1], [2]]"),
    ],
)
def test_forms_of_a_marker(marker: str, numbers: str) -> None:
    assert text_of(f"Do it {marker}.") == f"Do it {numbers}."


@pytest.mark.parametrize(
    "text",
    [
        "[bar] [Device] > [Limits] [x] [ ] [] [2024] [1.2] [a1] [1a] [+1] [-1] [1 2] [1,]",
        "[0] [00] [^0] [1, 0] items[0] [0-3]",
        "a [ b ] c ] d [ e",
        "【设定】 【】 【1",
        f"【3†{'x' * 299}】",
        "[[[]",
        "[1",
        "1] [",
        "[1\n]",
    ],
)
def test_brackets_that_are_text(text: str) -> None:
    assert unchanged(text)


def test_a_marker_may_stand_behind_a_long_text() -> None:
    assert text_of(f"{'a' * 400}【3】 [3] [x](/articles/change-plan/)") == (
        f"{'a' * 400}[1] [1] [x](/articles/change-plan/)"
    )


def test_a_range_over_more_than_twenty_names_its_ends() -> None:
    written = write(*THREE, "All [1-300].")

    assert written.text == "All [1]."
    assert written.dropped == [("[1-300]", "unknown_ref")]


def test_a_marker_that_names_a_known_and_an_unknown_document_is_recorded_once() -> None:
    written = write(*THREE, "So [1, 7, 8].")

    assert written.text == "So [1]."
    assert written.dropped == [("[1, 7, 8]", "unknown_ref")]


def test_another_systems_marker_names_nothing_of_ours() -> None:
    written = write(*THREE, "So【4:0†source】and【0】and【†x】on.")

    assert written.text == "So and and on."
    assert written.reasons == ["unknown_ref"] * 3


def test_a_repeat_right_behind_is_written_once() -> None:
    assert text_of("A [1][1]【1】[[1]](/articles/change-plan/) [1].") == "A [1] [1]."


def test_a_repeat_is_no_repeat_where_something_stands_between() -> None:
    assert text_of("A [1]*[1]*, [1]`x`[1], [1]\\[[1]") == "A [1]*[1]*, [1]`x`[1], [1]\\[[1]"
    assert text_of("A [1][9]*[1]*.") == "A [1]*[1]*."


def test_a_repeat_with_a_removed_marker_between_is_written_once() -> None:
    assert text_of("A [1][9][1].") == "A [1]."


@pytest.mark.parametrize("again", ["[1]", "[](/articles/change-plan/)"])
def test_a_repeat_that_is_not_written_is_no_removal(again: str) -> None:
    assert text_of(f"<a[1]{again}b") == "<a[1]b"


def test_a_reference_is_a_document_and_not_a_place_in_what_the_search_found() -> None:
    written = write(A, B, "Open the page [1].")

    assert written.text == "Open the page [1]."
    assert written.sources == [("a", 1, True, "excerpt")]


def test_documents_seen_later_are_cited_later() -> None:
    written = write(A, "First [1], not yet [2].\n\n", B, "Now [2].")

    assert written.text == "First [1], not yet.\n\nNow [2]."
    assert written.sources == [("a", 1, True, "excerpt"), ("b", 2, True, "excerpt")]


def test_the_reference_of_an_earlier_turn_that_is_not_carried_is_nothing() -> None:
    written = write("You have 5 seats [1].")

    assert written.text == "You have 5 seats."
    assert written.sources == []
    assert written.dropped == [("[1]", "unknown_ref")]


# Titles


def test_a_title_becomes_a_titled_link() -> None:
    written = write(T1, T2, "Plans[1], (2: [2]) and [1]")

    assert written.text == (
        r"Plans ([Seats](/articles/seats/)), (2: ([Coupons \[old\]](/articles/coupons/)))"
        " and ([Seats](/articles/seats/))"
    )
    assert written.sources == [("t1", None, False, "listing"), ("t2", None, False, "listing")]


@pytest.mark.parametrize(
    ("before", "between"),
    [
        ("", ""),
        ("word", " "),
        ("(", ""),
        ("「", ""),
        ("\n", ""),
        ("a\t", ""),
        ("`x`", " "),
        (".", " "),
        ("(a", " "),
    ],
)
def test_a_titled_link_stands_apart_from_what_is_before_it(before: str, between: str) -> None:
    assert write(T1, f"A\n{before}[1]").text == f"A\n{before}{between}([Seats](/articles/seats/))"


def test_a_titled_link_may_be_all_there_is() -> None:
    assert write(T1, "[1]").text == "([Seats](/articles/seats/))"


def test_a_titled_link_right_behind_the_same_one_is_written_once() -> None:
    text = write(T1, T2, "See [1][1] [1][2].").text

    seats, coupons = "([Seats](/articles/seats/))", r"([Coupons \[old\]](/articles/coupons/))"
    assert text == f"See {seats} {seats} {coupons}."


def test_a_title_without_an_address_is_only_a_title() -> None:
    written = write(CLOSED_TITLE, "Fifty [1].")

    assert written.text == "Fifty (Internal limits)."
    assert written.sources == [("x", None, False, "listing")]
    assert written.ledger.links == set()


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("[1] first", r"\[1\] first"),
        ("a\\", r"a\\"),
        ("`code`", "&#96;code&#96;"),
        ("<b>", r"\<b>"),
        ("![x](y)", r"!\[x\](y)"),
        ("two\nlines  of", "two lines of"),
        ("404", "404 "),
        ("https://evil.example", "https\\://evil.example"),
    ],
)
def test_nothing_in_a_title_is_markup(title: str, label: str) -> None:
    given = Given(Document("t", title, "/articles/t/"), Exposure.TITLE)

    assert write(given, "See [1].").text == f"See ([{label}](/articles/t/))."
    assert write(given, "https://help.example.com/articles/t").text == f"[{label}](/articles/t/)"


def test_a_title_ends_no_code_that_a_stray_backtick_began() -> None:
    seen = Given(Document("t", "Only `a` title", "/articles/t/"), Exposure.TITLE)

    written = write(seen, A, "A ` here [2] and [1].")

    assert written.text == "A ` here [1] and ([Only &#96;a&#96; title](/articles/t/))."
    assert numbers_in(written.text) == [1]


# What is left where a marker is removed


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a [9].", "a."),
        ("a [9] b", "a b"),
        ("a  [9]", "a"),
        ("a [9][8], b", "a, b"),
        ("a [9] [8].", "a."),
        ("a [9]\nb", "a\nb"),
        ("a [9]b", "a b"),
        ("a[9]b", "a b"),
        ("a[9]。", "a。"),
        ("a[9]é", "aé"),
        ("a[9]*b*", "a*b*"),
        ("猫[9]犬", "猫犬"),
        ("a [9]」", "a」"),
        ("(see [9])", "(see)"),
        ("([9])", "()"),
        ("a [9]!", "a!"),
        ("a [9]! b", "a! b"),
        ("a [9]![b](https://evil.example/p)", "a b"),
        ("a [9]**. b", "a**. b"),
        ("**a [9]**.", "**a**."),
        ("**a [9]** b", "**a** b"),
        ("a [9]*b*", "a *b*"),
        ("a [9]__", "a__"),
        ("**a [9]**[8]. b", "**a**. b"),
        ("a [9]** [1]", "a** [1]"),
        ("a [9]`b`", "a `b`"),
        ("a [9]\\.", "a \\."),
        ("[9] a", "a"),
        ("  [9]  a", "  a"),
        ("- [9] a", "- a"),
        ("> [9] a", "> a"),
        ("# [9] a", "# a"),
        ("a\n[9] b", "a\nb"),
        ("[9]", ""),
        ("[9]\n\n[9]", "\n\n"),
        ("a\n[9][8]  b", "a\nb"),
        ("a\n[9] [8] b", "a\nb"),
        ("| a | [9] |", "| a | |"),
        ("a [9] [1]", "a [1]"),
        ("a\u00a0 [9]. b", "a\u00a0. b"),
        ("a [9][1]", "a [1]"),
        ("a[9][1]", "a[1]"),
        ("[1][9] b", "[1] b"),
        ("a [9]\n\nb", "a\n\nb"),
        ("a  [9]\r\nb", "a\r\nb"),
        ("a [9].[2]", "a.[1]"),
        ("a [9].`b`", "a.`b`"),
        ("[9][2] ", "[1] "),
        ("-[9]x y", "-x y"),
    ],
)
def test_the_space_around_a_removed_marker(text: str, left: str) -> None:
    assert text_of(text) == left.replace("[2]", "[1]")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("h【4:0】ttps://evil.example", "h ttps://evil.example"),
        ("https:【4:0】//evil.example", "https: //evil.example"),
        ("https【4:0】://evil.example", "https ://evil.example"),
        ("HTTPS:/[9]/evil.example", "HTTPS:/ /evil.example"),
        ("<mailto【4:0】:a@evil.example>", "<mailto :a@evil.example>"),
        ("`[9]``", "` ``"),
        ("``[9]`", "`` `"),
        ("~~[9]~\nx [1]", "~~ ~\nx [1]"),
        ("\\[9]", "\\[9]"),
        ("a\\【9】* b", "a\\ * b"),
        ("[【9】1]", "[1\\]"),
        ("[1[9]]", "[1\\]"),
        ("[[9]1]", "[1\\]"),
        ("[a]【9】: /x", "[a]\\: /x"),
        ("![9][x](/articles/invoices/)", "! [x](/articles/invoices/)"),
        ("[a][9][1]", "[a][1]"),
        ("[9]```\nx\n```\n[2]", "\\`\\`\\`\nx\n```\n[2]"),
        ("> [9]~~~ x", "> \\~~~ x"),
        ("- [9]```\n  x", "- \\`\\`\\`\n  x"),
        ("[9]- a\n\n    [2]", "\\- a\n\n    [2]"),
        ("[9] * a", "\\* a"),
        ("[9] **a**", "**a**"),
        ("[9] -5", "-5"),
        ("[9] 12. a", "12\\. a"),
        ("[9] 12) ", "12\\) "),
        ("[9] 12", "12"),
        ("[9] 12 a", "12 a"),
        ("[9] 12[2]", "12[1]"),
        ("[9] 12[8]3", "12 3"),
        ("12[9]. a", "12\\. a"),
        ("> 1[9]) a", "> 1\\) a"),
        ("a 12[9]. a", "a 12. a"),
        ("[9] 1234567890. a", "1234567890. a"),
        ("[- a](/nope/) b", "\\- a b"),
        ("[-](/nope/) b", "\\- b"),
        ("[a\n](/nope/)- b", "a\n\\- b"),
        ("-[9] a", "-a"),
        ("1.[9] [2]", "1.[1]"),
        ("x\n[9]\n- a", "x\n\n- a"),
        ("<ma【9】ilto:a@evil.example>", "<ma ilto:a@evil.example>"),
        ("<a[9]b@evil.example>", "<a b@evil.example>"),
        ("https://[9]evil.example/x", "https:// evil.example/x"),
        ("[h](/nope/)ttps://evil.example", "h ttps://evil.example"),
        ("[H](/nope/)TTPS://evil.example", "H TTPS://evil.example"),
        ("h【9】•", "h•"),
        ("<http://t", "< http\\://t"),
        ("<<hs:>", "<<hs\\:>"),
        ("<<o@e>", "<<o\\@e>"),
        ("\\http://h", "\\http\\://h"),
        ("/\\【9】[2]", "/\\ [1]"),
        ("\\ [2]", "\\ [1]"),
        ("[]e", "[]e"),
        ("[\n:[]:", "[\n:[]:"),
        (".\n[9] 1.", ".\n1\\."),
        ("1. [9]1) a", "1. 1\\) a"),
        ("1. [9]1)a", "1. 1)a"),
        ("- [9]1[8]2", "- 1 2"),
        ("- [9]1[8]) a", "- 1\\) a"),
        ("- [9]1[2]", "- 1[1]"),
        ("> - [9]- a", "> - \\- a"),
        ("- [9]**a**", "- **a**"),
        ("[9]*[8]b*", "*b*"),
        ("- [9]-5", "- -5"),
        ("- [9]1`x`", "- 1`x`"),
        (f"[{'1,' * 149}11[9]]", f"[{'1,' * 149}11\\]"),
        (f"[{'1,' * 150}1[9]]", f"[{'1,' * 150}1]"),
    ],
)
def test_a_removal_brings_nothing_into_being(text: str, left: str) -> None:
    assert text_of(text) == left


@pytest.mark.parametrize(
    ("follows", "written"),
    [
        ("`x`", "`x`"),
        ("[x](/articles/invoices/)", "[x](/articles/invoices/)"),
        ("![Menu](/media/menu.png)", "![Menu](/media/menu.png)"),
        ("[4]", " ([Seats](/articles/seats/))"),
    ],
)
def test_what_waits_behind_a_removal_stands_before_what_follows_it(
    follows: str, written: str
) -> None:
    assert write(*THREE, T1, READ, f"a [9]*{follows}*").text == f"a *{written}*"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a ``[9]`x`", "a `` `x`"),
        ("a `` [9]`x`", "a `` `x`"),
        ("a[9]`x`", "a`x`"),
        ("[a\\]](/nope/)(y)", "a\\](y)"),
        ("[a\\\\ ](/nope/)[9].", "a\\\\."),
    ],
)
def test_code_and_escapes_beside_a_removal(text: str, left: str) -> None:
    assert text_of(text) == left


# Code and escapes


@pytest.mark.parametrize(
    "text",
    [
        "`[1]`",
        "``[1] ` [1]``",
        "`[a](https://evil.example)`",
        "`https://evil.example`",
        "```\n[1]\n```\n",
        "```py\n[1]\n",
        "````\n```\n[1]\n````",
        "~~~\n[1]\n```\n~~~\n",
        "~~~ a`b\n[1]\n~~~",
        "  ```\n[1]\n  ```",
        "a\n      ```\n[1]\n      ```",
        "- a\n\n      ```\n[1]\n      ```",
        "- ```\n  [1]\n  ```",
        "1. ~~~\n   [1]\n   ~~~",
        "> ```\n> [1]\n> ```",
        "> - ```\n>   [1]\n>   ```",
        "```\n[1]\n``` x\n[1]\n```",
        "```\r\n[1]\r\n```\r\n",
        "    [1]\n\n    [1]\n",
        "\t[1]\n",
        "a\n\n    [1]\n    https://evil.example\n",
        "\\[1] \\[1\\] \\`\\[1]`",
        "\\!\\[1]",
        "`` a `[1]` b",
        "\\\\\\[1]",
    ],
)
def test_code_and_escapes_are_passed_through(text: str) -> None:
    assert unchanged(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("`[2]", "`[1]"),
        ("`[2]\n`", "`[1]\n`"),
        ("``[2]`", "``[1]`"),
        ("`` a ` [2]", "`` a ` [1]"),
        ("\\`[2]`", "\\`[1]`"),
        ("\\\\[2]", "\\\\[1]"),
        ("\\a [2]", "\\a [1]"),
        ("a\n    [2]", "a\n    [1]"),
        ("``` a ` b\n[2]", "``` a ` b\n[1]"),
        ("``\n[2]\n``", "``\n[1]\n``"),
        ("```\nx\n```\n[2]", "```\nx\n```\n[1]"),
        ("```\nx\n```\n    [2]", "```\nx\n```\n    [1]"),
        ("- a\n\n    [2]\n", "- a\n\n    [1]\n"),
        ("1) a\n\n  b\n\n    [2]\n", "1) a\n\n  b\n\n    [1]\n"),
        ("- a\n\nb\n\n    [2]\n", "- a\n\nb\n\n    [2]\n"),
        ("- a\nb\n\n    [2]\n", "- a\nb\n\n    [1]\n"),
        ("- a\n# h\n\n    [2]\n", "- a\n# h\n\n    [2]\n"),
        ("    x\n[2]", "    x\n[1]"),
        ("    x\n\n[2]", "    x\n\n[1]"),
        ("-x\n\n    [2]", "-x\n\n    [2]"),
        ("   [2]", "   [1]"),
        ("1: x\n\n    [2]", "1: x\n\n    [2]"),
        ("123456789. x\n\n    [2]", "123456789. x\n\n    [1]"),
        ("> -\n\n    [2]", "> -\n\n    [1]"),
        ("- a\n  ```\n  x\n  ```\n\n    [2]", "- a\n  ```\n  x\n  ```\n\n    [1]"),
        ("- a\n###### h\n\n    [2]", "- a\n###### h\n\n    [2]"),
        ("x\n``\n[2]\n``", "x\n``\n[1]\n``"),
        ("a\n\n   \r[2]", "a\n\n   \r[1]"),
        ("1234567890. x\n\n    [2]", "1234567890. x\n\n    [2]"),
    ],
)
def test_what_is_no_code_is_text(text: str, left: str) -> None:
    assert text_of(text) == left


# Paragraphs


@pytest.mark.parametrize(
    "end",
    [
        "\n\n",
        "\n \t\n",
        "\r\n\r\n",
        "\n- ",
        "\n1. ",
        "\n* ",
        "\n+ ",
        "\n# ",
        "\n> - ",
        "\n>\n",
        "\n```\n",
    ],
)
def test_a_label_does_not_reach_over_the_end_of_a_paragraph(end: str) -> None:
    assert text_of(f"[a{end}b](https://evil.example)").startswith(f"[a{end}b]")


@pytest.mark.parametrize("line", ["\n", "\n  ", "\n> ", "\n-x ", "\n#x ", "\n12345 ", "\n``x "])
def test_a_label_reaches_over_lines_of_a_paragraph(line: str) -> None:
    assert text_of(f"[a{line}b](/articles/invite/)") == f"[a{line}b](/articles/invite/)"


def test_a_heading_line_is_a_paragraph() -> None:
    assert text_of("# [a\nb](/nope/)") == "# [a\nb]\\(/nope/)"
    assert text_of("####### [a\nb](/nope/)") == "####### a\nb"


# Links


def test_a_link_to_what_was_given_is_a_citation() -> None:
    written = write(*THREE, "See [the invoices](/articles/invoices).")

    assert written.text == "See [the invoices](/articles/invoices/)."
    assert written.sources == [("b", None, True, "excerpt")]
    assert written.ledger.links == {"/articles/invoices/"}


@pytest.mark.parametrize(
    ("dest", "written"),
    [
        ("/articles/invoices", ""),
        ("/articles/invoices/?utm_source=x", ""),
        ("/articles/invoices/#part-2", "#part-2"),
        ("/articles/invoices/#", ""),
        ("/articles/invoices/#a(b)", ""),
        ("/articles/invoices/#a&amp;b", "#a&b"),
        ("/articles/invoices/#a&amp;lpar;b", ""),
        ("https://help.example.com/articles/invoices/#x", "#x"),
        ("//help.example.com/articles/invoices/", ""),
        ("</articles/invoices/>", ""),
        ("  /articles/invoices/  ", ""),
        ("\n/articles/invoices/\n", ""),
        (" \n/articles/invoices/ \n", ""),
        ('/articles/invoices/ ""', ""),
        ("/articles/invoices/ ()", ""),
        ("/articles/invoices/ 'a\\''", ""),
        ("/articles/invoices/ 'a\n'", ""),
        ('/articles/invoices/ "title"', ""),
        ("/articles/invoices/ 'ti\\'tle'", ""),
        ("/articles/invoices/ (title)", ""),
        ('/articles/invoices/\n"two\nlines"', ""),
        ("/articles/invoices\\/", ""),
        ("</articles/invoices\\/>", ""),
        ("&#47;articles/invoices/", ""),
    ],
)
def test_spellings_of_a_destination(dest: str, written: str) -> None:
    assert text_of(f"[x]({dest})") == f"[x](/articles/invoices/{written})"


@pytest.mark.parametrize(
    "inside",
    [
        "a b",
        "<a",
        "<a>b",
        '/a "b',
        '/a "b" c',
        "/a(",
        "/a ((b))",
        "/a 'b\n\nc'",
        "\n\n/a",
        "/a\n- b",
        '<a>"b"',
        "/a 'b\n- c'",
        "\n```",
        "\n~~~",
    ],
)
def test_what_is_no_link_is_made_inert(inside: str) -> None:
    text = text_of(f"[x]({inside})")

    assert text == f"[x]\\({inside})"


@pytest.mark.parametrize("start", ["", ")", "x)", " )", "> )"])
@pytest.mark.parametrize("end", ["\n\nz", "<a b", "<a\nb", "a 'b", "a\n\nb", "a(b", "a 'b\n\nc"])
def test_what_is_no_link_does_not_look_back(start: str, end: str) -> None:
    assert text_of(f"{start}[y]({end}") == f"{start}[y]\\({end}"


@pytest.mark.parametrize(
    ("dest", "reason"),
    [
        ("/articles/invented/", "not_retrieved"),
        ("articles/invoices/", "not_retrieved"),
        ("/articles/x:invoices/", "not_retrieved"),
        ("//x/y/articles/invoices/", "foreign_link"),
        ("/articles//x/invoices/", "not_retrieved"),
        ("#top", "not_retrieved"),
        ("", "not_retrieved"),
        ("https://help.example.com/contact/", "not_retrieved"),
        ("https://evil.example/articles/invoices/", "foreign_link"),
        ("https://help.example.com:81/articles/invoices/", "foreign_link"),
        ("mailto:a@evil.example", "foreign_link"),
        ("tel:+1", "foreign_link"),
        ("//evil.example", "foreign_link"),
        ("/\\/evil.example", "foreign_link"),
        ("javascript:alert(1)", "unsafe_link"),
        ("java&#115;cript:x", "unsafe_link"),
        ("data:text/html,x", "unsafe_link"),
        ("ftp://x", "unsafe_link"),
        ("https:/x", "unsafe_link"),
        ("<a b>", "unsafe_link"),
        ("<b\\>c>", "unsafe_link"),
        ("<>", "not_retrieved"),
        ("a\\)b", "not_retrieved"),
        ("a()b", "not_retrieved"),
        ("a(b)", "not_retrieved"),
        ("a(b(c)d)", "not_retrieved"),
        ("https://help.example.com@evil.example/", "unsafe_link"),
    ],
)
def test_a_link_to_anything_else_leaves_its_label(dest: str, reason: str) -> None:
    written = write(*THREE, f"See [that]({dest}).")

    assert written.text == "See that."
    assert written.dropped == [(f"[that]({dest})", reason)]
    assert written.ledger.links == set()


@pytest.mark.parametrize(
    "link",
    [
        "[Status](https://status.example.org/now)",
        '[Status](https://status.example.org/now "Now")',
        "[Status](<https://status.example.org/now>)",
        "[Form](https://help.example.com/contact/)",
        "[Mail](mailto:help@example.org)",
        "[Call](tel:+4930123)",
        "https://status.example.org/now",
        "<https://status.example.org/now>",
        "<mailto:help@example.org>",
    ],
)
def test_an_address_that_the_model_was_given_is_left_as_it_is(link: str) -> None:
    written = write(READ, f"See {link}.")

    assert written.text == f"See {link}."
    assert (written.sources, written.dropped) == ([], [])
    assert len(written.ledger.links) == 1
    assert next(iter(written.ledger.links)) in link


@pytest.mark.parametrize(
    ("behind", "left"),
    [
        ("[9]/evil", " /evil"),
        (" [9]/evil", " /evil"),
        ("[9].evil", " .evil"),
        ("[9]. Then", ". Then"),
        ("[9].", "."),
        (" [9]. Then", ". Then"),
        (" [9].evil", " .evil"),
        (" [9].[1]", ".[1]"),
        ("【9】(evil)", " (evil)"),
        ("[9].[1]", ".[1]"),
        ("[/evil](/nope/)", " /evil"),
        ("[9]) b", ") b"),
        ("[9]!【9】[x](/articles/status/)", "! [x](/articles/status/)"),
    ],
)
def test_an_address_that_was_given_grows_by_no_removal(behind: str, left: str) -> None:
    address = "https://status.example.org/now"

    assert write(READ, f"See {address}{behind}").text == f"See {address}{left}"


@pytest.mark.parametrize("dest", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_an_unsafe_address_that_was_given_is_no_link(dest: str) -> None:
    given = Given(READ.document, text=f"[x]({dest}) <{dest}>")

    written = write(given, f"See [x]({dest}) and <{dest}>.")

    assert written.text == "See x and <" + dest.replace(":", "\\:") + ">."
    assert written.reasons == ["unsafe_link", "unsafe_link"]
    assert written.ledger.links == set()


def test_an_address_given_inside_another_is_not_given() -> None:
    given = Given(READ.document, text="https://status.example.org/now/and/then")

    assert write(given, "[x](https://status.example.org/now)").text == "x"


def test_an_address_given_in_an_earlier_turn_is_given() -> None:
    given = Given(READ.document, text=READ.text, carried=True)

    assert write(given, "[x](tel:+4930123)").text == "[x](tel:+4930123)"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://help.example.com/articles/invoices", "[Invoices](/articles/invoices/)"),
        ("<https://help.example.com/articles/invoices#a>", "[Invoices](/articles/invoices/#a)"),
        ("HTTPS://HELP.EXAMPLE.COM/articles/invoices/", "[Invoices](/articles/invoices/)"),
        ("(https://help.example.com/articles/invoices)", "([Invoices](/articles/invoices/))"),
        (
            "参照https://help.example.com/articles/invoices。",
            "参照[Invoices](/articles/invoices/)。",
        ),
        ("**https://help.example.com/articles/invoices**", "**[Invoices](/articles/invoices/)**"),
        ("https://help.example.com/articles/nope.", "https\\://help.example.com/articles/nope."),
        ("<mailto:a@evil.example>", "<mailto\\:a@evil.example>"),
        ("<javascript:x>", "<javascript\\:x>"),
        ("Https://evil.example/a_(b)", "Https\\://evil.example/a_(b)"),
        ("xhttps://evil.example", "xhttps://evil.example"),
        ("1https://evil.example", "1https\\://evil.example"),
        ("https:// x", "https:// x"),
        ("https://. x", "https://. x"),
        ("http:/x http h", "http:/x http h"),
        ("<a:b>", "<a:b>"),
        ("<b>x</b> < 3 <", "<b>x</b> < 3 <"),
    ],
)
def test_addresses_without_a_label(text: str, left: str) -> None:
    assert text_of(text) == left


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://e.example/a_(b c", "https://e.example/a_(b"),
        ("https://e.example/a(b)c) d", "https://e.example/a(b)c"),
        ("https://e.example/a((b)) c", "https://e.example/a((b))"),
        ("https://e.example/a((b))) c", "https://e.example/a((b))"),
        ("https://e.example/(a)(b) c", "https://e.example/(a)(b)"),
        ("http://( x", "http://("),
        ("http://(<", "http://("),
    ],
)
def test_where_a_bare_address_in_an_answer_ends(text: str, address: str) -> None:
    assert write(*THREE, text).dropped == [(address, "foreign_link")]


def test_the_address_of_a_document_is_nothing_that_was_dropped() -> None:
    assert write(*THREE, "https://help.example.com/articles/invoices").dropped == []


def test_an_address_in_parentheses_and_before_a_full_stop_counts_once() -> None:
    address = "https://help.example.com/articles/invoices"
    written = write(*THREE, f"(see {address}), or {address}. 参照{address}。")

    link = "[Invoices](/articles/invoices/)"
    assert written.text == f"(see {link}), or {link}. 参照{link}。"
    assert written.sources == [("b", None, True, "excerpt")]


def test_a_document_that_nobody_may_open_is_cited_and_not_linked() -> None:
    written = write(CLOSED, "Fifty [1], see [limits](/articles/internal-limits/).")

    assert written.text == "Fifty [1], see limits."
    assert written.sources == [("x", 1, True, "excerpt")]
    assert written.dropped == [("[limits](/articles/internal-limits/)", "not_retrieved")]


def test_an_address_in_another_script_is_found_in_either_spelling() -> None:
    given = Given(Document("z", "密码重置", "/articles/%E5%AF%86%E7%A0%81/"))
    written = write(
        given,
        "[一](/articles/密码/) [二](/articles/%E5%AF%86%e7%a0%81) "
        "https://help.example.com/articles/密码 [1]",
    )

    url = "/articles/%E5%AF%86%E7%A0%81/"
    assert written.text == f"[一]({url}) [二]({url}) [密码重置]({url}) [1]"
    assert written.sources == [("z", 1, True, "excerpt")]


def test_a_label_has_at_most_three_hundred_characters() -> None:
    label, longer = "x" * 300, "x" * 301

    assert text_of(f"[{label}](/nope/)") == label
    assert text_of(f"[{longer}](/nope/)") == f"[{longer}]\\(/nope/)"
    assert text_of(f"[{'x' * 200}[{label}](/nope/)") == f"[{'x' * 200}{label}"


def test_brackets_in_a_label_are_balanced() -> None:
    assert text_of("[a [b] c](/articles/invite/)") == "[a [b] c](/articles/invite/)"
    assert text_of("[a ] b](/articles/invite/)") == "[a ] b]\\(/articles/invite/)"
    assert text_of("[a [ b](/articles/invite/)") == "[a [ b](/articles/invite/)"
    assert text_of("[a `]` b](/articles/invite/)") == "[a `]` b](/articles/invite/)"
    assert text_of("[a \\] b](/articles/invite/)") == "[a \\] b](/articles/invite/)"


def test_the_parenthesis_of_a_link_of_ours_is_the_only_one_behind_a_bracket() -> None:
    assert text_of("[1](a b) [x]\\(y) `]`(z) \\](z)") == "[1]\\(a b) [x]\\(y) `]`(z) \\](z)"
    assert text_of("[a]【9】(/x) ]【9】(/x)") == "[a]\\(/x) ]\\(/x)"
    assert text_of("f(x)[a](") == "f(x)[a]\\("
    assert text_of("[a](\n") == "[a]\\(\n"


@pytest.mark.parametrize("lead", ["", "  ", "> ", "- ", "1. ", "> - ", "- > "])
def test_a_line_that_would_define_is_made_inert(lead: str) -> None:
    assert text_of(f"x\n\n{lead}[foo]: /invented/\n\ny") == f"x\n\n{lead}[foo]\\: /invented/\n\ny"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[foo\nbar]: /x", "[foo\nbar]\\: /x"),
        ("> [foo\n> bar]: /x", "> [foo\n> bar]\\: /x"),
        ("[foo\\\nbar]: /x", "[foo\\\nbar]\\: /x"),
        ("[foo\nbar\nbaz]: /x", "[foo\nbar\nbaz]\\: /x"),
        ("[\n> [r]: /x", "[\n> [r]\\: /x"),
        ("[foo\n\nbar]: /x", "[foo\n\nbar]: /x"),
        ("x [foo\nbar]: /x", "x [foo\nbar]: /x"),
        ("[foo] [\nbar]: /x", "[foo] [\nbar]: /x"),
        ("x foo]: /x", "x foo]: /x"),
        ("foo\nbar]: /x", "foo\nbar]: /x"),
        ("[foo\n \nbar]: /x", "[foo\n \nbar]: /x"),
        ("[foo\nb[ar\nbaz]: /x", "[foo\nb[ar\nbaz]: /x"),
        (f"[{'x' * 1500}]: /x", f"[{'x' * 1500}]\\: /x"),
        (f"[{'x' * 2198}]: /x", f"[{'x' * 2198}]\\: /x"),
        (f"[{'x' * 2199}]: /x", f"[{'x' * 2199}]: /x"),
    ],
)
def test_a_label_over_lines_defines_nothing(text: str, left: str) -> None:
    assert text_of(text) == left


def test_a_marker_before_a_colon_is_a_citation_and_defines_nothing() -> None:
    assert text_of("[2]: mind it.\n\nNote [2]: mind it.") == "[1]\\: mind it.\n\nNote [1]: mind it."


# Markers and labels


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[1](/articles/invite/)", "[1]"),
        ("[[1]](/articles/invite/)", "[1]"),
        ("[2](/nope/)", "[1]"),
        ("[2](javascript:x)", "[1]"),
        ("[[2]](https://evil.example)", "[1]"),
        ("[9](/articles/invite/)", "[1]"),
        ("[^2](/nope/)", "[1]"),
        ("[2, 3](/nope/)", "[1][2]"),
        ("a [9](/nope/).", "a."),
    ],
)
def test_a_marker_as_a_label_is_a_citation(text: str, left: str) -> None:
    assert text_of(text) == left


def test_a_marker_as_a_label_records_what_it_invents() -> None:
    written = write(*THREE, "a [9](/nope/) [1, 9](/nope/) [9](/articles/invite/)")

    assert written.text == "a [1] [2]"
    assert written.dropped == [("[9](/nope/)", "unknown_ref"), ("[1, 9](/nope/)", "unknown_ref")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[see [1]](/articles/invite/)", "[see](/articles/invite/)[1]"),
        ("[see [1] and [2][1]](/articles/invite/)", "[see and](/articles/invite/)[1][2]"),
        ("[see [1]](/nope/) x", "see[1] x"),
        ("![see [1]](/nope/) x", "see[1] x"),
        ("[see [9]](/articles/invite/)", "[see](/articles/invite/)"),
        ("[[9]2](/articles/invite/)", "[2 ](/articles/invite/)"),
        ("[[9]2](/nope/) x", "2 x"),
        ("[[9] see](/articles/invite/)", "[see](/articles/invite/)"),
        ("[[1] ](/articles/invite/)", "[1]"),
        ("[see [in [1]](/nope/)](/articles/invite/)", "[see in](/articles/invite/)[1]"),
        ("[see 【1】](/articles/invite/)", "[see](/articles/invite/)[1]"),
        ("[`[1]`](/articles/invite/)", "[`[1]`](/articles/invite/)"),
        ("[![pic [1]](/x.png) b](/articles/invite/)", "[pic b](/articles/invite/)[1]"),
    ],
)
def test_markers_in_a_label_move_behind_it(text: str, left: str) -> None:
    assert text_of(text) == left


def test_links_in_a_label_are_their_labels() -> None:
    text = "[a [b](/articles/invoices/) c](/articles/invite/)"
    written = write(*THREE, text)

    assert written.text == "[a b c](/articles/invite/)"
    assert written.sources == [("c", None, True, "excerpt")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[https://evil.example](https://evil.example)", "https\\://evil.example"),
        (
            "[https://evil.example](/articles/invite/)",
            "[https\\://evil.example](/articles/invite/)",
        ),
        ("[at https://help.example.com/articles/invite](/nope/)", "at Invite colleagues"),
        (
            "[<mailto:a@evil.example>](/articles/invite/)",
            "[<mailto\\:a@evil.example>](/articles/invite/)",
        ),
    ],
)
def test_addresses_in_a_label_are_inert(text: str, left: str) -> None:
    assert text_of(text) == left


def test_what_follows_a_title_in_a_label_is_no_destination() -> None:
    written = write(T1, T2, "[<https://help.example.com/articles/coupons>(x)](/nope/)")

    assert written.text == r"Coupons \[old\]\(x)"


def test_an_address_that_was_given_is_inert_in_a_label() -> None:
    written = write(READ, *THREE, "[at https://status.example.org/now](/articles/invite/)")

    assert written.text == "[at https\\://status.example.org/now](/articles/invite/)"
    assert written.ledger.links == {"/articles/invite/"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a [](/articles/invite/).", "a [1]."),
        ("a [ ](/articles/invite/).", "a [1]."),
        ("a [[9]](/articles/invite/).", "a [1]."),
        ("a [【9】](/articles/invite/).", "a [1]."),
        ("a [](/nope/).", "a."),
        ("a ![](/nope/).", "a."),
        ("a [![](/nope.png)](/articles/invite/).", "a [1]."),
        ("a [[1] ](/nope/).", "a [1]."),
    ],
)
def test_an_empty_label_makes_no_link(text: str, left: str) -> None:
    assert text_of(text) == left


def test_an_empty_label_to_a_title_is_a_titled_link() -> None:
    written = write(T1, "a [](/articles/seats/#x).")

    assert written.text == "a ([Seats](/articles/seats/))."


def test_records_stand_in_the_order_in_which_things_begin() -> None:
    written = write(*THREE, "[a [9] [b](/c/) https://d.example](/e/) [8]")

    assert [text for text, _ in written.dropped] == [
        "[a [9] [b](/c/) https://d.example](/e/)",
        "[9]",
        "[b](/c/)",
        "https://d.example",
        "[8]",
    ]


# Images


def test_an_image_of_this_site_that_the_model_was_given_is_kept() -> None:
    written = write(READ, "![Menu [1]](/media/menu.png) so")

    assert written.text == "![Menu](/media/menu.png)[1] so"
    assert written.ledger.images == {"/media/menu.png"}
    assert written.ledger.links == set()


@pytest.mark.parametrize(
    "dest",
    [
        "https://evil.example/p.png?q=secret",
        "https://cdn.example.org/x.png",
        "/media/other.png",
        "/articles/status/",
        "data:image/png;base64,AAAA",
        "javascript:x",
    ],
)
def test_any_other_image_is_its_alt_text(dest: str) -> None:
    written = write(READ, f"Done. ![ok]({dest})")

    assert written.text == "Done. ok"
    assert written.dropped == [(f"![ok]({dest})", "image")]
    assert written.ledger.images == set()


def test_an_image_of_nothing_but_space_is_gone() -> None:
    assert write(READ, "So ![ ](https://evil.example/p.png) it is").text == "So it is"


def test_an_image_is_no_closing_punctuation() -> None:
    text = "So [9]![Menu](/media/menu.png)."

    assert write(READ, text).text == "So ![Menu](/media/menu.png)."


def test_an_image_without_alt_text_that_was_given_is_kept() -> None:
    assert write(READ, "![](/media/menu.png)").text == "![](/media/menu.png)"


def test_an_image_in_a_link_is_kept() -> None:
    text = "[![Menu](/media/menu.png)](/articles/status/)"

    assert write(READ, text).text == text


def test_an_exclamation_mark_makes_no_image_of_what_follows_it() -> None:
    assert text_of("Wow![x](/articles/invite/) and ![1]") == "Wowx and ![1]"
    assert text_of("Wow![2](/articles/invite/) and ![2]") == "Wow2 and ![1]"


def test_a_reference_image_defines_nothing() -> None:
    written = write(*THREE, "![x][r]\n\n[r]: //evil.example/p.png\n\nSo.")

    assert written.text == "![x][r]\n\n[r]\\: //evil.example/p.png\n\nSo."


# Lists of references at the end

ENTRIES = "- [1] Change your plan\n- [2] Invoices\n"


@pytest.mark.parametrize(
    "heading",
    [
        *("Sources", "sources:", "SOURCES:", "Source:", "References", "Reference:", "Citations"),
        *(
            "Quellen:",
            "Fuentes",
            "Fontes:",
            "Fonti",
            "Bronnen:",
            "Źródła:",
            "Källor",
            "Références:",
        ),
        *("参考", "参考资料：", "参考文献", "来源:", "出典：", "Источники:"),
        *("## Sources", "###### Sources:", "#Sources", "**Sources**", "**Sources:**"),
        *("**Sources**:", "__Sources__", "## **Sources**", "  Sources:  "),
    ],
)
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_final_list_of_references_is_no_part_of_the_answer(heading: str, between: str) -> None:
    written = write(*THREE, f"Do it [2].\n\n{heading}{between}{ENTRIES}")

    assert written.text == "Do it [1]."
    assert written.sources == [("b", 1, True, "excerpt")]
    assert written.dropped == []


@pytest.mark.parametrize(
    "entries",
    [
        "[1] Change your plan",
        "1. [1] Change your plan\n2) [2]\n",
        "* [1]: Change your plan\n+ [2]\n",
        "• [Invoices](/articles/invoices/)",
        "- [Invented](/articles/invented/)",
        "- https://evil.example/x, read last week\n",
        "- <https://evil.example/x>",
        "【1】 Change your plan",
        "-[1]",
        "[1]\n\n\n[2]\n\n",
        f"- [1] {'x' * 119}",
        "- [1](/articles/change-plan/)",
        "- [9] Invented",
        "1.[1]",
        "- HTTPS://evil.example/x",
    ],
)
def test_entries_of_a_list(entries: str) -> None:
    written = write(*THREE, f"Do it [2].\n\nSources:\n{entries}")

    assert written.text == "Do it [1]."
    assert written.sources == [("b", 1, True, "excerpt")]
    assert written.dropped == []


@pytest.mark.parametrize(
    "line",
    [
        "Sources: [1], [2]",
        "Source: [1]",
        "**Sources:** [1] [2] and [3]",
        "## Quellen: [1]; [2] und [3]",
        "Sources: [Invoices](/articles/invoices/) | https://evil.example",
        "Sources: 【1†a】, <https://evil.example>.",
        "来源：[1]、[2]",
        "   Sources: [1]",
        f"Sources: {'[1], ' * 200}",
    ],
)
@pytest.mark.parametrize("end", ["", "\n\n"])
def test_a_list_on_one_line(line: str, end: str) -> None:
    assert text_of(f"Do it [2].\n\n{line}{end}") == "Do it [1]."


def test_definition_lines_are_a_list() -> None:
    text = "Do it[^2].\n\n[^2]: Invoices, step 3\n[1]: https://evil.example\n\n[^3]: x"

    assert text_of(text) == "Do it[1]."


def test_lists_that_follow_each_other_are_all_removed() -> None:
    text = f"Do it [2].\n\nSources:\n{ENTRIES}\n[^1]: x\n\nReferences: [1]\n"

    assert text_of(text) == "Do it [1]."


@pytest.mark.parametrize(
    "tail",
    [
        f"Sources:\n{ENTRIES}\nAnd more.",
        "Sources:\n",
        "Sources:",
        "Sources",
        "Sources:\n\nAnd more [1].",
        "Sources [1]",
        "Sources: see [1]",
        "Sources: [1] Change your plan",
        "My sources:\n- [1]",
        "Sources of data:\n- [1]",
        "**Sources\n- [1]",
        "**Sources:\n- [1]",
        "**Sources__\n- [1]",
        "*Sources*\n- [1]",
        "Sources::\n- [1]",
        "    Sources:\n- [1]\n",
        "> Sources:\n> - [1]",
        f"- [1] a\n\nSources:\n- [2] {'x' * 121}",
        "Sources:\n- Invoices [1]",
        "Sources:\n- [1]\n- none",
        "Sources:\n- [bar]",
        "Sources:\n- http",
        "Sources:\n- h",
        "Sources:\n-",
        "Sources:\n1",
        "Sources:\n1.",
        "[1] x",
        "[foo]: x [1]",
        "[1234]: x",
        "[0]: x",
        "x\n    Sources: [1]",
        "x\n\tSources: [1]",
        "####### Sources: x",
        "http [1]",
        "**: [1]",
        "**",
        "**x",
        "#",
        "Sources **: [1]",
        "Sources: -[1]",
        "Sources:\nhttp[1]",
        "Sources:\n- [1]\n.",
        "Sources:\n- [1]\n1",
        "Sources:\n- [1]\n1 [1]",
        "Sources: http",
        f"Sources: {'[1], ' * 200},",
        f"Sources: {'[1], ' * 200},\n",
    ],
)
@pytest.mark.parametrize(
    "start",
    [
        "Do it.",
        "x\n[1]: x",
        "\n[1] x\n\nDo it.",
        "**\n[1] x",
        ":\n[1] x\nSo",
        "x**\n[1] x",
        "Sources:**\n[1] x",
    ],
)
def test_what_is_no_list_at_the_end_is_text(start: str, tail: str) -> None:
    """Nor is what an answer begins with taken for a part of it."""
    text = text_of(f"{start}\n\n{tail}")

    assert text.replace("\\:", ":") == f"{start}\n\n{tail}"


@pytest.mark.parametrize("tail", ["\n- ![Menu](/media/menu.png)", " [1], ![Menu](/media/menu.png)"])
def test_an_image_is_no_entry_of_a_list(tail: str) -> None:
    assert write(READ, f"So.\n\nSources:{tail}").text == f"So.\n\nSources:{tail}"


def test_a_list_that_is_all_there_is_stays() -> None:
    for before in ("", "\n \n"):
        assert text_of(f"{before}Sources:\n{ENTRIES}") == f"{before}Sources:\n{ENTRIES}"


def test_a_list_behind_a_removed_marker_is_all_there_is() -> None:
    assert text_of("[9]\n\nSources: [1]") == "\n\nSources: [1]"


def test_a_list_that_links_titles_is_a_listing_and_stays() -> None:
    text = "We have:\n\nSources:\n- [Seats](/articles/seats/)\n"
    written = write(T1, T2, text)

    assert written.text == text
    assert written.sources == [("t1", None, False, "listing")]
    assert write(T1, T2, text.rstrip()).text == text.rstrip()


def test_a_part_of_a_listing_is_no_list() -> None:
    text = "We have:\n\nSources:\n- [Seats](/articles/seats/)\n[2]: x"

    assert write(T1, *THREE, text).text == text.replace("[2]:", "[1]\\:")


def test_a_list_that_cites_titles_by_number_is_removed() -> None:
    written = write(T1, T2, "We have seats.\n\nSources: [1]")

    assert written.text == "We have seats."
    assert written.sources == []


def test_a_list_that_names_titles_by_address_stays() -> None:
    written = write(T1, "We have:\n\nSources:\n- https://help.example.com/articles/seats/\n")

    assert written.text == "We have:\n\nSources:\n- [Seats](/articles/seats/)\n"


def test_a_list_counts_when_nothing_else_cites() -> None:
    written = write(*THREE, T1, OPENED, "Do it.\n\nSources:\n- [2] x\n- [9]\n- [1][2]\n- [4]")

    assert written.text == "Do it."
    assert written.sources == [
        ("b", None, True, "excerpt"),
        ("a", None, True, "excerpt"),
        ("o", None, True, "opened"),
    ]
    assert written.dropped == []


def test_a_list_of_addresses_counts_when_nothing_else_cites() -> None:
    written = write(*THREE, "Do it.\n\nSources: [x](/articles/invoices/), [9](/articles/invite/)")

    assert [source[0] for source in written.sources] == ["b", "c"]


def test_a_list_of_markers_with_addresses_counts_by_its_markers() -> None:
    assert write(*THREE, "Do it.\n\nSources: [2](/nope/)").sources == [("b", None, True, "excerpt")]


@pytest.mark.parametrize("entry", ["https://evil.example/x", "[Nowhere](/nope/)"])
def test_what_a_list_names_and_nobody_gave_counts_nothing(entry: str) -> None:
    written = write(*THREE, f"Do it.\n\nSources:\n- {entry}\n- [2]")

    assert written.text == "Do it."
    assert [source[0] for source in written.sources] == ["b"]


def test_a_list_does_not_count_beside_a_link() -> None:
    written = write(*THREE, "Do [it](/articles/invite/).\n\nSources: [1]")

    assert written.sources == [("c", None, True, "excerpt")]


@pytest.mark.parametrize("after", ["", "\n\n", "\n  ", "\n \n\t\n ", "\r\n"])
@pytest.mark.parametrize("listed", ["Sources: [1]", "Sources:\n- [1]", "[1]: x"])
def test_the_white_space_around_a_list_goes(listed: str, after: str) -> None:
    assert text_of(f"Do it.  \n\n \n\n{listed}{after}") == "Do it."


def test_a_list_closes_the_brackets_before_it() -> None:
    assert text_of("[Do it\nSources: [1]\n") == "[Do it"


# Order of sources


def test_the_order_of_sources() -> None:
    written = write(
        *THREE,
        OPENED,
        T1,
        Given(Document("p", "Roles", "/articles/roles/"), Exposure.FULL),
        "[x](/articles/seats/) [y](/articles/invite/) [z](/articles/roles/) and [2], [1].",
    )

    assert written.sources == [
        ("b", 1, True, "excerpt"),
        ("a", 2, True, "excerpt"),
        ("c", None, True, "excerpt"),
        ("p", None, True, "opened"),
        ("o", None, True, "opened"),
        ("t1", None, False, "listing"),
    ]


def test_a_carried_document_says_so() -> None:
    read = Given(A.document, Exposure.FULL, carried=True)

    assert write(read, "Shorter.").sources == []
    assert write(read, "Shorter [1].").sources == [("a", 1, True, "carried")]
    assert write(read, Given(A.document, Exposure.TITLE), "It [1].").sources == [
        ("a", 1, True, "opened")
    ]


def test_without_tools_an_answer_that_cites_nothing_shows_all_that_was_given() -> None:
    assert write(B, A, "Do it.", show_uncited=True).sources == [
        ("b", None, True, "excerpt"),
        ("a", None, True, "excerpt"),
    ]
    assert write(B, A, "Do it [2].", show_uncited=True).sources == [("a", 1, True, "excerpt")]
    assert write(B, A, "Do it.\n\nSources: [2]", show_uncited=True).sources == [
        ("a", None, True, "excerpt")
    ]


# An answer that breaks off


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Do [2]. Then [1", "Do [1]. Then "),
        ("Do [2]. Then [", "Do [1]. Then "),
        ("Do [2] and [the invoices](/articles/inv", "Do [1] and "),
        ("Do [2] and [the invoices]", "Do [1] and [the invoices]"),
        ("Do [2] and [the inv", "Do [1] and "),
        ("Do [2] and ![the inv](/x", "Do [1] and "),
        ("Do【4:0†sou", "Do"),
        ("See https://help.example.com/articles/invo", "See "),
        ("See <https://help.exam", "See "),
        ("Open the Bill", "Open the Bill"),
        ("Do it [2].", "Do it [1]."),
        ("Do it `[1", "Do it `"),
        ("Do it\n```\n[1", "Do it\n```\n[1"),
        ("Do it.\n\nSources:\n- [2] Inv", "Do it."),
        ("Do it.\n\nSources:\n- [2] Inv\n- [1", "Do it."),
        ("Do it.\n\nSources:\n- [2] Inv\n- ", "Do it."),
        ("Do it.\n\n[2]: Inv\n[^", "Do it."),
        ("Do it.\n\nSources: [2], [1", "Do it."),
        ("Do it.\n\nSources: [2]\nSources: [", "Do it."),
        ("Do it.\n\nSources: [", "Do it.\n\nSources: "),
        ("Do it.\n\nSources:\n- [2", "Do it.\n\nSources:\n- "),
        ("Do it.\n[2", "Do it.\n"),
        ("Do it ![", "Do it "),
        ("Do it!", "Do it!"),
        ("Do it\\", "Do it\\"),
        ("A < b <", "A < b <"),
        ("A <a@b.exa", "A "),
        ("See [a [b [2] c [d", "See "),
        ("See [2] [[9]2", "See [1] "),
        ("See [2] [[9]2\nSources: [1]", "See [1]"),
        ("See [a](/articles/inv 'it", "See "),
        ("See [a](/articles/(inv", "See "),
        ("See [a](b c", "See [a]\\(b c"),
        ("See [a](<b", "See "),
        ("See [a", "See "),
        ("See [a](", "See "),
        ("# See [9", "# See "),
        ("# See [a\n", "# See [a\n"),
        ("So\n# [2] [9", "So\n# [1] "),
        ("See https", "See https"),
        ("See https://", "See "),
        ("See 【设", "See 【设"),
        ("See ` and [2", "See ` and "),
        ("See ` <a b", "See ` <a b"),
        ("See ` [a](b [", "See ` [a]\\(b "),
        ("See \\[", "See \\["),
        ("See ` 【1 b", "See ` 【1 b"),
        ("See ` https://evil.example b", "See ` https\\://evil.example b"),
    ],
)
def test_what_is_half_written_when_the_text_breaks_off_is_left_out(text: str, left: str) -> None:
    assert write(*THREE, text, stops=True).text == left


def test_an_answer_ends_once() -> None:
    for end in (CitationWriter.close, CitationWriter.stop):
        ledger = Ledger()
        writer = CitationWriter(ledger)
        assert writer.feed("So [") == "So"
        end(writer)
        ended = ledger.changes
        assert writer.close() == writer.stop() == ""
        assert ledger.changes == ended


def test_an_answer_of_nothing_is_nothing() -> None:
    assert write("").text == ""
    assert write(stops=True).text == ""


# The history that the model is sent


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        ("Do it [1], [2].", "Do it [7], [3]."),
        ("[1][2]", "[7][3]"),
        ("`[1]` \\[1] [3]", "`[1]` \\[1] [3]"),
        ("Do it [1] [1", "Do it [7] [1"),
        ("[see](/a/)[1] https\\://x", "[see](/a/)[7] https\\://x"),
        ("```\n[1]\n```\n- [1]", "```\n[1]\n```\n- [7]"),
        (
            "![Menu](/x.png) <mailto:a@b.example> 【1】",
            "![Menu](/x.png) <mailto:a@b.example> 【1】",
        ),
    ],
)
def test_references_stand_in_the_history_in_place_of_numbers(text: str, restored: str) -> None:
    assert restore_references(text, {1: 7, 2: 3}) == restored


# What reports from elsewhere ask for


def test_indexes_in_code_are_no_citations() -> None:
    code = "Take the first cell with `cells[1]`:\n\n```\nx = cells[1]\ny = cells[2]\n```\n"
    written = write(A, f"{code}\nSee [1].")

    assert written.text == f"{code}\nSee [1]."
    assert written.sources == [("a", 1, True, "excerpt")]


def test_code_stays_where_nothing_was_retrieved() -> None:
    code = "Use `argv[1]`, then\n\n```sh\necho ${arr[2]}\n```\n"
    written = write(f"{code}\nSo [3]")

    assert written.text == f"{code}\nSo"
    assert written.dropped == [("[3]", "unknown_ref")]


def test_labels_of_buttons_are_text() -> None:
    text = "Set the pressure in [bar] under [Device] > [Limits], see [1]."

    assert write(A, text).text == text


def test_the_first_document_is_reference_one() -> None:
    assert write(A, B, "Open the page [1].").sources[0][0] == "a"


def test_two_passages_of_one_article_are_one_source() -> None:
    ledger = Ledger()
    assert ledger.expose(A.document, Exposure.EXCERPT, "one") == 1
    assert ledger.expose(A.document, Exposure.EXCERPT, "two") == 1
    written = write(A, A, "So [1] and so [1].")

    assert written.text == "So [1] and so [1]."
    assert written.sources == [("a", 1, True, "excerpt")]


def test_of_five_articles_the_cited_one_is_the_source() -> None:
    five = [Given(Document(f"d{n}", f"T{n}", f"/articles/t{n}/")) for n in range(5)]
    written = write(*five, "Press Save [2].")

    assert written.sources == [("d1", 1, True, "excerpt")]
    assert len(written.ledger.entries()) == 5


@pytest.mark.parametrize(
    "text", ["Hello. How can I help?", "I could not find that in the help center."]
)
def test_what_cites_nothing_has_no_sources(text: str) -> None:
    assert write(*THREE, text).sources == []


def test_numbers_shown_follow_first_use() -> None:
    eight = [Given(Document(f"d{n}", f"T{n}", f"/articles/t{n}/")) for n in range(1, 9)]
    written = write(*eight, "Do A [7]. Then B [4]. A again [7].")

    assert written.text == "Do A [1]. Then B [2]. A again [1]."
    assert [source[:2] for source in written.sources] == [("d7", 1), ("d4", 2)]
    by_number = {entry.number: entry.ref for entry in written.ledger.entries()}
    assert (by_number[1], by_number[2]) == (7, 4)


def test_markers_wrapped_in_links_are_flat() -> None:
    reset = Given(Document("a", "Reset", "/a/reset"))
    text = "Same steps [[1]](https://help.example.com/a/reset) apply [ [[1]](/a/reset) ](/a/reset)."

    assert write(reset, text).text == "Same steps [1] apply [1]."


def test_markers_of_another_system_are_gone() -> None:
    written = write(A, "Go to Billing【4:0†source】and pick a plan【4:1†billing-faq】.")

    assert written.text == "Go to Billing and pick a plan."


def test_the_text_holds_no_placeholder_of_ours() -> None:
    text = "Use the portal ##0$$ or {{source:1}} [1]."

    assert write(A, text).text == text


def test_every_way_to_name_several_references() -> None:
    text = text_of("A [1, 2]. B [1，2]. C [1][2]. D [1-3]. E [1 and 2]. F [1;2]. G [99].")

    assert text == "A [1][2]. B [1][2]. C [1][2]. D [1][2][3]. E [1][2]. F [1][2]. G."


def test_an_invented_address_is_no_link() -> None:
    text = (
        "Read [Refund policy](/articles/refund-policy-2024) or https://help.example.com/en/refunds."
    )
    written = write(A, text)

    assert written.text == "Read Refund policy or https\\://help.example.com/en/refunds."
    assert written.sources == []
    assert written.reasons == ["not_retrieved", "not_retrieved"]


def test_our_path_on_another_host_is_not_ours() -> None:
    exports = Given(Document("e", "Exports", "/articles/exports/"))
    written = write(exports, "See [Exports](https://www.example.com/articles/exports).")

    assert written.text == "See Exports."
    assert written.sources == []


def test_emoji_and_other_scripts_are_whole() -> None:
    text = "👩‍👩‍👧 Family plan 🎉 costs more [1]. 你好 [2]."

    assert text_of(text) == text


def test_a_near_miss_is_not_credited() -> None:
    given = Given(Document("m", "Two-factor", "/articles/two-factor-authentication-setup/"))
    written = write(given, "[Two-factor](/articles/two-factor-authentification-setup)")

    assert written.text == "Two-factor"
    assert written.sources == []
    assert written.reasons == ["not_retrieved"]


def test_what_arrives_in_parts_never_shows_half_an_address() -> None:
    ledger = Ledger()
    ledger.expose(A.document, Exposure.EXCERPT)
    writer = CitationWriter(ledger)
    parts = ["See [Change", " plan](/art", "icles/change-plan) and [", "1", "]"]

    assert [writer.feed(part) for part in parts] == [
        "See",
        "",
        " [Change plan](/articles/change-plan/) and",
        "",
        "",
    ]
    assert writer.close() == " [1]"


def test_a_marker_behind_cjk_punctuation_is_a_citation() -> None:
    text = "まず**「設定」**を開きます。请**小心：**不要删除。[1]"

    assert text_of(text) == text


def test_a_list_of_scripts_at_the_end_is_removed_with_what_it_links() -> None:
    written = write(
        *THREE,
        "So [1].\n\nSources:\n1. [Docs](javascript:alert(1))\n2. [X](JaVaScRiPt:alert(1))\n"
        "3. [Y](data:text/html,hi)",
    )

    assert written.text == "So [1]."
    assert written.ledger.links == set()


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("\n" * 5000, "Do it [3].", "Do it [1]."),
        ("a `b` " * 1000, "`[1]` [3]", "`[1]` [1]"),
        ("[a](b(c " * 100 + "x " * 1800, "[y](/articles/invite/) " * 40, ""),
        ("a" * 4090, f"[{'3, ' * 30}3]", "[1]"),
        ("x\n" * 2000 + "Sources:\n- x\n\nSo.\n\n" + "x\n" * 200, "So.\n\nSources: [1]", "So."),
    ],
)
def test_text_that_is_far_behind_makes_no_difference(before: str, text: str, left: str) -> None:
    """The writer lets go of what it has read, and of nothing that it still needs."""
    written = play([*THREE, before + text], single)

    assert written.text.endswith(left or text)
    assert len(written.text.replace("\\", "")) == len(before) + len(left or text)


@pytest.mark.parametrize(
    ("shape", "count"),
    [("[", 50_000), ("[](", 20_000), ("【", 50_000), ("<think ", 10_000), ("`", 50_001)],
)
def test_hostile_repetition_passes_through(shape: str, count: int) -> None:
    text = shape * count
    for slices in (whole, single):
        written: Written = play([text], slices)
        assert len(written.text.replace("\\", "")) == len(text)
