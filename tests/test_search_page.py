"""The search page and the suggestions under a search box."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from articles import indexing
from articles.models import Article
from tests.dom import Element, parse
from tests.factories import make_article, make_category
from tests.pages import page, texts, with_class

pytestmark = pytest.mark.django_db


def indexed(title: str, **fields: Any) -> Article:
    article = make_article(title, **fields)
    indexing.index_article(article.pk)
    return article


@pytest.fixture
def refunds() -> Article:
    body = (
        "Intro text.\n\n## Ask for a refund\n\nYou can ask for a refund of an annual "
        "subscription within thirty days. Write to `billing` and name the invoice."
    )
    return indexed("Money back", body=body, category=make_category("Billing"))


def results(root: Element) -> list[Element]:
    return with_class(root, "result")


def test_a_result_shows_the_matching_passage_and_leads_to_its_heading(
    client: Client, refunds: Article
) -> None:
    (result,) = results(page(client, "/search/?q=refund+annual+subscription"))

    assert texts(result, "h2") == ["Money back"]
    links = {link.text: link.attributes["href"] for link in result.all("a")}
    assert links == {
        "Money back": "/articles/money-back/",
        "Ask for a refund": "/articles/money-back/#ask-for-a-refund",
    }
    (text,) = [p.text for p in result.all("p") if "class" not in p.attributes]
    assert "within thirty days" in text
    assert "`" not in text
    assert {mark.text for mark in result.all("mark")} >= {"refund", "annual", "subscription"}


def test_a_search_without_a_result_says_what_to_do(client: Client, refunds: Article) -> None:
    empty = page(client, "/search/?q=zzqqy+xxwwv")

    assert "No article matches “zzqqy xxwwv”" in empty.text
    assert "/chat/?question=zzqqy%20xxwwv" in [a.attributes["href"] for a in empty.all("a")]


def test_an_empty_search_asks_for_words(client: Client, refunds: Article) -> None:
    for address in ("/search/", "/search/?q=", "/search/?q=%20%20"):
        assert "Search the titles and texts" in page(client, address).text


def test_what_was_searched_is_shown_as_text(client: Client) -> None:
    body = client.get("/search/", {"q": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert(1)" in body


@pytest.mark.parametrize("query", ["\0", "re\0fund", "x" * 60_000, "how do I", "%", "\ud800", "😀"])
def test_any_query_gets_a_page(client: Client, refunds: Article, query: str) -> None:
    parameters = {"q": query.encode("utf-8", "surrogatepass")}
    for address in ("/search/", "/search/suggest/"):
        assert client.get(address, parameters).status_code == 200


def test_suggestions_are_options_that_lead_to_articles(client: Client, refunds: Article) -> None:
    response = client.get("/search/suggest/?q=money")
    options = parse(response.content.decode()).all("a")

    assert [option.attributes["role"] for option in options] == ["option", "option"]
    assert options[0].attributes["href"].startswith("/articles/money-back/")
    assert "Money back" in options[0].text
    assert "Billing" in options[0].text
    assert options[1].attributes["href"] == "/search/?q=money"


def test_nothing_found_and_nothing_asked_suggest_nothing(client: Client, refunds: Article) -> None:
    for query in ("", "zzqqy"):
        assert client.get("/search/suggest/", {"q": query}).content.strip() == b""


def test_at_most_twenty_articles_are_shown_and_the_page_says_so(client: Client) -> None:
    for number in range(22):
        indexed(f"Exporting data, part {number}")
    shown = page(client, "/search/?q=exporting+data")

    assert len(results(shown)) == 20
    assert "The 20 nearest articles" in shown.text
