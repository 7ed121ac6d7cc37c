"""What crawlers, feed readers and programs get: whole, valid, and only what everyone may see."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from django.test import Client

from articles import publishing
from articles.importing import Options, import_articles
from articles.models import Article, Status, Visibility
from articles.pages import sitemaps
from helpcenter.models import SiteSettings
from tests.factories import make_article, make_category
from tests.pages import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

SITE = "https://help.example.com"
ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LISTS = [
    "/sitemap.xml",
    "/sitemap-articles.xml",
    "/sitemap-categories.xml",
    "/feed.atom",
    "/llms.txt",
    "/robots.txt",
]


@pytest.fixture(autouse=True)
def site_url(settings: Any) -> None:
    settings.SITE_URL = SITE


def locations(client: Client, address: str) -> list[str]:
    root = ElementTree.fromstring(client.get(address).content)  # noqa: S314, ours
    return [str(element.text) for element in root.iter(f"{SITEMAP}loc")]


def entries(client: Client) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(client.get("/feed.atom").content)  # noqa: S314, ours
    return root.findall(f"{ATOM}entry")


def text(element: ElementTree.Element, name: str) -> str:
    return str(element.findtext(f"{ATOM}{name}"))


# What may be in them


@pytest.mark.parametrize("address", LISTS)
def test_lists_name_only_what_everyone_may_read(client: Client, staff: User, address: str) -> None:
    make_article("Public page", category=make_category("Open"))
    for visibility in (Visibility.SIGNED_IN, Visibility.STAFF, Visibility.ANSWERS_ONLY):
        title = f"Secret {visibility}"
        make_article(title, visibility=visibility, category=make_category(f"Secret {visibility}"))
    make_article("Secret draft", publish=False)
    make_article("Secret archive", status=Status.ARCHIVED)
    client.force_login(staff)

    response = client.get(address)

    assert response.status_code == 200
    assert "secret" not in response.content.decode().lower()
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")


@pytest.mark.parametrize("visibility", [v for v in Visibility if v != Visibility.PUBLIC])
def test_markdown_is_for_what_everyone_may_read_whoever_asks(
    client: Client, staff: User, visibility: Visibility
) -> None:
    make_article("Secret", visibility=visibility)
    make_article("Kept", visibility=visibility, status=Status.ARCHIVED)
    client.force_login(staff)
    assert client.get("/articles/secret.md").status_code == 404
    assert client.get("/articles/kept.md").status_code == 404


@pytest.mark.parametrize("address", [*LISTS, "/articles/set-up.md"])
def test_a_document_is_kept_by_all_and_asked_about_by_its_tag(
    client: Client, address: str, django_assert_max_num_queries: Any
) -> None:
    make_article("Set up", category=make_category("Steps"))
    with django_assert_max_num_queries(5):
        first = client.get(address, headers={"Accept-Language": "de"})
    assert first["Cache-Control"].startswith("public, ")
    assert first["Content-Language"] == "en"
    second = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (second.status_code, second.content) == (304, b"")


# Sitemap and robots.txt


def test_robots_txt_names_the_sitemap_and_closes_what_is_for_people(client: Client) -> None:
    lines = client.get("/robots.txt").content.decode().splitlines()
    assert lines[0] == "User-agent: *"
    assert {"Disallow: /admin/", "Disallow: /search/", "Disallow: /chat/"} <= set(lines)
    assert f"Sitemap: {SITE}/sitemap.xml" in lines
    assert "Disallow: /" not in lines


def test_the_sitemap_has_every_page_with_the_day_of_its_text(client: Client) -> None:
    category = make_category("账单")
    article = make_article("密码重置", category=category)

    parts = locations(client, "/sitemap.xml")
    assert parts == [f"{SITE}/sitemap-{name}.xml" for name in ("articles", "categories", "pages")]
    found = [page for part in parts for page in locations(client, part.removeprefix(SITE))]
    assert found == [
        f"{SITE}{article.get_absolute_url()}",
        f"{SITE}{category.get_absolute_url()}",
        f"{SITE}/",
        f"{SITE}/categories/",
    ]
    assert article.live_revision is not None
    day = article.live_revision.created_at.date().isoformat()
    assert f"<lastmod>{day}</lastmod>" in client.get("/sitemap-articles.xml").content.decode()


def test_a_long_sitemap_has_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps.SECTIONS["articles"], "limit", 2)
    for number in range(3):
        make_article(f"Article {number}")

    assert f"{SITE}/sitemap-articles.xml?p=2" in locations(client, "/sitemap.xml")
    assert len(locations(client, "/sitemap-articles.xml?p=2")) == 1
    assert client.get("/sitemap-articles.xml?p=3").status_code == 404
    assert client.get("/sitemap-nothing.xml").status_code == 404


# Feed


def test_the_feed_shows_a_changed_article_again(client: Client) -> None:
    older = make_article("Older", summary="What it is.", category=make_category("Steps"))
    make_article("Newer")
    before = {text(entry, "id") for entry in entries(client)}
    older.body = "Another text."
    publishing.publish(older)

    first, second = entries(client)

    assert (text(first, "title"), text(second, "title")) == ("Older", "Newer")
    assert text(first, "summary") == "What it is."
    assert text(first, "id") not in before
    assert text(second, "id") in before
    link = first.find(f"{ATOM}link")
    assert link is not None
    assert link.attrib["href"] == f"{SITE}/articles/older/"
    assert text(first, "updated") > text(first, "published")


def test_an_entry_keeps_its_name_when_the_address_changes(client: Client) -> None:
    article = make_article("Setup")
    (before,) = entries(client)
    publishing.change_slug(article, "getting-started")
    (after,) = entries(client)
    assert text(before, "id") == text(after, "id")
    assert text(before, "id").startswith("tag:help.example.com,")


def test_a_feed_is_xml_whatever_an_article_is_called(client: Client) -> None:
    name = "A & B <script>\x0b\ufffe"
    SiteSettings(name="R&D \x02").save()
    make_article(name, summary="<b>1 < 2</b>\x01", slug="x", category=make_category("C\x03"))

    (entry,) = entries(client)

    assert text(entry, "title") == "A & B <script>"
    assert text(entry, "summary") == "&lt;b&gt;1 &lt; 2&lt;/b&gt;"


def test_pages_name_the_feed(client: Client) -> None:
    links = parsed(client.get("/")).all("link")
    assert "/feed.atom" in [link.attributes["href"] for link in links]


# Markdown


def test_an_article_as_markdown_can_be_imported_as_it_was(client: Client, tmp_path: Path) -> None:
    made = make_article(
        'Roles: who may do "what"',
        summary="Owners, admins: and *members*.",
        body="## Owners\n\nThey own.\n\n```sh\nls\n```",
        category=make_category("Rights", parent=make_category("Teams")),
        language="de",
        slug="roles",
    )
    response = client.get("/articles/roles.md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response["Link"] == f'<{SITE}/articles/roles/>; rel="canonical"'
    assert response["Last-Modified"]
    assert response["Cache-Control"] == "public, no-cache"

    made.delete()
    (tmp_path / "roles.md").write_bytes(response.content)
    import_articles(tmp_path, Options(prefix="again"))

    again = Article.objects.get()
    assert again.category is not None
    assert again.category.parent is not None
    assert (again.title, again.summary, again.body.strip(), again.language, again.slug) == (
        made.title,
        made.summary,
        made.body,
        "de",
        "roles",
    )
    assert (again.category.parent.name, again.category.name) == ("Teams", "Rights")


def test_markdown_follows_the_article(client: Client) -> None:
    article = make_article("Setup")
    publishing.change_slug(article, "getting-started")
    moved = client.get("/articles/setup.md")
    assert (moved.status_code, moved["Location"]) == (301, "/articles/getting-started.md")

    publishing.withdraw(article, Status.ARCHIVED)
    gone = client.get("/articles/getting-started.md")
    assert (gone.status_code, gone["Content-Type"]) == (410, "text/plain; charset=utf-8")
    assert "ETag" not in gone
    assert client.get("/articles/setup.md").status_code == 410
    assert client.get("/articles/nothing.md").status_code == 404


def test_the_working_copy_is_not_in_the_markdown(client: Client) -> None:
    article = make_article("Fees", body="Fee is 5 EUR.")
    Article.objects.filter(pk=article.pk).update(body="Fee is 7 EUR.", title="Fees from 2027")
    body = client.get("/articles/fees.md").content.decode()
    assert "5 EUR" in body
    assert "7 EUR" not in body
    assert "2027" not in body


def test_llms_txt_lists_articles_by_category(client: Client) -> None:
    SiteSettings(name="Acme help").save()
    billing = make_category("Billing")
    make_article("Change your plan", category=billing, summary="Up or down.")
    make_article("Invoices", category=make_category("Taxes", parent=billing))
    make_article("Loose [end](x)\n# here", slug="loose")

    body = client.get("/llms.txt").content.decode()

    assert body.splitlines() == [
        "# Acme help",
        "",
        "> The articles of this help center. Each link leads to one as Markdown.",
        "",
        "## Billing",
        "",
        f"- [Change your plan]({SITE}/articles/change-your-plan.md): Up or down.",
        "",
        "## Billing › Taxes",
        "",
        f"- [Invoices]({SITE}/articles/invoices.md)",
        "",
        "## Other articles",
        "",
        f"- [Loose \\[end\\](x) # here]({SITE}/articles/loose.md)",
    ]


# The head of a page


def metas(client: Client, address: str) -> dict[str, str]:
    found = parsed(client.get(address)).all("meta")
    named = [
        (e.attributes.get("property") or e.attributes.get("name"), e.attributes.get("content", ""))
        for e in found
    ]
    return {name: content for name, content in named if name}


def canonical(client: Client, address: str) -> str:
    links = parsed(client.get(address)).all("link")
    (link,) = [link for link in links if link.attributes.get("rel") == "canonical"]
    return link.attributes["href"]


@pytest.mark.parametrize("address", ["/", "/categories/", "/categories/billing/", "/articles/a/"])
def test_a_page_names_its_one_address(client: Client, address: str) -> None:
    make_article("A", category=make_category("Billing"))
    assert canonical(client, f"{address}?utm_source=mail") == f"{SITE}{address}"
    assert metas(client, address)["og:url"] == f"{SITE}{address}"


def test_an_article_is_described_for_those_who_link_to_it(client: Client) -> None:
    SiteSettings(name="Acme help", logo="brand/logo.png").save()
    make_article("Set up", summary='In "two" steps.')
    make_article("Short", body="## Heading\n\nFirst *line*.\n\nMore text. " + "and more " * 50)

    described = metas(client, "/articles/set-up/")
    assert described["og:type"] == "article"
    assert described["og:title"] == "Set up"
    assert described["og:site_name"] == "Acme help"
    assert described["og:description"] == described["description"] == 'In "two" steps.'
    assert described["og:image"] == f"{SITE}/media/brand/logo.png"
    assert described["article:modified_time"]

    by_text = metas(client, "/articles/short/")["description"]
    assert by_text.startswith("First line. More text. and more")
    assert len(by_text) <= 160


@pytest.mark.field_report("B104")
@pytest.mark.parametrize(
    ("picture", "shown"),
    [
        ("![The button](data:image/png;base64,{payload})", "Click The button now."),
        ('<img src="data:image/png;base64,{payload}">', 'Click <img src="data:"> now.'),
    ],
)
def test_bytes_of_a_picture_in_the_text_are_in_no_preview(
    client: Client, picture: str, shown: str
) -> None:
    picture = picture.format(payload="QUJD" * 100_000)
    make_article(
        "Press it",
        body=f"Click {picture} now.\n\n## Where is it?\n\nHere: {picture}\n\n## And then?\n\nWait.",
    )
    described = metas(client, "/articles/press-it/")
    assert (
        described["description"]
        == described["og:description"]
        == f"{shown} Here: {shown[6:-5]} Wait."
    )
    for address in ("/feed.atom", "/api/v1/articles/", "/search/suggest/?q=press", "/llms.txt"):
        assert "QUJDQUJD" not in client.get(address).content.decode(), address
    head = client.get("/articles/press-it/").content.decode().partition("</head>")[0]
    assert "Where is it?" in head
    assert "QUJDQUJD" not in head


def test_what_is_not_for_everyone_is_not_offered_to_search_engines(
    client: Client, owner: User
) -> None:
    make_article("For customers", slug="inside", visibility=Visibility.SIGNED_IN)
    client.force_login(owner)
    response = client.get("/articles/inside/")
    assert metas(client, "/articles/inside/")["robots"] == "noindex"
    assert b"ld+json" not in response.content
    assert b"inside.md" not in response.content


# Structured data


def structured(client: Client, address: str) -> dict[str, Any]:
    (block,) = [
        element
        for element in parsed(client.get(address)).all("script")
        if element.attributes.get("type") == "application/ld+json"
    ]
    graph = json.loads(block.text)["@graph"]
    return {part["@type"]: part for part in graph}


def test_an_article_is_structured_data(client: Client) -> None:
    category = make_category("Rights", parent=make_category("Teams"))
    article = make_article("Roles", summary="Who may do what.", category=category, language="de")

    found = structured(client, article.get_absolute_url())

    assert set(found) == {"Article", "BreadcrumbList"}
    assert found["Article"]["headline"] == "Roles"
    assert found["Article"]["url"] == f"{SITE}/articles/roles/"
    assert found["Article"]["description"] == "Who may do what."
    assert found["Article"]["inLanguage"] == "de"
    assert re.match(r"\d{4}-\d\d-\d\dT", found["Article"]["dateModified"])
    items = found["BreadcrumbList"]["itemListElement"]
    assert [(item["position"], item["name"]) for item in items] == [
        (1, "Home"),
        (2, "Teams"),
        (3, "Rights"),
        (4, "Roles"),
    ]
    assert items[2]["item"] == f"{SITE}/categories/rights/"


def test_headings_that_ask_make_a_list_of_questions(client: Client) -> None:
    make_article(
        "FAQ",
        body="Intro.\n\n## Is it free?\n\nYes, *always*.\n\n### For teams\n\nToo.\n\n"
        "## Plans\n\nThree.\n\n## 无法登录？\n\n重置密码。\n\n## And unanswered?\n",
    )
    questions = structured(client, "/articles/faq/")["FAQPage"]["mainEntity"]
    assert [(q["name"], q["acceptedAnswer"]["text"]) for q in questions] == [
        ("Is it free?", "Yes, always.\nToo."),
        ("无法登录？", "重置密码。"),
    ]


def test_one_question_makes_no_list(client: Client) -> None:
    make_article("One", body="## Is it free?\n\nYes.\n\n## Plans\n\nThree.")
    assert "FAQPage" not in structured(client, "/articles/one/")


def test_hostile_text_stays_inside_its_block(client: Client) -> None:
    title = '</script><script>alert(1)</script><!-- <script> "&quot;\\u003c'
    make_article(title, slug="hostile", body=f"## {title}?\n\n{title}\n\n## B?\n\n]]>")

    response = client.get("/articles/hostile/")

    assert b"<script>alert" not in response.content
    assert structured(client, "/articles/hostile/")["Article"]["headline"] == title
