"""An answer's HTML holds the links, images and citations that were registered, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.markup import answer_rendering
from articles.markup.answer_rendering import Citation, Registered, render_answer
from tests.dom import Element, parse
from tests.growth import assert_linear
from tests.hostile_markdown import ALL, CITATIONS, IMAGES, LINKS, SCRIPTS

KNOWN = "/articles/known/"
CITED = "/articles/cited/#step-2"
REGISTERED = Registered(
    links=frozenset({KNOWN, "https://docs.example.org/a?b=1&c=2", "mailto:help@example.com"}),
    images=frozenset({"/media/known.png"}),
    citations={
        1: Citation(1, "Reset password", CITED, "Step 2"),
        2: Citation(2, "Internal notes", None),
    },
)
TAGS = {
    *("a", "blockquote", "br", "code", "div", "em", "h3", "h4", "h5", "h6", "hr", "img", "li"),
    *("ol", "p", "pre", "s", "span", "strong", "sup", "table", "tbody", "td", "th", "thead"),
    *("tr", "ul"),
}
ATTRIBUTES = {
    *("href", "src", "alt", "title", "class", "rel", "role", "tabindex", "loading", "start"),
    *("aria-label", "data-copy", "data-source"),
}


def rendered(text: str, registered: Registered = REGISTERED) -> Element:
    """The DOM of an answer, after checking that nothing in it goes beyond what is registered."""
    root = parse(render_answer(text, registered))
    pages = {citation.url for citation in registered.citations.values()}
    for element in root.all():
        assert element.tag in TAGS
        assert set(element.attributes) <= ATTRIBUTES
        if "href" in element.attributes:
            allowed = pages if element.attributes.get("class") == "citation" else registered.links
            assert element.attributes["href"] in allowed
        if "src" in element.attributes:
            assert element.attributes["src"] in registered.images
        if element.attributes.get("class") == "citation":
            number = int(element.text)
            assert element.attributes["data-source"] == str(number)
            assert element.attributes.get("href") == registered.citations[number].url
    return root


def citations(root: Element) -> list[str]:
    return [e.text for e in root.all("a", "span") if e.attributes.get("class") == "citation"]


def test_a_citation_names_its_source_and_leads_to_its_heading() -> None:
    [sup] = rendered("Press Save [1].").all("sup")
    [link] = sup.all()
    assert link.attributes == {
        "class": "citation",
        "href": CITED,
        "data-source": "1",
        "aria-label": "Source 1: Reset password",
        "title": "Reset password – Step 2",
    }
    assert link.text == "1"


def test_a_citation_of_a_document_nobody_may_open_leads_nowhere() -> None:
    [citation] = rendered("Press Save [2].").all("span")
    expected = {"class": "citation", "data-source": "2", "title": "Internal notes"}
    assert citation.attributes == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do A [1], then B [1][2].",
        "请**小心：**不要删除。[1]",
        "# About [1]",
        "| a | b |\n|---|---|\n| x [1] | y |",
        "- item [1]\n  - inner [2]",
        "> quoted [1]",
        ":::tip Do [1]\nthis\n:::",
        "**[1]** _[1]_ ~~[1]~~",
        "[x][1]",
        "[[1]]",
        "[1]: not a definition",
        "[1](/articles/unknown/)",
        "👩‍👩‍👧 [1] 🎉",
    ],
)
def test_a_registered_number_in_brackets_is_a_citation_wherever_text_stands(text: str) -> None:
    assert citations(rendered(text))


@pytest.mark.parametrize("text", CITATIONS)
def test_what_is_no_marker_in_the_source_is_no_citation(text: str) -> None:
    assert citations(rendered(text)) == []


def test_code_stays_as_it_is_and_prose_is_cited() -> None:
    root = rendered("Take `cells[1]`:\n\n```py\nx = cells[1]\n```\n\nSee [1].")
    assert [code.text for code in root.all("code")] == ["cells[1]", "x = cells[1]\n"]
    assert citations(root) == ["1"]


def test_quotes_and_brackets_in_a_title_stay_in_its_attributes() -> None:
    title = 'A "quoted" <b>title</b> & more'
    registered = Registered(citations={3: Citation(3, title, "/articles/q/", '<i>"h"</i>')})
    [link] = rendered("[3]", registered).all("a")
    assert link.attributes["title"] == f'{title} – <i>"h"</i>'
    assert link.attributes["aria-label"] == f"Source 3: {title}"


def test_registered_links_and_images_work() -> None:
    root = rendered(
        f"[known]({KNOWN}) [docs](https://docs.example.org/a?b=1&c=2 'Title')"
        " <mailto:help@example.com> ![A *map*](/media/known.png)"
    )
    links = root.all("a")
    assert [link.text for link in links] == ["known", "docs", "mailto:help@example.com"]
    assert [link.attributes.get("rel") for link in links] == [None, "noopener nofollow", None]
    [image] = root.all("img")
    expected = {"src": "/media/known.png", "alt": "A map", "loading": "lazy"}
    assert image.attributes == expected


@pytest.mark.parametrize(
    ("registered", "written"),
    [
        ("/articles/größe/", "[x](/articles/größe/)"),
        ("/articles/größe/", "[x](/articles/gr%C3%B6%C3%9Fe/)"),
        ("/a b/", "[x](</a b/>)"),
        ("https://e.example/x_(y)", "[x](https://e.example/x_(y))"),
        ("https://e.example/x_(y)", "[x](https://e.example/x_\\(y\\))"),
        ("https://e.example/x\\_y", "[x](https://e.example/x\\_y)"),
        ("https://e.example/x\\_y", "<https://e.example/x\\_y>"),
        ("https://e.example/?a=1&copy=2", "[x](https://e.example/?a=1&copy=2)"),
        ("https://e.example/?a=1&amp;b=2", "[x](https://e.example/?a=1&amp;b=2)"),
    ],
)
def test_an_address_is_registered_however_markdown_writes_it(registered: str, written: str) -> None:
    root = parse(render_answer(written, Registered(links=frozenset({registered}))))
    [link] = root.all("a")
    assert link.attributes["href"]


@pytest.mark.parametrize("text", LINKS)
def test_a_link_that_is_not_registered_is_text(text: str) -> None:
    links = rendered(text).all("a")
    assert {link.attributes["href"] for link in links} <= {KNOWN}
    assert not rendered(text, Registered()).all("a")


def test_a_refused_link_leaves_its_label_and_a_refused_autolink_its_brackets() -> None:
    root = rendered("[the **label** ![alt](/media/known.png)](/x/) <https://evil.example/>")
    assert root.text == "the label alt <https://evil.example/>\n"
    assert len(root.all("strong")) == len(root.all("img")) == 1


@pytest.mark.parametrize("definition", [f"[r]: {KNOWN}", f"> [r]: <{KNOWN}> 'title'"])
def test_a_definition_defines_nothing_even_where_its_address_is_registered(definition: str) -> None:
    root = rendered(f"[label][r] [r] [r][] ![r]\n\n{definition}")
    assert not root.all("a", "img")
    assert KNOWN in root.text


def test_the_sanitiser_holds_where_the_parser_would_let_an_address_through() -> None:
    rule = answer_rendering._DIALECT.core.ruler
    rule.disable("addresses")
    try:
        root = parse(render_answer("\n\n".join(LINKS + IMAGES), REGISTERED))
    finally:
        rule.enable("addresses")
    links = [e.attributes["href"] for e in root.all("a") if "href" in e.attributes]
    assert set(links) == {KNOWN}
    assert [e.attributes["src"] for e in root.all("img") if "src" in e.attributes] == []


@pytest.mark.parametrize("text", IMAGES)
def test_an_image_that_is_not_registered_is_its_alt_text(text: str) -> None:
    assert not rendered(text).all("img")
    assert rendered("![the **alt** text](https://evil.example/x.png)").text == "the alt text\n"


@pytest.mark.parametrize("text", SCRIPTS)
def test_raw_html_is_text(text: str) -> None:
    root = rendered(text)
    assert not root.all("a", "img", "h1", "h2")


@pytest.mark.parametrize("outer", ["> {}", "- {}", "**{}**", "[{}](/x/)", "![{}](/y.png)", "# {}"])
def test_nothing_hostile_gets_through_inside_other_markup(outer: str) -> None:
    for text in ALL:
        rendered(outer.format(text))


@pytest.mark.parametrize("first", ALL[::7])
def test_nothing_hostile_comes_from_two_pieces_together(first: str) -> None:
    for second in ALL[::11]:
        rendered(first + second)
        rendered(f"{first}\n{second}")


MARKS = st.sampled_from(
    [
        *("[", "]", "(", ")", "!", "<", ">", "\\", "`", "*", "_", "|", "&#91;", "1", ":", "/"),
        *(KNOWN, "https://evil.example", "javascript:", "&#58;", "&amp;", "[1]", "[r]: ", "```"),
        *("- ", "> ", ":::note ", "# ", "\n", "\t", " ", "x", "\x00", "\ud800", "\r", "\u202e"),
    ]
)


@given(st.lists(MARKS, max_size=60).map("".join))
def test_no_arrangement_of_marks_makes_more_than_is_registered(text: str) -> None:
    rendered(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["[", "[](", "【", "<think ", "`", "[1]", "[x](", "![", "- a\n"])
def test_rendering_takes_time_in_proportion_to_the_answer(piece: str) -> None:
    assert_linear(lambda text: render_answer(text, REGISTERED), piece)


def test_headings_are_below_those_of_the_page_and_have_no_ids() -> None:
    root = rendered("# A\n\n## B {#b}\n\n### C\n\n#### D\n\nE\n=\n")
    assert [e.tag for e in root.all() if e.tag[0] == "h"] == ["h3", "h4", "h5", "h6", "h3"]


def test_an_empty_answer_is_nothing() -> None:
    assert render_answer("", REGISTERED) == ""
    assert render_answer(" \n\n", REGISTERED) == ""
