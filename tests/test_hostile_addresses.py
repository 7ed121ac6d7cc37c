"""Whatever stands in an address or in a form, no route of the site falls over.

The routes come from the URL resolver, and the names from what a route reads of a first request:
a new page, filter or field is tried without being named here. HOSTILE says how many values each
name is tried with besides a NUL; `make proof` tries all of them.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.contrib.admin import site as admin_site
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.http import QueryDict
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from articles.models import SearchQuery, SynonymGroup
from assistant.models import GapRun, GapTopic
from helpcenter import tokens
from tests.factories import make_article, make_category, make_traced_answer
from tests.pages import parsed, with_class

pytestmark = [
    pytest.mark.django_db,
    # A day typed by hand has no zone: Django takes the site's, and warns.
    pytest.mark.filterwarnings("ignore:.*received a naive datetime:RuntimeWarning"),
]

NUL = "%00"
VALUES = [
    "a%00b",
    "%ED%A0%80",  # half of a character
    "%FF%FE",  # no UTF-8
    "x" * 10_000,
    "9" * 400,
    "9223372036854775808",  # past what a column holds
    "nothing",
    "-1",
    "1.5",
    "%D9%A1",  # a digit that is not ASCII
    "%C2%B2",  # a digit that is no decimal
    "NaN",
    "1e999",
    "0001-01-01",
    "9999-12-31",
    "2026-02-31",
    "",
    "1,,2,%00",
    "%7B0%7D%25s%25(x)s",
    "-1.1.-99.x.%00",
]
"""As they stand in an address."""

ALL_LISTS = {"q", "p", "o", "all", "id"}
OF_DJANGO = {"_changelist_filters", "_popup", "_to_field", "_saveasnew", "_facets"}
"""The admin's own, on every page of every model: tried on one."""

LOOKED_UP = {"csrfmiddlewaretoken", "category", "parent", "article", "user"}
"""Django's own widget looks up what was chosen there before anything checks it. Only rows of its
list are chosen."""

ELSEWHERE = ("logout/", "sign-out/", "again/")
"""Forms that end the session, or start a turn on a connection that sees no row of the test's."""

FORM = "application/x-www-form-urlencoded"
TRIED = int(os.environ.get("HOSTILE", "1"))


Known = Mapping[str, str | int]


def routes(resolver: Any = None, before: str = "") -> Iterator[tuple[str, list[str]]]:
    """Each route as Django writes it, and the names of what is left open in it."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern) and "(?P" not in route:
            yield route, list(pattern.pattern.converters)


class Ledger:
    """The names that were asked of a query or a form."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.names: set[str] = set()
        for name in ("__getitem__", "get", "getlist", "__contains__"):
            patch.setattr(QueryDict, name, self._noting(getattr(QueryDict, name)))
        patch.setattr(QueryDict, "dict", lambda query: _Plain(query, self.names))

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def noting(query: QueryDict, name: str, *rest: Any, **named: Any) -> Any:
            if isinstance(name, str):
                self.names.add(name)
            return method(query, name, *rest, **named)

        return noting


class _Plain(dict[str, Any]):
    def __init__(self, query: QueryDict, names: set[str]) -> None:
        super().__init__({name: query[name] for name in query})
        self._names = names

    def __getitem__(self, name: str) -> Any:
        self._names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._names.add(name)
        return super().get(name, default)


def of_list(route: str, user: User) -> set[str]:
    """What an admin's list reads of its address, which it takes as a whole."""
    for model, model_admin in admin_site._registry.items():
        is_its = route == f"admin/{model._meta.app_label}/{model._meta.model_name}/"
        if not is_its or not hasattr(model_admin, "get_changelist_instance"):
            continue
        request = RequestFactory().get("/")
        request.user = user
        changes = model_admin.get_changelist_instance(request)
        named = {name for spec in changes.filter_specs for name in spec.expected_parameters()}
        if changes.date_hierarchy:
            named |= {f"{changes.date_hierarchy}__{unit}" for unit in ("year", "month", "day")}
        if model_admin.search_fields:
            named |= {"terms", "title", "allowed_links"} & {f.name for f in model._meta.fields}
        return {str(name) for name in named if name} | ALL_LISTS
    return set()


@pytest.fixture
def known(staff: User) -> Known:
    """What the open parts of routes are filled with, by the model's path or by their name."""
    category = make_category("Account")
    article = make_article("Reset a password", category=category)
    answer = make_traced_answer("Where is it?", article, passage="There.", grounding="no_hits")
    now = timezone.now()
    topic = GapTopic.objects.create(
        kind="gap", name="Fees", first_seen=now, last_seen=now, article=article
    )
    group = SynonymGroup(terms=["log in", "sign in"])
    group.remember(staff)
    token, secret = tokens.create(staff, "sync")
    search = SearchQuery.objects.create(
        searched_at=now, text="fees", language="en", results=0, strong=0, mode="lexical"
    )
    return {
        "auth/user": staff.pk,
        "auth/group": Group.objects.get_or_create(name="Writers")[0].pk,
        "articles/article": article.pk,
        "articles/category": category.pk,
        "articles/searchquery": search.pk,
        "articles/synonymgroup": group.pk,
        "assistant/answer": str(answer.pk),
        "assistant/conversation": str(answer.conversation_id),
        "assistant/gaptopic": topic.pk,
        "assistant/gaprun": GapRun.objects.create(period_end=now).pk,
        "helpcenter/apitoken": token.pk,
        "helpcenter/sitesettings": 1,
        "token": secret,
        "articles": article.slug,
        "categories": category.slug,
        "article_id": article.pk,
        "topic_id": topic.pk,
        "answer_id": str(answer.pk),
        "conversation_id": str(answer.conversation_id),
        "number": 1,
        "kind": "csv",
        "name": "uncited",
        "section": "articles",
        "id": staff.pk,
        "path": "a.png",
        "external_id": "docs/a.md",
        "change_id": 1,
        "content_type_id": 1,
    }


