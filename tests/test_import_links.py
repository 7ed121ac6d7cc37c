"""Links between files lead to articles and their anchors, or are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from articles.importing import Kind
from articles.rendering import render_article
from tests.import_folders import import_files, imported, messages

pytestmark = pytest.mark.django_db

GUIDE = """---
title: The guide
slug: guide
---

## Set up SSO

Text.

### With Okta {#okta}

Text.

## Größe ändern

Text.

## What's new in 2.0?

Text.
"""


def follow(folder: Path, link: str, at: str = "help/start.md") -> str:
    """What `[x](link)` on the page `at` has become."""
    import_files(
        folder,
        {
            at: f"Before [x]({link}) after.",
            "help/guide.md": GUIDE,
            "help/other/deep.md": "# Deep\n\nText.",
            "help/team/index.md": "# Team\n\n## Roles\n\nText.",
        },
    )
    body = imported(at).body
    return body.removeprefix("Before [x](").removesuffix(") after.")


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("guide.md", "/articles/guide/"),
        ("./guide", "/articles/guide/"),
        ("guide.html", "/articles/guide/"),
        ("guide/", "/articles/guide/"),
        ("<guide.md>", "/articles/guide/"),
        ("guide.md?plain=1", "/articles/guide/"),
        ('guide.md "The guide"', '/articles/guide/ "The guide"'),
        ("other/deep.md", "/articles/deep/"),
        ("./../help/other/deep.md", "/articles/deep/"),
        ("/help/other/deep", "/articles/deep/"),
        ("/other/deep", "/articles/deep/"),
        ("/base/path/help/other/deep/", "/articles/deep/"),
        ("base/help/other/deep.md", "/articles/deep/"),
        ("team", "/articles/team/"),
        ("team/#roles", "/articles/team/#roles"),
        ("team/index.md", "/articles/team/"),
        ("guide.md#set-up-sso", "/articles/guide/#set-up-sso"),
        ("guide.md#okta", "/articles/guide/#okta"),
        ("guide.md#gr%C3%B6%C3%9Fe-%C3%A4ndern", "/articles/guide/#größe-ändern"),
        ("guide.md#what-s-new-in-2-0", "/articles/guide/#whats-new-in-20"),
        ("other/deep.md#deep", "/articles/deep/"),
    ],
)
def test_a_link_between_files_leads_to_the_article_and_its_anchor(
    tmp_path: Path, link: str, leads_to: str
) -> None:
    assert follow(tmp_path, link) == leads_to


@pytest.mark.parametrize(
    "link",
    ["https://example.com/guide.md", "mailto:a@example.com", "//example.com/x", "tel:+49", ""],
)
def test_links_to_elsewhere_stay(tmp_path: Path, link: str) -> None:
    assert follow(tmp_path, link) == link


def test_links_in_code_stay(tmp_path: Path) -> None:
    text = "`[x](guide.md)`\n\n```\n[x](guide.md)\n```\n\n[a `b` c](guide.md)"
    import_files(tmp_path, {"a.md": text, "guide.md": GUIDE})

    assert imported("a.md").body == text.replace("c](guide.md)", "c](/articles/guide/)")


def test_reference_definitions_are_followed(tmp_path: Path) -> None:
    import_files(
        tmp_path, {"a.md": 'See [the guide][1].\n\n[1]: guide.md#okta "Okta"', "guide.md": GUIDE}
    )

    assert imported("a.md").body.endswith('[1]: /articles/guide/#okta "Okta"')


def test_a_link_to_the_page_itself_is_only_its_anchor(tmp_path: Path) -> None:
    text = "## Set up\n\n[a](#set-up) [b](a.md#set-up) [c](a.md)"
    import_files(tmp_path, {"a.md": f"---\ntitle: A\n---\n{text}"})

    assert imported("a.md").body.endswith("[a](#set-up) [b](#set-up) [c](/articles/a/)")


def test_every_anchor_written_is_one_that_the_page_has(tmp_path: Path) -> None:
    link = follow(tmp_path, "guide.md#what-s-new-in-2-0")
    anchors = [entry.anchor for entry in render_article(imported("help/guide.md").body).contents]

    assert link.split("#")[1] in anchors


def test_what_leads_nowhere_is_reported_and_stays(tmp_path: Path) -> None:
    text = "[a](missing.md) [b](guide.md#nothing) [c](#nowhere) [d](img/x.png) [e](files/x.pdf)"
    report = import_files(tmp_path, {"a.md": text, "guide.md": GUIDE})

    assert imported("a.md").body == text.replace("guide.md#", "/articles/guide/#")
    assert messages(report) == [
        "a.md: links to missing.md, which is not among the files",
        "a.md: links to #nothing in guide.md, which no heading has",
        "a.md: links to #nowhere, which no heading has",
        "a.md: links to img/x.png: not among the files",
        "a.md: links to files/x.pdf, which is not among the files",
    ]
    assert report.failures == 0


def test_a_link_to_a_draft_is_reported(tmp_path: Path) -> None:
    report = import_files(
        tmp_path, {"a.md": "[x](b.md)", "b.md": "---\ntitle: B\ndraft: true\n---\nText."}
    )

    assert messages(report) == ["a.md: links to b.md, which is not public"]
    assert imported("a.md").body == "[x](/articles/b/)"


def test_an_ambiguous_name_is_no_guess(tmp_path: Path) -> None:
    report = import_files(
        tmp_path,
        {"start.md": "[x](/somewhere/faq)", "a/faq.md": "A.", "b/faq.md": "B."},
    )

    assert [problem.kind for problem in report.problems] == [Kind.LINK]


def test_a_name_that_only_one_page_ends_with_is_that_page(tmp_path: Path) -> None:
    import_files(tmp_path, {"start.md": "[x](/faq)", "content/guides/faq.md": "A."})

    assert imported("start.md").body == "[x](/articles/faq/)"


def test_a_page_is_found_by_the_slug_it_asks_for(tmp_path: Path) -> None:
    import_files(
        tmp_path,
        {
            "a.md": "[x](/docs/sign-in) [y](sub/two) [z](/)",
            "b.md": "---\nslug: /docs/sign-in\n---\nText.",
            "sub/c.md": "---\nslug: two\n---\nText.",
            "home.md": "---\nslug: /\n---\nText.",
        },
    )

    assert (
        imported("a.md").body == "[x](/articles/sign-in/) [y](/articles/two/) [z](/articles/home/)"
    )
    assert imported("b.md").slug == "sign-in"


def test_links_to_where_the_pages_were_published_become_links_to_the_articles(
    tmp_path: Path,
) -> None:
    import_files(
        tmp_path,
        {
            "a.md": "[x](https://old.example/docs/b#part) [y](https://old.example/docsx) "
            "[z](https://old.example/docs/gone)",
            "b.md": "---\ntitle: B\n---\n## Part\n\nText.",
        },
        site="https://old.example/docs/",
    )

    body = imported("a.md").body
    assert body.startswith("[x](/articles/b/#part) [y](https://old.example/docsx) ")
    assert body.endswith("[z](https://old.example/docs/gone)")
