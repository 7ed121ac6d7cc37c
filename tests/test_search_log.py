"""The record of searches: what is kept of them, what was opened, and what nobody can do with it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles import search_log, tasks
from articles.models import Article, SearchClick, SearchQuery, Visibility
from assistant import gaps
from assistant.models import GapQuestion, GapTopic
from tests.factories import make_article, make_category
from tests.pages import page, with_class
from tests.search_index import index

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

OPENED = "/search/opened/"


@pytest.fixture(autouse=True)
def words_alone(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"


@pytest.fixture
def refunds() -> Article:
    article = make_article("Refunds", body="Ask for a refund.", category=make_category("Billing"))
    index()
    return article


def token_on(client: Client, address: str) -> str:
    (results,) = with_class(page(client, address), "results")
    return results.attributes["data-search"]


def open_result(client: Client, token: str, article: Article | int, position: object = 1) -> int:
    key = article.pk if isinstance(article, Article) else article
    data = {"search": token, "article": key, "position": position}
    return client.post(OPENED, data).status_code


# What is recorded


@pytest.mark.usefixtures("refunds")
def test_a_search_is_recorded_with_how_it_went_and_not_by_whom(client: Client) -> None:
    client.get("/search/?q=++Refund%20PLEASE")
    search = SearchQuery.objects.get()

    assert search.text == "refund please"
    assert (search.language, search.results, search.mode) == ("en", 1, "lexical")
    assert (search.fallback_reason, search.by_staff) == ("embeddings_off", False)
    assert (search.searched_at.minute, search.searched_at.second) == (0, 0)
    assert timezone.now() - search.searched_at < timedelta(hours=1)
    fields = {field.name for field in SearchQuery._meta.get_fields()}
    assert not fields & {"user", "visitor", "session", "address", "ip", "owner"}
    assert not Session.objects.exists()


def test_personal_data_is_masked(client: Client) -> None:
    client.get("/search/", {"q": "jo@example.test card 4242 4242 4242 4242"})
    assert SearchQuery.objects.get().text == "[email] card [card]"


@pytest.mark.usefixtures("refunds")
@pytest.mark.parametrize("address", ["/search/", "/search/?q=", "/search/suggest/?q=refund"])
def test_what_is_no_search_yet_is_not_recorded(client: Client, address: str) -> None:
    assert client.get(address).status_code == 200
    assert not SearchQuery.objects.exists()


@pytest.mark.usefixtures("refunds")
def test_what_nobody_looks_at_is_not_recorded(client: Client) -> None:
    client.head("/search/?q=refund")
    client.get("/search/?q=refund", headers={"Sec-Purpose": "prefetch"})
    assert not SearchQuery.objects.exists()


@pytest.mark.usefixtures("refunds")
def test_narrowing_the_results_is_the_same_search(client: Client) -> None:
    token = token_on(client, "/search/?q=refund")
    narrowed = f"/search/?q=refund&search={token}&category=billing"
    assert token_on(client, narrowed) == token
    client.get("/search/?q=refund&category=billing")
    assert SearchQuery.objects.count() == 1
    client.get(f"/search/?q=other&search={token}")
    assert SearchQuery.objects.count() == 2


@pytest.mark.usefixtures("refunds")
def test_a_search_by_staff_says_so(client: Client, staff: User) -> None:
    client.force_login(staff)
    client.get("/search/?q=refund")
    assert SearchQuery.objects.get().by_staff


@pytest.mark.usefixtures("refunds")
def test_nothing_is_recorded_where_the_site_wants_nothing_recorded(
    client: Client, settings: Any
) -> None:
    settings.SEARCH_LOG_DAYS = 0
    shown = page(client, "/search/?q=refund")
    (results,) = with_class(shown, "results")
    assert "data-search" not in results.attributes
    assert not SearchQuery.objects.exists()


@pytest.mark.usefixtures("refunds")
def test_a_flood_is_not_recorded_without_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_log, "MOST_PER_HOUR", 2)
    for number in range(4):
        assert client.get(f"/search/?q=refund+{number}").status_code == 200
    assert SearchQuery.objects.count() == 2


@pytest.mark.usefixtures("refunds")
def test_a_record_that_fails_costs_nobody_their_results(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any) -> None:
        raise DatabaseError("disk full: refund")

    monkeypatch.setattr(search_log, "_stored", fail)
    assert with_class(page(client, "/search/?q=refund"), "result")
    assert [record.message for record in caplog.records] == ["search_not_recorded"]
    assert "refund" not in caplog.text


# What was opened


def test_an_opened_result_is_recorded_once(client: Client, refunds: Article) -> None:
    token = token_on(client, "/search/?q=refund")
    for _ in range(2):
        assert open_result(client, token, refunds) == 204
    click = SearchClick.objects.get()
    assert (click.search.text, click.article, click.position) == ("refund", refunds, 1)
    refunds.delete()
    click.refresh_from_db()
    assert (click.article, click.title) == (None, "Refunds")


def test_an_opened_suggestion_records_its_search(client: Client, refunds: Article) -> None:
    token = client.get("/search/suggest/?q=refun")["Search-Token"]
    assert open_result(client, token, refunds) == 204
    click = SearchClick.objects.get()
    assert (click.search.text, click.search.results) == ("refun", 1)


def test_opening_redirects_nowhere_and_starts_no_session(client: Client, refunds: Article) -> None:
    token = token_on(client, "/search/?q=refund")
    data = {"search": token, "article": refunds.pk, "position": 1, "next": "https://evil.example"}
    response = client.post(OPENED, data)
    assert (response.status_code, response.content) == (204, b"")
    assert "Location" not in response
    assert not response.cookies
    assert client.get(OPENED).status_code == 405


def test_what_names_no_search_is_refused(client: Client, refunds: Article) -> None:
    token = token_on(client, "/search/?q=refund")
    for wrong in ("", "x", f"{token}x", token[1:], "1"):
        assert open_result(client, wrong, refunds) == 400
    for position in ("0", "-1", "many", ""):
        assert open_result(client, token, refunds, position=position) == 400
    assert open_result(client, token, 2**70) == 400
    assert not SearchClick.objects.exists()


def test_an_article_that_the_reader_may_not_open_was_not_opened(
    client: Client, refunds: Article
) -> None:
    hidden = make_article("Hidden", visibility=Visibility.STAFF)
    token = token_on(client, "/search/?q=refund")
    assert open_result(client, token, hidden) == 404
    assert open_result(client, token, hidden.pk + 999) == 404
    assert not SearchClick.objects.exists()


def test_another_site_cannot_open_in_a_readers_name(owner: User, refunds: Article) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    token = token_on(client, "/search/?q=refund")
    assert open_result(client, token, refunds) == 403
    data = {"search": token, "article": refunds.pk, "position": 1}
    anonymous = Client(enforce_csrf_checks=True)
    headers = {"Origin": "https://evil.example"}
    assert anonymous.post(OPENED, data, headers=headers).status_code == 403
    assert anonymous.post(OPENED, data).status_code == 204


def test_an_erased_search_is_no_error(client: Client, refunds: Article) -> None:
    token = token_on(client, "/search/?q=refund")
    SearchQuery.objects.all().delete()
    assert open_result(client, token, refunds) == 204
    assert not SearchClick.objects.exists()


# For how long


def test_searches_are_forgotten_after_their_time(client: Client, settings: Any) -> None:
    settings.SEARCH_LOG_DAYS = 30
    for query, days in (("old", 31), ("new", 29)):
        client.get(f"/search/?q={query}")
        searched = timezone.now() - timedelta(days=days)
        SearchQuery.objects.filter(text=query).update(searched_at=searched)
    assert tasks.forget_searches() == 1
    assert [search.text for search in SearchQuery.objects.all()] == ["new"]
    settings.SEARCH_LOG_DAYS = 0
    assert tasks.forget_searches() == 1


# In the admin


def test_staff_see_what_found_nothing_and_how_often(
    client: Client, staff: User, refunds: Article
) -> None:
    for query in ("refund", "zzqqy", "zzqqy"):
        client.get(f"/search/?q={query}")
    open_result(client, token_on(client, "/search/?q=refund"), refunds)
    client.force_login(staff)
    changelist = reverse("admin:articles_searchquery_changelist")

    def rows(parameters: str) -> list[tuple[str, ...]]:
        listed = page(client, f"{changelist}?{parameters}")
        columns = ("field-times", "field-results", "field-opened")
        cells = [[cell.text for cell in with_class(listed, name)] for name in columns]
        return sorted(zip(*cells, strict=True))

    assert rows("") == [("2", "0", "0"), ("2", "0", "0"), ("2", "1", "0"), ("2", "1", "1")]
    assert rows("outcome=nothing") == [("2", "0", "0"), ("2", "0", "0")]
    assert rows("outcome=nothing&repetitions=once") == [("2", "0", "0")]
    assert rows("outcome=unopened") == [("2", "1", "0")]
    assert rows("outcome=degraded") == rows("")

    search = SearchQuery.objects.filter(clicks__isnull=False).get()
    change = reverse("admin:articles_searchquery_change", args=[search.pk])
    assert "Refunds" in page(client, change).text
    assert client.post(change, {"text": "other"}).status_code == 403
    assert client.get(reverse("admin:articles_searchquery_add")).status_code == 403


# In the gap report


@pytest.mark.usefixtures("refunds")
def test_searches_that_found_nothing_are_gaps_of_a_kind_of_their_own(
    client: Client, staff: User
) -> None:
    for query in ("SSO with Okta", "sso okta", "refund", "refnud"):
        client.get("/search/", {"q": query})
    client.force_login(staff)
    client.get("/search/?q=asked+by+staff")
    gaps.update_report(until=timezone.now() + timedelta(minutes=1))

    topic = GapTopic.objects.get()
    assert (topic.kind, topic.name, topic.questions_count) == ("search", "sso with okta", 2)
    assert topic.get_kind_display() == "searched for and not found"
    question = GapQuestion.objects.first()
    assert question is not None
    assert (question.answer, question.grounding) == (None, "")
    shown = client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk]))
    assert f"/articles/searchquery/{question.search_id}/change/" in shown.content.decode()


def test_a_search_is_reported_once_and_outlives_its_record(client: Client) -> None:
    client.get("/search/?q=zzqqy")
    now = timezone.now() + timedelta(minutes=1)
    gaps.update_report(until=now)
    gaps.update_report(until=now + timedelta(minutes=30))
    assert GapTopic.objects.get().questions_count == 1
    SearchQuery.objects.all().delete()
    gaps.update_report(until=now + timedelta(minutes=50))
    assert GapQuestion.objects.get().text == "zzqqy"


def test_a_search_while_a_part_was_down_is_no_gap(client: Client) -> None:
    client.get("/search/?q=zzqqy")
    SearchQuery.objects.update(fallback_reason="embeddings_failed")
    gaps.update_report(until=timezone.now() + timedelta(minutes=1))
    assert not GapTopic.objects.exists()
