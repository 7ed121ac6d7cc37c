"""No address of a visitor's is followed: by no redirect, and by no request of the site's own.

Whatever a parameter holds, a page answers itself or sends the browser to a path of this site.
That the site itself fetches nothing is held by the closed network of all tests: one that
reaches outside fails.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles import publishing
from tests.factories import make_article

pytestmark = pytest.mark.django_db

PASSWORD = "a password of tests"
ADDRESSES = [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "////evil.example",
    "/\\evil.example/",
    "\\\\evil.example/",
    "/\t/evil.example/",
    "\t//evil.example/",
    " //evil.example/",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "HTTPS:\\\\evil.example",
    "http://testserver@evil.example/",
    "http://testserver.evil.example/",
    "http://evil.example\\@testserver/",
    "//testserver:80@evil.example/",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "/%0d%0aLocation:%20https://evil.example/",
    "/\r\nLocation: https://evil.example/",
    "\u2044\u2044evil.example",
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:6379/",
]
PARAMETERS = ("next", "url", "to", "return", "return_to", "redirect", "continue", "article", "q")
PAGES = ("/", "/search/", "/search/suggest/", "/chat/", "/categories/", "/healthz")


def stays(response: Any) -> bool:
    """Whether the browser stays on this site, as it would read the address."""
    if not 300 <= response.status_code < 400:
        return "Refresh" not in response
    # Browsers drop tabs and line ends, and take a backslash for a slash.
    location = response["Location"].strip().translate({9: None, 10: None, 13: None, 92: "/"})
    target = urlsplit(urljoin("http://testserver/a/b/", location))
    return (target.scheme, target.netloc) == ("http", "testserver")


@pytest.mark.parametrize("address", ADDRESSES)
def test_signing_in_leads_to_this_site(client: Client, owner: User, address: str) -> None:
    data = {"username": "owner", "password": PASSWORD, "next": address}
    response = client.post("/sign-in/", data, query_params={"next": address})
    assert response.status_code == 302
    assert stays(response)
    # Who is signed in already is sent on at once.
    again = client.get("/sign-in/", {"next": address})
    assert again.status_code == 302
    assert stays(again)


@pytest.mark.parametrize("address", ADDRESSES)
def test_signing_out_leads_to_this_site(client: Client, owner: User, address: str) -> None:
    client.force_login(owner)
    response = client.post("/sign-out/", {"next": address}, query_params={"next": address})
    assert response.status_code == 302
    assert stays(response)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_admins_sign_in_leads_to_this_site(client: Client, staff: User, address: str) -> None:
    data = {"username": "staff", "password": PASSWORD, "next": address}
    response = client.post("/admin/login/", data, query_params={"next": address})
    assert response.status_code == 302
    assert stays(response)


@pytest.mark.parametrize("page", PAGES)
def test_no_parameter_of_a_page_leads_away_or_is_fetched(client: Client, page: str) -> None:
    for address in ADDRESSES:
        response = client.get(page, dict.fromkeys(PARAMETERS, address))
        assert response.status_code == 200
        assert stays(response)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_form_under_an_article_leads_back_to_it(client: Client, address: str) -> None:
    article = make_article()
    data = {"rating": "positive", "next": address, "comment": address}
    url = f"{article.get_absolute_url()}feedback/"
    response = client.post(url, data, query_params={"next": address}, headers={"referer": address})
    assert response["Location"].startswith(article.get_absolute_url())


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_moved_article_leads_to_its_new_place_and_nowhere_else(
    client: Client, address: str
) -> None:
    article = make_article()
    old = article.get_absolute_url()
    publishing.change_slug(article, "new-place")
    response = client.get(old, dict.fromkeys(PARAMETERS, address))
    assert (response.status_code, response["Location"]) == (301, "/articles/new-place/")


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "//evil.example/%2e%2e",
        "///evil.example/articles",
        "/%5cevil.example",
        "//evil.example/..;/chat",
        "/articles//evil.example",
        "/chat//evil.example",
        "//evil.example%2fchat",
        "/\\evil.example/chat",
    ],
)
def test_a_path_like_another_site_is_not_completed_to_one(client: Client, path: str) -> None:
    assert stays(client.get("/", PATH_INFO=path))
    assert stays(client.get("/", PATH_INFO=f"{path}/admin"))


def test_the_name_of_another_host_is_refused(client: Client) -> None:
    for headers in ({"host": "evil.example"}, {"host": "testserver:80@evil.example"}):
        assert client.get("/chat", headers=headers).status_code == 400
    response = client.get("/chat", headers={"x-forwarded-host": "evil.example"})
    assert stays(response)
