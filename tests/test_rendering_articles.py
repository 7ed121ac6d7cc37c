"""An article's HTML: safe whatever the text, with anchors, contents, callouts, code and tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.rendering import ContentsEntry, plain_text, render_article
from tests.dom import Element, parse
from tests.generated_markdown import markdown
from tests.growth import assert_linear
from tests.hostile_markdown import ALL, IMAGES

TAGS = {
    *("a", "blockquote", "br", "code", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead"),
    *("tr", "ul"),
}
ATTRIBUTES = {
    *("href", "src", "alt", "title", "class", "rel", "role", "tabindex", "loading", "start"),
    *("aria-label", "data-copy", "id"),
}
SAFE_LINKS = ("https:", "http:", "mailto:", "tel:", "#", "?")


def rendered(text: str) -> Element:
    """The DOM of an article, after checking that nothing in it runs or loads from elsewhere."""
    root = parse(render_article(text).html)
    for element in root.all():
        assert element.tag in TAGS
        assert set(element.attributes) <= ATTRIBUTES
        href = element.attributes.get("href", "/")
        assert ":" not in re.split("[/?#]", href)[0] or href.lower().startswith(SAFE_LINKS)
        source = element.attributes.get("src", "")
        assert not source.startswith(("//", "http", "data", "javascript"))
        assert not re.search(r"[\s\\]", source + href)
    return root


@pytest.mark.parametrize("outer", ["{}", "> {}", "- {}", "## {}", "[{}](/x/)", "{0}{0}"])
@pytest.mark.parametrize("text", ALL)
def test_nothing_in_a_hostile_text_runs_or_loads(outer: str, text: str) -> None:
    rendered(outer.format(text))


@given(st.one_of(markdown(), st.lists(st.sampled_from(ALL), max_size=3).map("".join), st.text()))
def test_any_text_can_be_rendered(text: str) -> None:
    rendered(text)
    plain_text(text)


@pytest.mark.parametrize(
    ("written", "href"),
    [
        ("[x](https://e.example/a?b=1&c=2)", "https://e.example/a?b=1&c=2"),
        ("[x](HTTP://e.example)", "HTTP://e.example"),
        ("[x](mailto:help@e.example)", "mailto:help@e.example"),
        ("[x](tel:+49123)", "tel:+49123"),
        ("[x](/articles/größe/#größe)", "/articles/gr%C3%B6%C3%9Fe/#gr%C3%B6%C3%9Fe"),
        ("[x](#here)", "#here"),
        ("[x](docs/a:b)", "docs/a:b"),
        ("[x](?q=a:b)", "?q=a:b"),
        ("<https://e.example>", "https://e.example"),
        ("[x][ref]\n\n[ref]: /articles/a/", "/articles/a/"),
    ],
)
def test_links_to_pages_mailboxes_and_telephones_work(written: str, href: str) -> None:
    [link] = rendered(written).all("a")
    assert link.attributes["href"] == href
    is_external = href.lower().startswith("http")
    assert link.attributes.get("rel") == ("noopener nofollow" if is_external else None)


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JAVASCRIPT:x", "data:text/html,x", "ftp://e.example", "foo:bar"],
)
def test_a_link_with_another_scheme_is_its_label(address: str) -> None:
    root = rendered(f"[the label]({address})")
    assert not root.all("a")
    assert root.text == "the label\n"


@pytest.mark.parametrize("text", IMAGES)
def test_an_image_from_elsewhere_is_its_alt_text(text: str) -> None:
    assert not [
        image for image in rendered(text).all("img") if "other" not in image.attributes["src"]
    ]


@pytest.mark.parametrize(
    "address", ["/media/a.png", "/static/a.png", "img/a.png", "../a.png", "a.png?v=1"]
)
def test_images_of_this_site_are_shown_when_they_are_scrolled_to(address: str) -> None:
    [image] = rendered(f'![A *map*]({address} "Title")').all("img")
    expected = {"src": address, "alt": "A map", "title": "Title", "loading": "lazy"}
    assert image.attributes == expected


def test_an_image_of_a_configured_host_is_shown(settings: Any) -> None:
    settings.IMAGE_HOSTS = ["images.example.org"]
    html = render_article(
        "![a](https://images.example.org/a.png) ![b](//IMAGES.example.org:8080/b.png)"
        " ![c](https://images.example.org.evil.example/c.png)"
        " ![d](https://images.example.org@evil.example/d.png)"
        " ![e](https://evil.example/images.example.org/e.png)"
    ).html
    assert [image.attributes["alt"] for image in parse(html).all("img")] == ["a", "b"]


def test_an_image_in_the_media_store_of_another_host_is_shown(settings: Any) -> None:
    settings.MEDIA_URL = "https://cdn.example.org/media/"
    html = render_article(
        "![a](https://cdn.example.org/media/a.png) ![b](https://cdn.example.org/b.png)"
    ).html
    assert [image.attributes["alt"] for image in parse(html).all("img")] == ["a"]


def test_a_rooted_image_is_only_shown_from_where_files_are_served(settings: Any) -> None:
    settings.MEDIA_URL = "/"
    assert not parse(render_article("![a](/chat/a.png)").html).all("img")


def test_contents_and_anchors_are_those_of_the_headings() -> None:
    article = render_article(
        "## Set *up* `sso` & <more>\n\n## FAQ\n\n### FAQ\n\nSetext\n---\n\n## Named {#my.id}\n"
    )
    assert article.contents == [
        ContentsEntry(2, "Set up sso & <more>", "set-up-sso--more"),
        ContentsEntry(2, "FAQ", "faq"),
        ContentsEntry(3, "FAQ", "faq-1"),
        ContentsEntry(2, "Setext", "setext"),
        ContentsEntry(2, "Named", "my.id"),
    ]
    headings = parse(article.html).all("h2", "h3")
    assert [heading.attributes["id"] for heading in headings] == [
        entry.anchor for entry in article.contents
    ]


def test_a_heading_links_to_itself_by_name() -> None:
    [link] = rendered('## "Quoted" heading').all("a")
    assert link.text == "#"
    assert link.attributes == {
        "class": "anchor",
        "href": "#quoted-heading",
        "aria-label": 'Link to “"Quoted" heading”',
    }


def test_headings_move_down_where_the_text_has_a_title_of_the_page_level() -> None:
    article = render_article("# Title\n\n## Part\n\n###### Deep\n\n> # Quoted\n")
    assert [entry.level for entry in article.contents] == [2, 3, 6]
    assert [e.tag for e in parse(article.html).all() if e.tag[0] == "h"] == ["h2", "h3", "h6", "h2"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# code\n```",
        "    # code",
        "- # in a list",
        "> # in a quotation",
        ":::note\n# in a callout\n:::",
        "#",
        "#hashtag",
        "\\# escaped",
        "---\ntitle: front matter\n---\n",
        "![](x.png)\n===",
    ],
)
def test_what_is_no_heading_of_the_document_is_not_in_its_contents(text: str) -> None:
    article = render_article(text)
    assert article.contents == []


def test_front_matter_and_byte_order_mark_are_no_text() -> None:
    assert render_article("\ufeff---\r\ntitle: Reset\r\nslug: reset\r\n---\r\nText").html == (
        "<p>Text</p>\n"
    )


@pytest.mark.parametrize(
    ("written", "kind", "title"),
    [
        (":::note\nText\n:::", "note", "Note"),
        (":::info\nText\n:::", "note", "Note"),
        (":::tip A *good* one\nText\n:::", "tip", "A good one"),
        (":::TIP[Not what you need?]\nText\n:::", "tip", "Not what you need?"),
        ("::::warning [x]\nText\n::::", "warning", "x"),
        (":::important\nText", "important", "Important"),
        (":::danger\nText\n:::", "caution", "Caution"),
        ("> [!CAUTION]\n> Text", "caution", "Caution"),
        ("> [!note]\n> Text", "note", "Note"),
        ("A line before\n:::tip\nText\n:::", "tip", "Tip"),
        ("- item\n\n  :::tip\n  Text\n  :::", "tip", "Tip"),
        ("- item\n  :::tip\n  Text\n\nafter", "tip", "Tip"),
        ("> :::tip\n> Text\n>", "tip", "Tip"),
    ],
)
def test_callouts_in_every_form(written: str, kind: str, title: str) -> None:
    [callout] = rendered(written).all("div")
    assert callout.attributes == {"class": f"callout callout-{kind}", "role": "note"}
    assert [paragraph.text for paragraph in callout.all("p")] == [title, "Text"]


def test_callouts_nest_and_end_at_as_many_colons() -> None:
    root = rendered("::::note\n:::tip\ninner\n:::\nouter\n::::\nafter")
    outer, inner = root.all("div")
    assert outer.all("div") == [inner]
    assert [p.text for p in inner.all("p")] == ["Tip", "inner"]
    assert [p.text for p in root.all("p") if p not in outer.all("p")] == ["after"]


def test_a_callout_that_is_not_closed_ends_with_the_item_it_stands_in() -> None:
    root = rendered("- item\n  :::tip\n  Text\n\nafter\n\n:::\n")
    [callout] = root.all("div")
    assert "after" not in callout.text
    assert [p.text for p in root.all("p")] == ["Tip", "Text", "after", ":::"]


def test_a_callout_may_show_its_own_syntax_in_code() -> None:
    root = rendered(":::tip\n```md\n:::note\nx\n:::\n```\nstill inside\n:::\nafter")
    callout = root.all("div")[0]
    assert callout.all("p")[-1].text == "still inside"


@pytest.mark.parametrize("text", [":::", ":::details\nx\n:::", "::note\nx\n::", "    :::note\n"])
def test_what_only_looks_like_a_callout_is_text(text: str) -> None:
    assert not [e for e in rendered(text).all("div") if "callout" in e.attributes["class"]]


def test_an_indented_line_goes_on_with_the_quotation_before_it() -> None:
    [quotation] = rendered("> a\n    :::note\nb").all("blockquote")
    assert quotation.text.split() == ["a", ":::note", "b"]


def test_what_the_renderer_says_itself_is_translated_and_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("articles.markup.markdown._", lambda text: f'<b title="{text}">')
    root = rendered(":::note\nText\n:::\n\n| a |\n|---|")
    assert root.all("p")[0].text == '<b title="Note">'
    assert root.all("div")[1].attributes["aria-label"] == '<b title="Table">'


@pytest.mark.parametrize(
    ("fence", "language"),
    [
        ("```python", "language-python"),
        ('```bash title="Try it"', "language-bash"),
        ("~~~ c++", "language-c++"),
        ("```", None),
        ("```<script>", None),
    ],
)
def test_code_can_be_copied_and_names_its_language(fence: str, language: str | None) -> None:
    [block] = rendered(f"{fence}\nx = '<b>' & \"c\"\n{fence[:3]}").all("div")
    assert block.attributes == {"class": "code-block", "data-copy": ""}
    [pre, code] = block.all()
    assert pre.attributes == {"tabindex": "0"}
    assert code.attributes.get("class") == language
    assert code.text == "x = '<b>' & \"c\"\n"


def test_indented_code_is_a_code_block_too() -> None:
    [block] = rendered("    a < b").all("div")
    assert block.text == "a < b\n"


def test_a_table_scrolls_in_a_named_region_and_has_no_inline_style() -> None:
    html = render_article("| a | b | c |\n|:--|:-:|---|\n| 1 | 2 | 3 |").html
    [region] = parse(html).all("div")
    assert region.attributes == {
        "class": "table-wrap",
        "role": "region",
        "tabindex": "0",
        "aria-label": "Table",
    }
    cells = region.all("th", "td")
    assert [cell.attributes.get("class") for cell in cells] == [
        "align-left",
        "align-center",
        None,
    ] * 2
    assert "style" not in html


def test_the_rest_of_the_dialect() -> None:
    html = render_article("3. ~~old~~ **new**\n4. a\\\n   b\n\n***\n\n> q\n\n- [ ] task").html
    assert html == (
        '<ol start="3">\n<li><s>old</s> <strong>new</strong></li>\n<li>a<br>\nb</li>\n</ol>\n'
        "<hr>\n<blockquote>\n<p>q</p>\n</blockquote>\n<ul>\n<li>[ ] task</li>\n</ul>\n"
    )


def test_nothing_is_linked_that_is_not_written_as_a_link() -> None:
    assert not rendered("https://e.example www.e.example me@e.example").all("a")


def test_a_definition_serves_the_whole_article() -> None:
    text = "[a][r]\n\n# Heading\n\n[b][R]\n\n## Other\n\n[r]: /articles/x/\n"
    assert len([a for a in rendered(text).all("a") if a.text in "ab"]) == 2
    above = "[r]: /articles/x/\n\n# Heading\n\n[b][R]\n"
    assert len([a for a in rendered(above).all("a") if a.text in "ab"]) == 1


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", ""),
        (
            "# Title\n\nFirst *line*\nof [a](/b) &amp; `c`.\n\n- one\n- two",
            "First line of a & c.\none\ntwo",
        ),
        (
            "Run\n\n```sh\nmake  run\n\n# x\n```\n\n![A map](x.png) after",
            "Run\nmake run # x\nA map after",
        ),
        ("Run\n\n    make test\n", "Run\nmake test"),
        (":::tip Title\ninside\n:::\n\n> [!NOTE]\n> alert", "Title\ninside\nalert"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a\nb\n1\n2"),
        ("<b>raw</b>", "<b>raw</b>"),
        ("a\\\nb", "a b"),
    ],
)
def test_plain_text_is_what_a_person_would_read_out(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *("[", "[](", "`", "<think ", "# a\n", ":::note\n", ":::note\nx\n:::\n", "> ", "| a"),
        *("![](data:", "- a\n", "*a_b", "[a]: b\n", "&#", "\\[", "- ```\n", "a\n-\n"),
    ],
)
def test_rendering_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert_linear(render_article, piece)


@pytest.mark.slow
def test_a_real_help_center_renders(shared_dir: Path) -> None:
    folder = shared_dir / "corpora" / "plausible-docs"
    if not folder.is_dir():
        pytest.skip("needs the corpus plausible-docs in ../shared")
    for path in sorted(folder.rglob("*.md")):
        article = render_article(path.read_text())
        ids = [e.attributes["id"] for e in parse(article.html).all() if "id" in e.attributes]
        assert len(set(ids)) == len(ids)
        assert [entry.anchor for entry in article.contents] == ids
