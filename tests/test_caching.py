"""Conditional requests and caching headers: nothing stale, nothing of another reader's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from articles import publishing
from articles.caching import help_page, last_modified, public_document
from articles.models import Article
from helpcenter import csp
from helpcenter.models import SiteSettings
from tests.factories import make_article, make_category
from tests.pages import JSON

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

PAGES = ["/", "/categories/", "/categories/steps/", "/articles/set-up/", "/search/?q=set"]


@pytest.fixture
def article() -> Article:
    return make_article("Set up", category=make_category("Steps"))


def again(client: Client, address: str, tag: str, **headers: str) -> Any:
    return client.get(address, headers={"If-None-Match": tag, **headers})


@pytest.mark.parametrize("address", PAGES)
def test_a_visitor_gets_a_page_once_and_then_hears_that_it_holds(
    client: Client, article: Article, address: str
) -> None:
    first = client.get(address)
    assert first["Cache-Control"] == "private, no-cache"
    assert {"Cookie", "Accept-Language"} <= set(first["Vary"].split(", "))

    second = again(client, address, first["ETag"])

    assert (second.status_code, second.content) == (304, b"")
    assert second["ETag"] == first["ETag"]
    assert second["Cache-Control"] == first["Cache-Control"]
    assert csp.HEADER not in second


def test_two_pages_have_two_nonces_and_one_tag(client: Client, article: Article) -> None:
    first, second = (client.get("/articles/set-up/") for _ in range(2))
    assert first.content != second.content
    assert first["ETag"] == second["ETag"]
    assert first["ETag"].startswith('W/"')


def test_a_head_request_has_the_tag_of_the_page(client: Client, article: Article) -> None:
    assert client.head("/articles/set-up/")["ETag"] == client.get("/articles/set-up/")["ETag"]


def test_whatever_changes_on_a_page_changes_its_tag(client: Client, article: Article) -> None:
    tags = {client.get("/articles/set-up/")["ETag"]}

    def assert_changed(*, by: str) -> None:
        response = again(client, "/articles/set-up/", ", ".join(tags))
        assert response.status_code == 200, by
        tags.add(response["ETag"])

    article.body = "## Another text"
    publishing.publish(article)
    assert_changed(by="the text")
    make_article("Then this", category=article.category, position=1)
    assert_changed(by="a neighbour")
    SiteSettings(name="Acme help").save()
    assert_changed(by="the site's name")
    SiteSettings.objects.update(accent="#e8590c")
    assert_changed(by="the site's colours")


def test_another_language_is_another_page(client: Client, article: Article) -> None:
    english = client.get("/articles/set-up/", headers={"Accept-Language": "en"})
    german = again(client, "/articles/set-up/", english["ETag"], **{"Accept-Language": "de"})
    assert german.status_code == 200
    assert german["Content-Language"] == "de"
    assert german["ETag"] != english["ETag"]

    client.cookies["django_language"] = "de"
    by_cookie = again(client, "/articles/set-up/", english["ETag"])
    assert by_cookie.status_code == 200
    assert by_cookie["ETag"] == german["ETag"]


@pytest.mark.parametrize("address", PAGES)
def test_what_rights_opened_is_not_kept(
    client: Client, owner: User, article: Article, address: str
) -> None:
    tag = client.get(address)["ETag"]
    client.force_login(owner)

    response = again(client, address, tag)

    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-store"
    assert "Cookie" in response["Vary"]
    assert "ETag" not in response


def test_a_visitor_with_a_session_always_gets_the_page_and_its_token(
    client: Client, article: Article
) -> None:
    tag = client.get("/articles/set-up/")["ETag"]
    client.post("/api/v1/articles/set-up/feedback/", {"rating": "positive"}, JSON)

    response = again(client, "/articles/set-up/", tag)

    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-cache"
    assert "ETag" not in response
    assert b"csrfmiddlewaretoken" in response.content


def test_a_withdrawn_article_is_not_confirmed(client: Client, article: Article) -> None:
    tag = client.get("/articles/set-up/")["ETag"]
    publishing.withdraw(article)
    assert again(client, "/articles/set-up/", tag).status_code == 404


def test_a_304_costs_no_more_than_the_page(
    client: Client, article: Article, django_assert_max_num_queries: Any
) -> None:
    tag = client.get("/articles/set-up/")["ETag"]
    with django_assert_max_num_queries(5):
        assert again(client, "/articles/set-up/", tag).status_code == 304


# Public documents, by views of their own


def document(text: str = "text", seconds: int = 300) -> Any:
    @public_document(seconds)
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(text)

    return view


def test_a_public_document_is_the_same_for_everyone() -> None:
    response = document()(RequestFactory().get("/", headers={"Accept-Language": "de"}))
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Content-Language"] == "en"
    assert re.fullmatch(r'"\w{32}"', response["ETag"])
    assert "Vary" not in response


def test_a_document_that_must_go_at_once_is_always_asked_about() -> None:
    response = document(seconds=0)(RequestFactory().get("/"))
    assert response["Cache-Control"] == "public, no-cache"
    asked = RequestFactory().get("/", headers={"If-None-Match": response["ETag"]})
    assert document(seconds=0)(asked).status_code == 304
    assert document("other", seconds=0)(asked).status_code == 200


def test_a_date_serves_clients_that_know_no_tags(article: Article) -> None:
    @public_document()
    def view(request: HttpRequest) -> HttpResponse:
        return last_modified(HttpResponse("text"), article.updated_at)

    date = view(RequestFactory().get("/"))["Last-Modified"]
    asked = RequestFactory().get("/", headers={"If-Modified-Since": date})
    assert view(asked).status_code == 304


def test_a_streamed_response_cannot_be_decorated() -> None:
    request = RequestFactory().get("/")
    with pytest.raises(TypeError, match="undecorated"):
        help_page(lambda request: StreamingHttpResponse([]))(request)
