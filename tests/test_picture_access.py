"""Pictures of articles are for those who may use an article that shows them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from articles import publishing
from articles.models import Article, ArticleLink, Status, Visibility
from tests.factories import make_article

pytestmark = pytest.mark.django_db

URL = "/media/articles/1f0c9a.png"
PUBLIC = "public, max-age=3600"
PRIVATE = "private, no-cache"


@pytest.fixture(autouse=True)
def picture(media: Path) -> None:
    (media / "articles").mkdir()
    (media / "articles" / "1f0c9a.png").write_bytes(b"an image")


def showing(visibility: Visibility = Visibility.PUBLIC, *, publish: bool = True) -> Article:
    body = f"Press it.\n\n![The button]({URL})"
    return make_article(body=body, visibility=visibility, publish=publish)


def statuses(reader: User, writer: User, url: str = URL) -> list[int]:
    """What anybody, a signed-in reader, a colleague without rights, and a writer get."""
    colleague = User.objects.create_user(f"colleague-{User.objects.count()}", is_staff=True)
    clients = [Client() for _ in range(4)]
    for client, user in zip(clients[1:], (reader, colleague, writer), strict=True):
        client.force_login(user)
    return [client.get(url).status_code for client in clients]


@pytest.fixture
def writer(stranger: User) -> User:
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.add(Permission.objects.get(codename="add_article"))
    return stranger


@pytest.mark.parametrize(
    ("visibility", "expected"),
    [
        (Visibility.PUBLIC, [200, 200, 200, 200]),
        (Visibility.ANSWERS_ONLY, [200, 200, 200, 200]),
        (Visibility.SIGNED_IN, [404, 200, 200, 200]),
        (Visibility.STAFF, [404, 404, 200, 200]),
    ],
)
def test_who_sees_the_picture_of_a_published_article(
    visibility: Visibility, expected: list[int], owner: User, writer: User
) -> None:
    showing(visibility)
    assert statuses(owner, writer) == expected


def test_the_picture_of_a_draft_is_for_those_who_write(owner: User, writer: User) -> None:
    only_writers = [404, 404, 404, 200]
    assert statuses(owner, writer) == only_writers  # uploaded a moment ago
    article = showing(publish=False)
    assert statuses(owner, writer) == only_writers
    publishing.publish(article)
    assert statuses(owner, writer) == [200, 200, 200, 200]
    publishing.withdraw(article, Status.ARCHIVED)
    assert statuses(owner, writer) == only_writers


def test_one_public_article_that_shows_it_is_enough(owner: User, writer: User) -> None:
    showing(Visibility.STAFF)
    showing()
    assert statuses(owner, writer)[0] == 200


def test_a_picture_that_is_no_longer_shown_goes_with_its_revision(client: Client) -> None:
    article = showing()
    article.body = "Press it."
    publishing.publish(article)
    assert client.get(URL).status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "/media/brand/../articles/1f0c9a.png",
        "/media//articles/1f0c9a.png",
        "/media/./articles/1f0c9a.png",
        "/media/articles/./1f0c9a.png",
        "/media/%61rticles/1f0c9a.png",
        "/media/brand/%2e%2e/articles/1f0c9a.png",
    ],
)
def test_no_detour_leads_around_the_gate(client: Client, media: Path, address: str) -> None:
    (media / "brand").mkdir()
    showing(Visibility.STAFF)
    assert client.get(address).status_code == 404


def test_the_logo_is_for_everyone_and_asks_no_database(client: Client, media: Path) -> None:
    (media / "brand").mkdir()
    (media / "brand" / "logo.png").write_bytes(b"a logo")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        response = client.get("/media/brand/logo.png")
    assert (response.status_code, response["Cache-Control"]) == (200, PUBLIC)
    assert not queries.captured_queries


def test_only_what_everyone_may_see_is_kept_by_shared_caches(client: Client, owner: User) -> None:
    article = showing()
    client.force_login(owner)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(URL)
    assert response["Cache-Control"] == PUBLIC
    assert "Cookie" not in response.get("Vary", "")
    assert len(queries) == 1
    article.visibility = Visibility.SIGNED_IN
    article.save()
    response = client.get(URL)
    assert response["Cache-Control"] == PRIVATE
    assert "Cookie" in response["Vary"]


def test_who_may_not_see_it_any_more_is_not_told_that_it_is_unchanged(client: Client) -> None:
    article = showing()
    modified = client.get(URL)["Last-Modified"]
    assert client.get(URL, headers={"if-modified-since": modified}).status_code == 304
    publishing.withdraw(article)
    assert client.get(URL, headers={"if-modified-since": modified}).status_code == 404


def test_an_upgrade_finds_the_pictures_of_texts_that_were_live_before(client: Client) -> None:
    showing()
    ArticleLink.objects.all().delete()
    assert client.get(URL).status_code == 404
    migration = import_module("articles.migrations.0012_links_by_path")
    migration.find_pictures(apps, None)
    assert client.get(URL).status_code == 200
