"""Addresses that an article had: they redirect, say that it is archived, or do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from articles import publishing
from articles.models import SlugRedirect, Status, Visibility
from articles.pages.missing import words_of
from tests.factories import make_article
from tests.pages import parsed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def test_an_old_address_redirects_for_good(client: Client) -> None:
    article = make_article("Setup")
    publishing.change_slug(article, "getting-started")

    response = client.get("/articles/setup/")

    assert response.status_code == 301
    assert response["Location"] == "/articles/getting-started/"


def test_an_article_may_move_there_and_back(client: Client) -> None:
    """A browser that kept a redirect without asking again would go round in a circle."""
    article = make_article("Setup")
    for slug in ("first-steps", "getting-started", "setup", "first-steps", "setup"):
        publishing.change_slug(article, slug)

        assert client.get(f"/articles/{slug}/").status_code == 200
        for old in {"setup", "first-steps", "getting-started"} - {slug}:
            response = client.get(f"/articles/{old}/")
            if SlugRedirect.objects.filter(slug=old).exists():
                assert (response.status_code, response["Location"]) == (301, f"/articles/{slug}/")
                assert "no-cache" in response["Cache-Control"]


def test_a_live_article_wins_over_an_old_redirect(client: Client) -> None:
    publishing.change_slug(make_article("Setup"), "getting-started")
    newer = make_article("Another one", slug="setup")

    response = client.get("/articles/setup/")

    assert response.status_code == 200
    assert newer.title in response.content.decode()


def test_a_draft_with_the_slug_leaves_the_redirect_working(client: Client) -> None:
    publishing.change_slug(make_article("Setup"), "getting-started")
    make_article("Not yet", slug="setup", publish=False)
    assert client.get("/articles/setup/").status_code == 301


def test_a_redirect_to_what_the_reader_may_not_open_does_not_exist(
    client: Client, staff: User
) -> None:
    article = make_article("Setup", visibility=Visibility.STAFF)
    publishing.change_slug(article, "internal-setup")

    assert client.get("/articles/setup/").status_code == 404
    client.force_login(staff)
    assert client.get("/articles/setup/").status_code == 301


def test_what_was_unpublished_or_deleted_does_not_exist(client: Client) -> None:
    article = make_article("Setup")
    publishing.change_slug(article, "getting-started")
    publishing.withdraw(article)
    assert client.get("/articles/setup/").status_code == 404
    assert client.get("/articles/getting-started/").status_code == 404

    publishing.publish(article)
    assert client.get("/articles/setup/").status_code == 301
    article.delete()
    assert client.get("/articles/setup/").status_code == 404


@pytest.mark.parametrize("slug", ["setup", "getting-started"])
def test_what_was_archived_is_gone_and_its_page_offers_the_search(
    client: Client, slug: str
) -> None:
    article = make_article("Setup and a secret codename", slug="setup")
    publishing.change_slug(article, "getting-started")
    publishing.withdraw(article, Status.ARCHIVED)

    response = client.get(f"/articles/{slug}/")

    body = response.content.decode()
    assert response.status_code == 410
    assert "This article was archived" in body
    assert "codename" not in body
    (box,) = [e for e in parsed(response).all("input") if e.attributes.get("name") == "q"]
    assert box.attributes["value"] == slug.replace("-", " ")


def test_what_only_staff_could_open_is_gone_for_staff_alone(client: Client, staff: User) -> None:
    make_article("Secret", visibility=Visibility.STAFF, status=Status.ARCHIVED)
    assert client.get("/articles/secret/").status_code == 404
    client.force_login(staff)
    assert client.get("/articles/secret/").status_code == 410


def test_an_archived_article_that_is_published_again_is_there_again(client: Client) -> None:
    article = make_article("Setup", status=Status.ARCHIVED)
    response = client.get("/articles/setup/")
    assert (response.status_code, response["Cache-Control"]) == (410, "private, no-cache")

    publishing.publish(article)
    assert client.get("/articles/setup/").status_code == 200


def test_a_missing_page_offers_the_search(client: Client) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404
    assert response["Cache-Control"] == "private, no-cache"
    assert "This page does not exist" in response.content.decode()
    assert 'action="/search/"' in response.content.decode()


def test_the_search_of_a_missing_page_has_the_words_of_its_address(client: Client) -> None:
    response = client.get("/articles/reset-the-2fa_code/")
    (box,) = [e for e in parsed(response).all("input") if e.attributes.get("name") == "q"]
    assert box.attributes["value"] == "reset the 2fa code"


@pytest.mark.parametrize(
    ("slug", "words"),
    [("reset-your-password", "reset your password"), ("密码-重置", "密码 重置"), ("--", "")],
)
def test_the_words_of_a_slug(slug: str, words: str) -> None:
    assert words_of(slug) == words


def test_the_words_of_a_slug_fit_a_search_box() -> None:
    assert len(words_of("x-" * 300)) <= 120
