"""Readers sign in on the site, come back to where they were, and sign out."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.models import Visibility
from tests.factories import make_article

pytestmark = pytest.mark.django_db
PASSWORD = "a password of tests"


def test_a_reader_signs_in_and_comes_back_to_what_is_now_theirs(
    client: Client, owner: User
) -> None:
    article = make_article("For members", visibility=Visibility.SIGNED_IN)
    url = article.get_absolute_url()
    assert client.get(url).status_code == 404

    response = client.post(
        f"/sign-in/?next={url}", {"username": "owner", "password": PASSWORD, "next": url}
    )
    assert (response.status_code, response.headers["Location"]) == (302, url)
    page = client.get(url).content.decode()
    assert "For members" in page
    assert "Sign out owner" in page

    client.post("/sign-out/")
    assert client.get(url).status_code == 404


def test_a_wrong_password_says_so_and_keeps_the_name(client: Client, owner: User) -> None:
    page = client.post("/sign-in/", {"username": "owner", "password": "wrong"}).content.decode()
    assert "Please enter a correct username and password" in page
    assert 'value="owner"' in page
    assert "wrong" not in page.replace("wrong password", "")


def test_no_address_of_another_site_is_followed(client: Client, owner: User) -> None:
    response = client.post(
        "/sign-in/",
        {"username": "owner", "password": PASSWORD, "next": "https://evil.example/"},
    )
    assert response.headers["Location"] == "/"


def test_who_is_signed_in_is_not_asked_again(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get("/sign-in/").status_code == 302


def test_signing_out_needs_a_post(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get("/sign-out/").status_code == 405
    assert "_auth_user_id" in client.session


def test_every_page_offers_to_sign_in_without_setting_a_cookie(client: Client) -> None:
    response = client.get("/search/")
    assert "/sign-in/?next=/search/" in response.content.decode()
    assert not response.cookies
