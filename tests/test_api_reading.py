"""The read API: what the caller may open, in pages, filtered, searched, 304 where it is known."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from articles import publishing
from articles.indexing import index_article
from articles.models import Article, Status, Visibility
from articles.ranking import spelling
from helpcenter import tokens
from tests.api_clients import TokenClient
from tests.factories import make_article, make_category

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

ARTICLES = "/api/v1/articles/"
CATEGORIES = "/api/v1/categories/"
SEARCH = "/api/v1/search/"


def slugs(client: Client, **query: Any) -> list[str]:
    response = client.get(ARTICLES, query)
    assert response.status_code == 200, response.json()
    return [article["slug"] for article in response.json()["results"]]


def refused(response: Any, status: int, code: str) -> dict[str, Any]:
    """The error, after a look at its shape."""
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert error["message"]
    assert response["Content-Type"].startswith("application/json")
    return error


# Articles


def test_an_article_comes_as_markdown_and_as_html(client: Client) -> None:
    category = make_category("Account")
    make_article("Reset", body="## How\n\n**Now.** <b>raw</b>", category=category, summary="Short")

    article = client.get(f"{ARTICLES}reset/").json()

    assert article["markdown"] == "## How\n\n**Now.** <b>raw</b>"
    assert "<strong>Now.</strong>" in article["html"]
    assert "<b>" not in article["html"]
    assert article["contents"] == [{"level": 2, "text": "How", "anchor": "how"}]
    assert article["category"] == {"slug": "account", "name": "Account"}
    assert (article["summary"], article["revision"]) == ("Short", 1)
    assert article["url"] == "http://testserver/articles/reset/"


def test_readers_get_the_live_revision_and_not_the_working_copy(client: Client) -> None:
    article = make_article("Reset", body="What is live.")
    article.title, article.body = "Secret plans", "Not yet."
    article.save()

    shown = client.get(f"{ARTICLES}{article.slug}/").json()

    assert (shown["title"], shown["markdown"]) == ("Reset", "What is live.")
    assert "Secret" not in client.get(ARTICLES).content.decode()


def test_everybody_gets_what_they_may_open(client: Client, owner: User, staff: User) -> None:
    for visibility in Visibility:
        make_article(visibility.value, visibility=visibility)
    signed_in, colleague = Client(), Client()
    signed_in.force_login(owner)
    colleague.force_login(staff)
    by_token = TokenClient(tokens.create(staff, "reads")[1])

    assert set(slugs(client)) == {"public"}
    assert set(slugs(signed_in)) == {"public", "signed_in"}
    assert set(slugs(colleague)) == set(slugs(by_token)) == {"public", "signed_in", "staff"}


@pytest.mark.field_report("B83")
@pytest.mark.parametrize("status", [Status.DRAFT, Status.ARCHIVED])
def test_what_is_not_published_is_nowhere(client: Client, staff: User, status: Status) -> None:
    """B83, on every address that reads."""
    category = make_category("Plans")
    make_article("Secret pricing 2027", status=status, category=category)
    colleague = Client()
    colleague.force_login(staff)

    for caller in (client, colleague):
        assert caller.get(f"{ARTICLES}secret-pricing-2027/").status_code in (404, 410)
        assert slugs(caller) == []
        found = caller.get(SEARCH, {"q": "secret pricing"}).json()
        assert found["results"] == []
        for address in (ARTICLES, CATEGORIES):
            assert "ecret" not in caller.get(address).content.decode()
    assert client.get(CATEGORIES).json() == {"results": []}
    refused(client.get(f"{CATEGORIES}plans/"), 404, "not_found")
    error = refused(client.get(ARTICLES, {"category": "plans"}), 400, "invalid")
    unknown = refused(client.get(ARTICLES, {"category": "no-such"}), 400, "invalid")
    assert error == unknown


def test_an_archived_article_is_gone_for_who_could_read_it(client: Client) -> None:
    make_article("Old", status=Status.ARCHIVED)
    make_article("Internal", status=Status.ARCHIVED, visibility=Visibility.STAFF)
    refused(client.get(f"{ARTICLES}old/"), 410, "gone")
    refused(client.get(f"{ARTICLES}internal/"), 404, "not_found")


def test_an_old_address_leads_to_the_present_one(client: Client) -> None:
    article = make_article("Reset")
    publishing.change_slug(article, "choose-a-password")

    response = client.get(f"{ARTICLES}reset/")

    assert response.status_code == 301
    assert response["Location"] == "http://testserver/api/v1/articles/choose-a-password/"
    assert response.json() == {"slug": "choose-a-password"}


def test_the_old_address_of_what_was_withdrawn_is_unknown(client: Client) -> None:
    article = make_article("Reset")
    publishing.change_slug(article, "other")
    publishing.withdraw(article)

    refused(client.get(f"{ARTICLES}reset/"), 404, "not_found")


# Lists


def test_pages_hold_every_article_once_the_latest_first(client: Client) -> None:
    made = [make_article(f"Number {number}").slug for number in range(7)]

    found, address = [], f"{ARTICLES}?page_size=3"
    while address:
        page = client.get(address).json()
        assert len(page["results"]) <= 3
        found += [article["slug"] for article in page["results"]]
        address = page["next"]

    assert found == made[::-1]


@pytest.mark.parametrize(
    "query",
    [
        {"page_size": 0},
        {"page_size": 101},
        {"page_size": "many"},
        {"cursor": "nonsense"},
        {"cursor": "cD1ub3doZXJl"},
        {"cursor": "bz0tMQ=="},
        {"cursor": "\u00e9"},
        {"updated_since": "yesterday"},
        {"updated_since": ""},
        {"updated_since": "0000-00-00T00:00Z"},
        {"language": "e"},
        {"category": "a\0b"},
    ],
)
def test_a_parameter_that_makes_no_sense_is_named(client: Client, query: dict[str, Any]) -> None:
    error = refused(client.get(ARTICLES, query), 400, "invalid")
    assert list(error["fields"]) == list(query)


def test_a_category_holds_what_is_below_it(client: Client) -> None:
    top = make_category("Account")
    inside = make_category("Signing in", parent=top)
    make_article("In", category=inside)
    make_article("On top", category=top)
    make_article("Elsewhere")

    assert set(slugs(client, category="account")) == {"in", "on-top"}
    assert slugs(client, category="signing-in") == ["in"]


def test_a_language_holds_its_regions(client: Client) -> None:
    for language in ("en", "en-GB", "de", "enm"):
        make_article(f"In {language}", language=language)

    assert set(slugs(client, language="EN")) == {"in-en", "in-en-gb"}
    assert slugs(client, language="en-GB") == ["in-en-gb"]


def test_what_was_published_since(client: Client) -> None:
    make_article("Old")
    before = timezone.now()
    make_article("New")

    assert slugs(client, updated_since=before.isoformat()) == ["new"]
    assert slugs(client, updated_since=(before + timedelta(hours=1)).isoformat()) == []


def test_the_tree_of_categories(client: Client) -> None:
    top = make_category("Account", description="Who you are")
    make_article("In", category=make_category("Signing in", parent=top))
    make_category("Empty")

    account, signing_in = client.get(CATEGORIES).json()["results"]

    assert (account["slug"], account["parent"], account["articles"]) == ("account", None, 1)
    assert (signing_in["slug"], signing_in["parent"]) == ("signing-in", "account")
    assert client.get(f"{CATEGORIES}account/").json() == account


# Search


@pytest.fixture
def found_article(db: None) -> Article:
    article = make_article("Reset your password", body="## By e-mail\n\nOpen **Settings**.")
    index_article(article.pk)
    return article


@pytest.mark.usefixtures("found_article")
def test_search_gives_articles_with_passages(client: Client) -> None:
    found = client.get(SEARCH, {"q": "reset password"}).json()

    assert (found["query"], found["fallback_reason"]) == ("reset password", None)
    assert found["languages"] == ["en"]
    (result,) = found["results"]
    assert result["article"]["slug"] == "reset-your-password"
    passage = result["passages"][0]
    assert passage["text"] == "Open Settings."
    assert (passage["headings"], passage["anchor"]) == (["By e-mail"], "by-e-mail")
    assert passage["url"].endswith("/articles/reset-your-password/#by-e-mail")


@pytest.mark.usefixtures("found_article")
def test_a_degraded_search_says_so(client: Client, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    found = client.get(SEARCH, {"q": "reset password"}).json()
    assert (found["mode"], found["fallback_reason"]) == ("lexical", "embeddings_off")
    assert len(found["results"]) == 1


@pytest.mark.usefixtures("found_article")
def test_a_misspelt_search_says_what_may_have_been_meant(client: Client, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    spelling.collect()
    assert client.get(SEARCH, {"q": "pasword"}).json()["suggestion"] == "password"
    assert client.get(SEARCH, {"q": "reset password"}).json()["suggestion"] is None


@pytest.mark.parametrize(
    "query", [{}, {"q": " "}, {"q": "a" * 401}, {"q": "a\0"}, {"q": "a", "limit": 51}]
)
def test_a_search_for_nothing_is_refused(client: Client, query: dict[str, Any]) -> None:
    refused(client.get(SEARCH, query), 400, "invalid")


# Conditions, costs and refusals


@pytest.mark.parametrize("address", [ARTICLES, f"{ARTICLES}reset/", CATEGORIES])
def test_who_has_the_present_version_is_told_so(client: Client, address: str) -> None:
    article = make_article("Reset", category=make_category())
    first = client.get(address)
    again = client.get(address, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]

    article.title = "Choose a password"
    publishing.publish(article)
    make_article("One more", category=article.category)
    assert client.get(address, headers={"if-none-match": first["ETag"]}).status_code == 200


def test_caches_may_not_give_one_readers_articles_to_another(client: Client, owner: User) -> None:
    response = client.get(ARTICLES)
    assert response["Cache-Control"] == "no-cache"
    vary = {name.strip() for name in response["Vary"].split(",")}
    assert {"Accept-Language", "Authorization", "Cookie"} <= vary
    client.force_login(owner)
    assert client.get(ARTICLES)["Cache-Control"] == "private, no-cache"


def test_reading_starts_no_session(client: Client) -> None:
    make_article("Reset")
    for address in (ARTICLES, f"{ARTICLES}reset/", CATEGORIES):
        client.get(address)
    assert not client.cookies


def test_lists_cost_the_same_however_long_they_are(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    top = make_category("Account")
    for number in range(12):
        make_article(f"Number {number}", category=make_category(f"C{number}", parent=top))

    with django_assert_num_queries(1):
        client.get(ARTICLES)
    with django_assert_num_queries(2):
        client.get(ARTICLES, {"category": "account"})
    with django_assert_num_queries(1):
        client.get(CATEGORIES)
    with django_assert_num_queries(1):
        client.get(f"{ARTICLES}number-1/")


def test_a_search_costs_the_same_however_much_it_finds(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        index_article(make_article(f"Reset password {number}").pk)
    with django_assert_max_num_queries(10):
        assert len(client.get(SEARCH, {"q": "reset password"}).json()["results"]) == 8


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_reading_addresses_take_no_other_method(client: Client, method: str) -> None:
    response = getattr(client, method)(ARTICLES)
    refused(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD, OPTIONS"


def test_the_api_answers_in_json_only(client: Client) -> None:
    refused(client.get(ARTICLES, headers={"accept": "text/csv"}), 406, "not_acceptable")


@pytest.mark.parametrize("address", ["/api/v2/", "/api/v1/nothing/", "/api/v1/articles/a b/"])
def test_an_unknown_address_is_told_in_json(client: Client, address: str) -> None:
    refused(client.get(address), 404, "not_found")


def test_other_unknown_addresses_have_the_sites_page(client: Client) -> None:
    response = client.get("/nothing/")
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
