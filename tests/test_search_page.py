"""The search page and the suggestions under a search box."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from articles import indexing
from articles.models import Article, SynonymGroup, Visibility
from articles.terms import frequencies
from tests.dom import Element, parse
from tests.factories import make_article, make_category
from tests.pages import page, texts, with_class

if TYPE_CHECKING:
    from django.contrib.auth.models import User

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


@pytest.mark.usefixtures("refunds")
@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("/search/suggest/?q=refund", 5),
        # Five of the search, and the filters' categories, the record and the site's settings.
        ("/search/?q=refund", 8),
        ("/search/?q=zzqqy", 8),
    ],
)
def test_a_search_costs_few_queries(
    client: Client, django_assert_max_num_queries: Any, address: str, most: int
) -> None:
    frequencies.recount()
    for number in range(12):
        indexed(f"Refund {number}", body="How a refund is paid.")
    client.get(address)  # synonyms and known words are kept by the process
    with django_assert_max_num_queries(most):
        client.get(address)


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


# Narrowing the results


def choices(root: Element, name: str) -> dict[str, str]:
    """Value to text of a filter's choices; empty without that filter."""
    for select in root.all("select"):
        if select.attributes["name"] == name:
            return {one.attributes["value"]: one.text.strip() for one in select.all("option")}
    return {}


def titles(root: Element) -> list[str]:
    return [title for result in results(root) for title in texts(result, "h2")]


def test_results_are_narrowed_to_a_category_with_all_below_it(client: Client) -> None:
    billing = make_category("Billing")
    indexed("Refund a plan", category=make_category("Plans", parent=billing))
    indexed("Refund an order", category=billing)
    indexed("Refund by mail", category=make_category("Mail"))
    shown = page(client, "/search/?q=refund")

    assert choices(shown, "category") == {
        "": "All categories",
        "billing": "Billing (2)",
        "plans": "Billing › Plans (1)",
        "mail": "Mail (1)",
    }
    narrowed = page(client, "/search/?q=refund&category=billing")
    assert sorted(titles(narrowed)) == ["Refund a plan", "Refund an order"]
    (selected,) = [one for one in narrowed.all("option") if "selected" in one.attributes]
    assert selected.attributes["value"] == "billing"
    assert choices(narrowed, "category") == choices(shown, "category")
    assert "Remove filters" in narrowed.text
    assert "Remove filters" not in shown.text


def test_results_are_narrowed_to_a_language_where_there_are_several(client: Client) -> None:
    indexed("Refund")
    assert choices(page(client, "/search/?q=refund"), "language") == {}
    indexed("Refund auf Deutsch", language="de-AT")
    shown = page(client, "/search/?q=refund")
    assert choices(shown, "language") == {
        "": "Any language",
        "de": "Deutsch",
        "en": "English (1)",
    }
    assert titles(page(client, "/search/?q=refund&language=de")) == ["Refund auf Deutsch"]


def test_results_are_narrowed_to_what_was_updated_lately(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed("Refund now")
    assert choices(page(client, "/search/?q=refund"), "updated") == {}
    long_ago = timezone.now() - timedelta(days=100)
    with monkeypatch.context() as earlier:
        earlier.setattr("django.utils.timezone.now", lambda: long_ago)
        indexed("Refund long ago")
    shown = page(client, "/search/?q=refund")
    assert choices(shown, "updated") == {
        "": "Any time",
        "month": "Past month (1)",
        "quarter": "Past three months (1)",
    }
    assert titles(page(client, "/search/?q=refund&updated=quarter")) == ["Refund now"]
    assert len(titles(page(client, "/search/?q=refund&updated=year"))) == 2


def test_a_category_that_a_reader_may_not_see_is_no_choice(client: Client, staff: User) -> None:
    hidden = make_category("Hidden plans")
    indexed("Refund for staff", category=hidden, visibility=Visibility.STAFF)
    indexed("Refund", category=make_category("Billing"))
    assert set(choices(page(client, "/search/?q=refund"), "category")) == {"", "billing"}
    assert len(titles(page(client, "/search/?q=refund&category=hidden-plans"))) == 1
    client.force_login(staff)
    assert "hidden-plans" in choices(page(client, "/search/?q=refund"), "category")


def test_nothing_under_a_filter_says_so_and_leads_back(client: Client) -> None:
    indexed("Refund", category=make_category("Billing"))
    indexed("Other", category=make_category("Mail"))
    shown = page(client, "/search/?q=refund&category=mail&updated=month")
    if not titles(shown):
        assert "with these filters" in shown.text
    links = {link.text: link.attributes["href"] for link in shown.all("a")}
    assert links["Remove filters"] == "/search/?q=refund"


@pytest.mark.parametrize(
    "filters", ["category=nothing", "language=xx", "updated=never", "category=%00&language=%FF"]
)
def test_a_filter_that_does_not_exist_counts_as_none(client: Client, filters: str) -> None:
    indexed("Refund")
    assert titles(page(client, f"/search/?q=refund&{filters}")) == ["Refund"]


def test_synonyms_are_searched_named_and_marked(client: Client) -> None:
    indexed("End your subscription", body="Open Billing.")
    SynonymGroup.objects.create(terms=["membership", "subscription"])
    shown = page(client, "/search/?q=membership")
    assert titles(shown) == ["End your subscription"]
    assert "Also searched for: subscription" in " ".join(shown.text.split())
    assert [mark.text for mark in shown.all("mark")] == ["subscription"]