@pytest.fixture
def client(staff: User, known: Known) -> Client:
    """Of a colleague who may do everything, in the admin and by token."""
    browser = Client(raise_request_exception=False)
    browser.force_login(staff)
    return browser


class Attempts:
    """Requests that leave nothing behind, and those that were answered with a crash."""

    def __init__(self, client: Client, token: str) -> None:
        self.client, self.token = client, token
        self.made = 0
        self.crashed: list[str] = []

    def get(self, path: str, query: str = "") -> int:
        return self._send("get", path, QUERY_STRING=query)

    def post(self, path: str, form: str = "") -> int:
        return self._send("post", path, data=form, content_type=FORM)

    def _send(self, method: str, path: str, **sent: str) -> int:
        self.made += 1
        headers = {"Authorization": f"Bearer {self.token}"} if path.startswith("/api/") else {}
        with transaction.atomic():
            response = getattr(self.client, method)(path, headers=headers, **sent)
            transaction.set_rollback(True)
        if response.status_code >= 500:
            self.crashed.append(f"{method} {path[:90]} {sent}"[:200])
        return int(response.status_code)


def tried(*about: str) -> list[str]:
    """A NUL, and some of the others: which ones is told by what they are tried with."""
    at = zlib.crc32(" ".join(about).encode())
    return [NUL, *(VALUES[(at + step) % len(VALUES)] for step in range(min(TRIED, len(VALUES))))]


def filled(route: str, known: Known, **other: str) -> str:
    """The route's address, with what leads somewhere or with `other` in its open parts."""

    model = "/".join(route.split("/")[1:3])
    kind = "categories" if "categories/" in route else "articles"

    def value(part: re.Match[str]) -> str:
        name = part[1].rpartition(":")[2]
        found = known.get({"object_id": model, "slug": kind}.get(name, name), 1)
        return str(other.get(name, found))

    return "/" + re.sub(r"<([^>]+)>", value, route)


@pytest.fixture
def attempts(client: Client, known: Known) -> Attempts:
    return Attempts(client, str(known["token"]))


def names_read(
    monkeypatch: pytest.MonkeyPatch, attempts: Attempts, method: str, path: str
) -> tuple[set[str], int]:
    with monkeypatch.context() as patch:
        ledger = Ledger(patch)
        status = getattr(attempts, method)(path)
        return ledger.names, status


def _own(names: set[str], route: str) -> set[str]:
    return names if route.startswith("admin/articles/category/") else names - OF_DJANGO


def test_no_parameter_of_an_address_is_a_crash(
    staff: User, attempts: Attempts, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    for route, _open in routes():
        path = filled(route, known)
        names, status = names_read(monkeypatch, attempts, "get", path)
        if status == 404 or status == 405:
            continue
        for name in sorted(_own(names, route) | of_list(route, staff)):
            for value in tried(route, name):
                attempts.get(path, f"{name}={value}")
    assert attempts.made > 500
    assert attempts.crashed == []


def test_no_part_of_a_path_is_a_crash(attempts: Attempts, known: Known) -> None:
    for route, parts in routes():
        for name in parts:
            for value in tried(route, name):
                attempts.get(filled(route, known, **{name: value}))
    assert attempts.made > 150
    assert attempts.crashed == []


def test_no_field_of_a_form_is_a_crash(
    attempts: Attempts, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    for route, _open in routes():
        path = filled(route, known)
        if path.endswith(ELSEWHERE):
            continue
        names, status = names_read(monkeypatch, attempts, "post", path)
        if status in (404, 405, 415):
            continue
        for name in sorted(_own(names, route) - LOOKED_UP):
            for value in tried(route, name):
                attempts.post(path, f"{name}={value}")
    assert attempts.made > 300
    assert attempts.crashed == []


@pytest.mark.parametrize("query", ["status__exact=%00", "title=%00", "published_at__year=999999"])
def test_a_list_that_was_asked_for_nonsense_shows_all_and_says_so(
    client: Client, known: Known, query: str
) -> None:
    address = "/admin/articles/article/"
    response = client.get(address, QUERY_STRING=query)
    assert (response.status_code, response["Location"]) == (302, f"{address}?e=1")
    page = parsed(client.get(response["Location"]))
    assert "this list does not know" in with_class(page, "list-problem")[0].text
    assert "Reset a password" in page.text


def test_nonsense_elsewhere_is_a_calm_page(client: Client, known: Known) -> None:
    response = client.get(f"/admin/articles/article/{known['article_id']}/change/?_to_field=")
    assert response.status_code == 400
    assert "Nothing was changed." in response.content.decode()
