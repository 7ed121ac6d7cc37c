"""Saved HTML pages and the JSON exports of help desks."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from articles.access import ANONYMOUS, answerable, readable
from articles.importing import Outcome
from articles.models import Article, Passage, Status, Visibility
from tests.import_folders import import_files, imported, messages

pytestmark = pytest.mark.django_db


def zendesk(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "title": f"Article {number}",
        "draft": False,
        "body": f"<p>Text of {number}.</p>",
        **fields,
    }


def intercom(number: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "article",
        "id": number,
        "title": f"Article {number}",
        "state": "published",
        "body": f"<p>Text of {number}.</p>",
        **fields,
    }


def test_a_zendesk_export_goes_in_with_sections_languages_and_links(tmp_path: Path) -> None:
    address = "https://help.example.com/hc/en-us/articles"
    report = import_files(
        tmp_path,
        {
            "articles.json": {
                "articles": [
                    zendesk(
                        11,
                        section_id=5,
                        locale="en-us",
                        html_url=f"{address}/11-First",
                        body=f'<h2 id="h_01">Start</h2><p>See <a href="{address}/12-Old-title">'
                        "the other</a>.</p><p>a_b * c</p>",
                    ),
                    zendesk(12, html_url=f"{address}/12-Second", created_at="2023-01-02T03:04:05Z"),
                    zendesk(
                        13,
                        html_url="https://help.example.com/about",
                        body=f'<a href="https://other.example/hc/articles/12">x</a> '
                        f'<a href="{address}/11-First?x=1">y</a>',
                    ),
                ],
                "page": 1,
                "next_page": None,
            },
            "sections.json": {"sections": [{"id": 5, "name": "Getting started"}]},
        },
    )

    first, second = imported("zendesk:11"), imported("zendesk:12")
    assert report.failures == 0
    assert str(first.category) == "Getting started"
    assert first.language == "en"
    assert first.body == (
        f"## Start {{#h_01}}\n\nSee [the other]({second.get_absolute_url()}).\n\na_b \\* c"
    )
    assert second.slug == "article-12"
    assert imported("zendesk:13").body == (
        f"[x](https://other.example/hc/articles/12) [y]({first.get_absolute_url()})"
    )
    assert second.published_at is not None
    assert second.published_at.year == 2023


def test_an_intercom_export_goes_in_with_its_collections(tmp_path: Path) -> None:
    import_files(
        tmp_path,
        {
            "a.json": {
                "type": "list",
                "data": [
                    intercom("1", parent_id=9, description="In short.", created_at=1672628645)
                ],
                "pages": {"type": "pages", "page": 1, "next": None},
            },
            "c.json": {
                "type": "list",
                "data": [{"type": "collection", "id": "9", "name": "Guides"}],
            },
        },
    )

    article = imported("intercom:1")
    assert (article.title, article.summary, str(article.category)) == (
        "Article 1",
        "In short.",
        "Guides",
    )
    assert article.status == Status.PUBLISHED
    assert article.published_at is not None
    assert article.published_at.year == 2023


@pytest.mark.field_report("B96")
@pytest.mark.parametrize(
    "export",
    [
        {"id": 1, "title": "Plan B", "draft": True, "body": "<p>secret</p>"},
        {"articles": [{"id": 1, "title": "Plan B", "draft": True, "body": "<p>secret</p>"}]},
        {"article": {"id": 1, "title": "Plan B", "draft": "true", "body": "<p>secret</p>"}},
        [{"id": 1, "title": "Plan B", "draft": 1, "body": "<p>secret</p>"}],
        {"type": "list", "data": [intercom("1", title="Plan B", state="draft")]},
        {"type": "list", "data": [intercom("1", title="Plan B", state=None)]},
    ],
)
def test_a_draft_of_an_export_is_never_public_nor_in_the_index(tmp_path: Path, export: Any) -> None:
    import_files(tmp_path, {"export.json": export})

    assert Article.objects.get(title="Plan B").status == Status.DRAFT
    assert not readable(ANONYMOUS).exists()
    assert not Passage.objects.exists()


@pytest.mark.field_report("B97")
@pytest.mark.parametrize("body", [None, "", "<p>&nbsp;</p>", "<p></p><br>"])
def test_an_article_without_a_text_is_reported_by_its_id_and_is_no_source(
    tmp_path: Path, body: str | None
) -> None:
    export = {"articles": [{"id": 2, "title": "Contact", "draft": False, "body": body}]}
    report = import_files(tmp_path, {"export.json": export})

    assert report.outcomes == {"export.json#2": Outcome.NEW}
    assert messages(report) == ["export.json#2: it has no text, so it is a draft"]
    assert not answerable(ANONYMOUS).exists()


def test_what_only_some_readers_saw_is_for_staff(tmp_path: Path) -> None:
    report = import_files(tmp_path, {"e.json": {"articles": [zendesk(1, user_segment_id=77)]}})

    assert Article.objects.get().visibility == Visibility.STAFF
    assert "only" in messages(report)[0]


@pytest.mark.field_report("B98")
def test_a_page_that_comes_again_is_reported_and_doubles_nothing(tmp_path: Path) -> None:
    page = {"articles": [zendesk(1), zendesk(2)]}
    report = import_files(
        tmp_path,
        {
            "page-1.json": {**page, "page": 1, "next_page": "https://x.example/a.json?page=2"},
            "page-2.json": {
                "articles": [zendesk(3)],
                "page": 2,
                "next_page": "https://x.example/a.json?per_page=100&page=2",
            },
            "page-3.json": page,
            "page-4.json": {"articles": [zendesk(2), zendesk(4)]},
            "page-5.json": {"articles": [], "count": 0, "end_time": "soon", "next_page": None},
        },
    )

    assert Article.objects.count() == 4
    assert report.count(Outcome.NEW) == 4
    assert messages(report) == [
        "page-2.json: names itself as the next page, so the export stops here",
        "page-3.json: repeats a page: all of its articles stand in an earlier file",
        "page-4.json: 1 of its articles stand in an earlier file",
    ]


@pytest.mark.field_report("B98")
def test_two_pages_that_go_on_at_the_same_one_are_reported(tmp_path: Path) -> None:
    following = "https://x.example/incremental?start_time=5"
    report = import_files(
        tmp_path,
        {
            "a.json": {"articles": [zendesk(1)], "next_page": following},
            "b.json": {"articles": [], "count": 0, "end_time": None, "next_page": following},
            "c.json": {
                "type": "list",
                "data": [intercom("5")],
                "pages": {"page": 3, "next": {"page": 3}},
            },
        },
    )

    assert messages(report) == [
        "b.json: names the same next page as a.json: the export is incomplete",
        "c.json: names itself as the next page, so the export stops here",
    ]


def test_entries_without_an_id_or_a_title_are_reported_and_the_rest_goes_in(
    tmp_path: Path,
) -> None:
    report = import_files(
        tmp_path,
        {
            "e.json": {
                "articles": [
                    {"title": "No id", "body": "x"},
                    "nonsense",
                    zendesk(3, title=" "),
                    zendesk(4),
                ]
            },
            "broken.json": "{",
            "package.json": {"name": "docs"},
            "numbers.json": [1, 2],
            "text.json": '"text"',
        },
    )

    assert Article.objects.get().external_id == "zendesk:4"
    assert report.skipped == {".json": 3}
    assert [message.split(": ")[0] for message in messages(report)] == [
        "broken.json",
        "e.json, entry 1 has no id",
        "e.json, entry 2 has no id",
        "e.json#3",
    ]


def test_a_saved_page_is_its_main_part(tmp_path: Path) -> None:
    page = """<?xml version="1.0"?><!DOCTYPE html><html lang="de"><head>
      <meta charset="iso-8859-1"><title>Größe - Acme</title>
      <meta name="Description" content="Wie groß?"></head><body>
      <header>Logo</header><nav><a href="/">Home</a></nav>
      <main><h1>Größe ändern</h1><p>Text mit <a href="other.html#teil">Verweis</a>.</p>
      <pre class="language-sh"><code>ls | wc</code></pre>
      <iframe src="https://v.example/1"></iframe><video title="Film"><source src="/f.mp4"></video>
      <details><summary>Warum?</summary><p>Darum.</p></details>
      <table><tr><th><h4>Kopf</h4></th></tr><tr><td>a</td></tr></table>
      <script>alert(1)</script><form><input></form><h2> </h2></main>
      <footer>Fuß</footer></body></html>"""
    report = import_files(
        tmp_path,
        {
            "size.html": page.encode("iso-8859-1"),
            "other.html": "<p>https://only.example</p><h2 id='teil'>Ein Teil</h2>",
            "plain.htm": "https://example.com/",
        },
    )

    article = imported("size.html")
    assert (article.title, article.summary, article.language) == ("Größe ändern", "Wie groß?", "de")
    assert "[Verweis](/articles/other/#teil)" in article.body
    assert "```sh\nls | wc\n```" in article.body
    assert "[Embedded content](https://v.example/1)" in article.body
    assert "**Warum?**\n\nDarum." in article.body
    assert "| Kopf |" in article.body
    assert not any(word in article.body for word in ("Logo", "Home", "alert", "Fuß", "# "))
    assert imported("other.html").title == "Ein Teil"
    assert [str(p) for p in report.problems if "f.mp4" in str(p)]


def test_the_head_and_foot_of_a_page_without_a_main_part_are_left_out(tmp_path: Path) -> None:
    body = "<header>Logo</header><h1>Help</h1><pre><code>ls</code></pre><footer>Imprint</footer>"
    import_files(tmp_path, {"a.html": f"<title>T</title><body>{body}</body>"})

    article = Article.objects.get()
    assert (article.title, article.body) == ("Help", "```\nls\n```")


@pytest.mark.parametrize("moment", ["soon", 1e30, "2023-01-02T03:04:05", None])
def test_a_time_that_is_none_is_no_obstacle(tmp_path: Path, moment: Any) -> None:
    import_files(tmp_path, {"e.json": {"articles": [zendesk(1, created_at=moment)]}})

    assert Article.objects.get().published_at is not None


@pytest.mark.parametrize("data", [b"\0\1\2 binary", b"<div>" * 3000 + b"x"])
def test_a_page_that_cannot_be_read_is_reported(tmp_path: Path, data: bytes) -> None:
    report = import_files(tmp_path, {"bad.html": data, "good.html": "<p>Good.</p>"})

    assert report.outcomes == {"bad.html": Outcome.FAILED, "good.html": Outcome.NEW}


@pytest.mark.field_report("B104")
@pytest.mark.parametrize("name", ["a.md", "a.html", "a.json"])
def test_the_bytes_of_a_picture_in_the_text_are_left_out(tmp_path: Path, name: str) -> None:
    payload = base64.b64encode(bytes(300_000)).decode()
    html = f'<p>Click</p><img alt="The button" src="data:image/png;base64,{payload}">'
    content = {"articles": [zendesk(1, body=html)]} if name == "a.json" else html
    report = import_files(tmp_path, {name: content})

    body = Article.objects.get().body
    assert body == "Click\n\n*The button*"
    assert "AAAA" not in "".join(Passage.objects.values_list("text", flat=True))
    assert messages(report)[0].endswith("an image inside the text is left out")
