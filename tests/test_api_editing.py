"""The write API: who may do what, versions that are named, and documents put by their ids."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from articles import publishing
from articles.models import Article, ArticleRevision, Category, SlugRedirect, Visibility
from helpcenter import tokens
from tests.api_clients import DOCUMENTS, EVERYTHING, MANAGE, TokenClient, editor
from tests.factories import make_article, make_category
from tests.test_api_reading import refused

pytestmark = pytest.mark.django_db

CATEGORIES = "/api/v1/manage/categories/"
ANY = {"if_match": "*"}


@pytest.fixture
def writer(db: None) -> TokenClient:
    """May do everything."""
    return editor(*EVERYTHING)


def address(article: Article, step: str = "") -> str:
    return f"{MANAGE}{article.pk}/{step}"


# Creating


def test_a_new_article_is_a_draft_of_the_tokens_user(writer: TokenClient, client: Client) -> None:
    make_category("Account")
    response = writer.send(
        "post",
        MANAGE,
        {
            "title": "Reset",
            "markdown": "# Now\r\n",
            "category": "account",
            "visibility": "signed_in",
            "position": 3,
            "language": "de",
            "external_id": "docs/reset.md",
        },
    )

    shown = response.json()
    assert response.status_code == 201, shown
    assert (shown["status"], shown["revision"], shown["url"]) == ("draft", None, None)
    article = Article.objects.get()
    assert shown["id"] == article.pk
    assert (article.title, article.slug, article.body) == ("Reset", "reset", "# Now\r\n")
    assert article.category == Category.objects.get()
    assert (article.visibility, article.position) == (Visibility.SIGNED_IN, 3)
    assert (article.language, article.external_id) == ("de", "docs/reset.md")
    assert article.author is not None
    assert article.author.username == "pipeline"
    assert client.get("/api/v1/articles/reset/").status_code == 404


def test_one_that_is_published_at_once_is_live(writer: TokenClient, client: Client) -> None:
    shown = writer.send(
        "post", MANAGE, {"title": "Reset", "markdown": "Now.", "publish": True}
    ).json()
    assert (shown["status"], shown["revision"]) == ("published", 1)
    assert client.get("/api/v1/articles/reset/").status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "  "),
        ("title", 5),
        ("title", None),
        ("title", "a" * 251),
        ("title", "a\0b"),
        ("markdown", "a\0b"),
        ("markdown", "a\ud83d"),
        ("markdown", "a" * 1_000_001),
        ("markdown", ["a"]),
        ("summary", "a" * 501),
        ("slug", "a b"),
        ("slug", "a/b"),
        ("slug", "a\0"),
        ("slug", ""),
        ("slug", "taken"),
        ("category", "no-such"),
        ("category", "a\0"),
        ("category", 1),
        ("category", {}),
        ("position", -1),
        ("position", 2**31),
        ("position", "1"),
        ("position", True),
        ("position", 1.5),
        ("language", "english"),
        ("language", "e\n"),
        ("visibility", "everybody"),
        ("visibility", []),
        ("visibility", {}),
        ("publish", "yes"),
        ("publish", 1),
        ("external_id", ""),
        ("external_id", "taken"),
        ("external_id", "a" * 301),
        ("status", "published"),
        ("author", 1),
        ("boby", "a mistyped name"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_and_nothing_is_saved(
    writer: TokenClient, field: str, value: Any
) -> None:
    make_article("Taken", external_id="taken")

    response = writer.send("post", MANAGE, {"title": "Fine", field: value})

    assert list(refused(response, 400, "invalid")["fields"]) == [field]
    assert Article.objects.count() == 1


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b"1",
        b"[" * 100_000,
        b"\xff",
        b'{"a": NaN}',
        b'{"a": 1' + b"0" * 5000 + b"}",
    ],
)
def test_what_is_no_json_object_is_malformed(writer: TokenClient, body: bytes) -> None:
    response = writer.generic("POST", MANAGE, body, "application/json")
    refused(response, 400, "malformed")


def test_another_kind_of_body_is_refused(writer: TokenClient) -> None:
    refused(writer.post(MANAGE, {"title": "Form"}), 415, "unsupported_media_type")


def test_a_body_is_read_up_to_a_limit(writer: TokenClient) -> None:
    body = b'{"title": "a", "markdown": "' + b"a" * (8 * 1024 * 1024) + b'"}'
    refused(writer.generic("POST", MANAGE, body, "application/json"), 413, "too_large")
    assert not Article.objects.exists()


def test_a_body_without_its_length_is_not_taken_for_an_empty_one(writer: TokenClient) -> None:
    chunked = {"transfer-encoding": "chunked"}
    response = writer.generic("PATCH", MANAGE + "1/", "", "application/json", headers=chunked)
    refused(response, 411, "length_required")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_body_in_chunks_is_refused_by_a_real_server(live_site: str) -> None:
    secret = tokens.create(User.objects.create_superuser("writer"), "pipeline")[1]
    connection = http.client.HTTPConnection(urlsplit(live_site).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection.request("POST", MANAGE, iter([b'{"title":', b'"Reset"}']), headers)
    response = connection.getresponse()
    assert (response.status, json.load(response)["error"]["code"]) == (411, "length_required")
    connection.close()
    assert not Article.objects.exists()


@pytest.mark.parametrize("data", [{"title": "a", "visibility": "\ud800"}, {"\ud800": 1}])
def test_half_a_character_is_refused_and_not_a_crash(
    writer: TokenClient, data: dict[str, Any]
) -> None:
    refused(writer.generic("POST", MANAGE, json.dumps(data), "application/json"), 400, "invalid")


# Who may


def test_without_a_token_nobody_edits_whoever_is_signed_in(client: Client, staff: User) -> None:
    article = make_article()
    client.force_login(staff)
    for response in (
        client.get(MANAGE),
        client.get(address(article)),
        client.post(MANAGE, {"title": "A"}, content_type="application/json"),
        client.delete(address(article)),
        client.put(f"{DOCUMENTS}a/", {}, content_type="application/json"),
        client.post(CATEGORIES, {}, content_type="application/json"),
    ):
        refused(response, 401, "unauthorized")
        assert response["WWW-Authenticate"].startswith("Bearer")


REQUESTS: dict[str, tuple[str, str, Any]] = {
    "add_article": ("post", "", {"title": "New"}),
    "change_article": ("patch", "{pk}/", {"title": "Changed"}),
    "delete_article": ("delete", "{pk}/", None),
    "publish_article": ("post", "{pk}/publish/", None),
}


@pytest.mark.parametrize("permission", REQUESTS)
def test_each_act_needs_its_own_permission(permission: str) -> None:
    article = make_article(publish=False)
    method, path, body = REQUESTS[permission]
    at = MANAGE + path.format(pk=article.pk)
    others = editor(*(set(EVERYTHING) - {permission}), name="others")

    refused(others.send(method, at, body, **ANY), 403, "forbidden")
    article.refresh_from_db()
    assert (article.title, article.status, Article.objects.count()) == (
        "Reset your password",
        "draft",
        1,
    )
    assert editor(permission).send(method, at, body, **ANY).status_code < 300


@pytest.mark.parametrize("step", ["unpublish/", "archive/"])
def test_who_may_not_publish_may_not_withdraw(step: str) -> None:
    article = make_article()
    refused(editor("change_article").send("post", address(article, step)), 403, "forbidden")


def test_who_may_not_publish_may_not_create_what_is_live() -> None:
    writer = editor("add_article", "change_article")
    body = {"title": "A", "markdown": "", "publish": True}
    refused(writer.send("post", MANAGE, {"title": "A", "publish": True}), 403, "forbidden")
    refused(writer.send("put", f"{DOCUMENTS}a/", body), 403, "forbidden")
    assert not Article.objects.exists()


def test_working_copies_are_for_those_who_may_see_them() -> None:
    article = make_article(publish=False)
    for permission, status in (("view_article", 200), ("add_article", 403)):
        client = editor(permission, name=permission)
        assert client.get(address(article)).status_code == status
        assert client.get(MANAGE).status_code == status


# Changing


def test_a_change_names_the_version_it_was_made_from(writer: TokenClient) -> None:
    article = make_article("Reset")
    read = writer.get(address(article))

    refused(writer.send("patch", address(article), {"title": "A"}), 428, "precondition_required")
    first = writer.send("patch", address(article), {"title": "A"}, if_match=read["ETag"])
    assert first.status_code == 200
    stale = writer.send("patch", address(article), {"title": "B"}, if_match=read["ETag"])
    refused(stale, 412, "stale")
    refused(writer.send("delete", address(article), if_match=read["ETag"]), 412, "stale")
    refused(writer.send("delete", address(article)), 428, "precondition_required")
    second = writer.send("patch", address(article), {"title": "B"}, if_match=first["ETag"])
    assert second.json()["title"] == "B"
    assert writer.get(address(article))["ETag"] == second["ETag"]


def test_a_change_by_somebody_else_makes_it_stale(writer: TokenClient) -> None:
    article = make_article("Reset")
    read = writer.get(address(article))
    publishing.withdraw(article)
    refused(writer.send("post", address(article, "publish/"), if_match=read["ETag"]), 412, "stale")


def test_what_is_left_out_stays(writer: TokenClient) -> None:
    article = make_article("Reset", summary="Short", visibility=Visibility.STAFF)
    writer.send("patch", address(article), {"summary": ""}, **ANY)
    article.refresh_from_db()
    assert (article.title, article.summary, article.visibility) == ("Reset", "", "staff")


def test_readers_see_a_changed_text_once_it_is_published(
    writer: TokenClient, client: Client
) -> None:
    article = make_article("Reset", body="Old.")
    changed = writer.send("patch", address(article), {"markdown": "New."}, **ANY).json()

    assert (changed["has_unpublished_changes"], changed["revision"]) == (True, 1)
    assert client.get("/api/v1/articles/reset/").json()["markdown"] == "Old."
    published = writer.send("post", address(article, "publish/")).json()
    assert (published["has_unpublished_changes"], published["revision"]) == (False, 2)
    assert client.get("/api/v1/articles/reset/").json()["markdown"] == "New."


def test_a_new_slug_leaves_a_redirect(writer: TokenClient, client: Client) -> None:
    article = make_article("Reset")
    changed = writer.send("patch", address(article), {"slug": "choose"}, **ANY)
    assert changed.json()["slug"] == "choose"
    assert SlugRedirect.objects.get().slug == "reset"
    assert client.get("/articles/reset/").headers["Location"] == "/articles/choose/"


def test_a_change_without_a_body_is_none(writer: TokenClient) -> None:
    article = make_article("Reset")
    refused(writer.send("patch", address(article), **ANY), 400, "malformed")
    assert writer.send("patch", address(article), {}, **ANY).status_code == 200


def test_its_own_slug_is_not_taken(writer: TokenClient) -> None:
    article = make_article("Reset")
    body = {"slug": "reset", "title": "Other"}
    assert writer.send("patch", address(article), body, **ANY).status_code == 200
    assert not SlugRedirect.objects.exists()


def test_a_change_that_says_nothing_new_changes_nothing(writer: TokenClient) -> None:
    article = make_article("Reset")
    before = Article.objects.values().get()
    read = writer.get(address(article))
    answer = writer.send("patch", address(article), {"title": "Reset"}, if_match=read["ETag"])
    assert answer["ETag"] == read["ETag"]
    assert Article.objects.values().get() == before
    assert not LogEntry.objects.exists()


def test_an_article_goes_through_its_states(writer: TokenClient, client: Client) -> None:
    article = make_article("Reset", publish=False)
    page = "/api/v1/articles/reset/"
    for step, status, seen in (
        ("publish/", "published", 200),
        ("publish/", "published", 200),
        ("unpublish/", "draft", 404),
        ("publish/", "published", 200),
        ("archive/", "archived", 410),
        ("archive/", "archived", 410),
    ):
        assert writer.send("post", address(article, step)).json()["status"] == status
        assert client.get(page).status_code == seen
    assert ArticleRevision.objects.count() == 1


def test_a_deleted_article_is_gone(writer: TokenClient, client: Client) -> None:
    article = make_article("Reset")
    assert writer.send("delete", address(article), **ANY).status_code == 204
    assert not Article.objects.exists()
    refused(writer.get(address(article)), 404, "not_found")
    refused(client.get("/api/v1/articles/reset/"), 404, "not_found")


def test_what_the_api_did_stands_in_the_admins_history(writer: TokenClient) -> None:
    article = make_article("Reset")
    writer.send("patch", address(article), {"title": "A", "summary": "B"}, **ANY)
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user.username) == (str(article.pk), "pipeline")
    assert entry.change_message == "API, docs pipeline: title, summary"


@pytest.mark.parametrize("number", [0, 10**9, 10**30])
def test_an_unknown_article(writer: TokenClient, number: int) -> None:
    refused(writer.get(f"{MANAGE}{number}/"), 404, "not_found")


def test_working_copies_in_pages_by_status(writer: TokenClient) -> None:
    make_article("Live")
    make_article("Draft", publish=False)
    listed = writer.get(MANAGE, {"status": "draft"}).json()
    assert [one["slug"] for one in listed["results"]] == ["draft"]
    assert len(writer.get(MANAGE).json()["results"]) == 2
    refused(writer.get(MANAGE, {"status": "gone"}), 400, "invalid")


# Documents


def test_putting_a_document_twice_is_putting_it_once(writer: TokenClient, client: Client) -> None:
    body = {"title": "Install", "markdown": "## Steps\n\nOne.", "publish": True}
    first = writer.send("put", f"{DOCUMENTS}guides/install.md/", body)
    assert (first.status_code, first.json()["external_id"]) == (201, "guides/install.md")
    before = Article.objects.values().get()

    again = writer.send("put", f"{DOCUMENTS}guides/install.md/", body)

    assert (again.status_code, again["ETag"]) == (200, first["ETag"])
    assert Article.objects.values().get() == before
    assert ArticleRevision.objects.count() == 1
    assert client.get("/api/v1/articles/install/").json()["markdown"] == "## Steps\n\nOne."
    assert writer.get(f"{DOCUMENTS}guides/install.md/").json() == again.json()


def test_a_changed_document_is_a_new_revision_at_its_old_address(writer: TokenClient) -> None:
    at = f"{DOCUMENTS}install.md/"
    writer.send("put", at, {"title": "Install", "markdown": "One", "publish": True})
    Article.objects.update(visibility=Visibility.STAFF)
    changed = writer.send("put", at, {"title": "Set up", "markdown": "Two", "publish": True}).json()
    assert (changed["revision"], changed["slug"]) == (2, "install")
    assert changed["visibility"] == "staff"


def test_a_document_that_is_not_to_be_live_stays_a_draft(writer: TokenClient) -> None:
    put = writer.send("put", f"{DOCUMENTS}a/", {"title": "A", "markdown": ""})
    assert (put.status_code, put.json()["status"]) == (201, "draft")


def test_a_document_needs_its_title_and_text(writer: TokenClient) -> None:
    error = refused(writer.send("put", f"{DOCUMENTS}a/", {}), 400, "invalid")
    assert set(error["fields"]) == {"title", "markdown"}


def test_an_id_that_cannot_be_one(writer: TokenClient) -> None:
    body = {"title": "A", "markdown": ""}
    error = refused(writer.send("put", f"{DOCUMENTS}{'a' * 301}/", body), 400, "invalid")
    assert list(error["fields"]) == ["external_id"]
    refused(writer.send("put", f"{DOCUMENTS}a%00b/", body), 404, "not_found")
    assert not Article.objects.exists()


def test_a_document_may_name_the_version_it_replaces(writer: TokenClient) -> None:
    at, body = f"{DOCUMENTS}a/", {"title": "A", "markdown": ""}
    first = writer.send("put", at, body)
    assert writer.send("put", at, {**body, "title": "B"}, if_match=first["ETag"]).status_code == 200
    refused(writer.send("put", at, {**body, "title": "C"}, if_match=first["ETag"]), 412, "stale")


# Categories


def test_a_category_is_made_changed_and_deleted(writer: TokenClient) -> None:
    writer.send("post", CATEGORIES, {"name": "Account"})
    body = {"name": "Signing in", "parent": "account", "description": "In", "position": 2}
    made = writer.send("post", CATEGORIES, body)
    assert (made.status_code, made.json()) == (201, {**body, "slug": "signing-in"})

    at = f"{CATEGORIES}signing-in/"
    refused(writer.send("patch", at, {"name": "Sign in"}), 428, "precondition_required")
    changed = writer.send("patch", at, {"name": "Sign in", "parent": None}, if_match=made["ETag"])
    assert changed.json() == {**body, "name": "Sign in", "parent": None, "slug": "signing-in"}
    refused(writer.send("delete", at, if_match=made["ETag"]), 412, "stale")
    assert writer.send("delete", at, if_match=changed["ETag"]).status_code == 204
    refused(writer.get(at), 404, "not_found")


def test_a_category_that_holds_something_stays(writer: TokenClient) -> None:
    make_article(category=make_category("Account"), publish=False)
    refused(writer.send("delete", f"{CATEGORIES}account/", **ANY), 409, "not_empty")
    assert Category.objects.exists()


def test_a_category_cannot_be_inside_itself(writer: TokenClient) -> None:
    make_category("Inside", parent=make_category("Account"))
    response = writer.send("patch", f"{CATEGORIES}account/", {"parent": "inside"}, **ANY)
    assert list(refused(response, 400, "invalid")["fields"]) == ["parent"]
    assert Category.objects.get(slug="account").parent is None


@pytest.mark.parametrize(
    ("permission", "method", "path", "body"),
    [
        ("add_category", "post", "", {"name": "New"}),
        ("change_category", "patch", "account/", {"name": "Changed"}),
        ("delete_category", "delete", "account/", None),
    ],
)
def test_categories_have_their_own_permissions(
    permission: str, method: str, path: str, body: Any
) -> None:
    make_category("Account")
    others = editor(*(set(EVERYTHING) - {permission}), name="others")
    refused(others.send(method, CATEGORIES + path, body, **ANY), 403, "forbidden")
    assert Category.objects.get().name == "Account"
    assert editor(permission).send(method, CATEGORIES + path, body, **ANY).status_code < 300
