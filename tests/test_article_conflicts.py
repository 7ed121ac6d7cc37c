"""Two writers on one article: the later save is told, shows both texts, and loses none."""

from __future__ import annotations

import html
import re
import threading
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, connections, transaction
from django.test import Client

from articles.models import Article
from articles.writing import conflicts
from tests.factories import make_article, make_category
from tests.writing import article_url, change_url, colleague, form_of, signed_in

pytestmark = pytest.mark.django_db

WARNING = "somebody else saved this article"


def opened(client: Client, article: Article) -> dict[str, Any]:
    """The form as it is sent by a browser that opened it now."""
    page = client.get(change_url(article)).content.decode()
    base = re.search(r'name="base" value="([0-9a-f]{64})"', page)
    assert base
    return form_of(article, base=base[1])


@pytest.fixture
def article() -> Article:
    return make_article("Plans", body="One.\n\nTwo.")


def test_the_later_of_two_saves_shows_both_texts_and_saves_nothing(
    staff_client: Client, article: Article
) -> None:
    colleague_client = signed_in(colleague("maria", "change_article", "view_article"))
    mine, theirs = opened(staff_client, article), opened(colleague_client, article)
    colleague_client.post(change_url(article), {**theirs, "body": "One.\n\nTwo and a half."})
    response = staff_client.post(
        change_url(article), {**mine, "body": "One & only.\n\nTwo.", "title": "Prices"}
    )

    page = html.unescape(response.content.decode())
    assert WARNING in page
    assert "maria changed this article" in page
    assert "Two and a half." in page
    assert "One & only." in page
    assert re.search(r"<td>Plans</td><td>Prices</td>", page)
    article.refresh_from_db()
    assert (article.title, article.body) == ("Plans", "One.\n\nTwo and a half.")


def test_saving_again_after_the_warning_replaces_the_other_version(
    staff_client: Client, article: Article
) -> None:
    mine = opened(staff_client, article)
    Article.objects.filter(pk=article.pk).update(body="Theirs.")
    warned = staff_client.post(change_url(article), {**mine, "body": "Mine."}).content.decode()
    base = re.search(r'name="base" value="([0-9a-f]{64})"', warned)
    assert base
    staff_client.post(change_url(article), {**mine, "body": "Mine.", "base": base[1]})

    article.refresh_from_db()
    assert article.body == "Mine."


def test_a_third_version_during_the_warning_is_noticed_too(
    staff_client: Client, article: Article
) -> None:
    mine = opened(staff_client, article)
    Article.objects.filter(pk=article.pk).update(body="Theirs.")
    warned = staff_client.post(change_url(article), mine).content.decode()
    base = re.search(r'name="base" value="([0-9a-f]{64})"', warned)
    assert base
    Article.objects.filter(pk=article.pk).update(body="And another's.")
    again = staff_client.post(change_url(article), {**mine, "base": base[1]})
    assert WARNING in again.content.decode()


def test_publishing_is_held_back_too(staff_client: Client, article: Article) -> None:
    mine = opened(staff_client, article)
    Article.objects.filter(pk=article.pk).update(body="Theirs.")
    staff_client.post(change_url(article), {**mine, "body": "Mine.", "_publish": "1"})

    article.refresh_from_db()
    assert article.live_revision is not None
    assert article.live_revision.body == "One.\n\nTwo."


def test_what_no_form_shows_is_no_conflict(staff_client: Client, article: Article) -> None:
    mine = opened(staff_client, article)
    article.save()  # touches the time of the change alone
    response = staff_client.post(change_url(article), {**mine, "body": "Mine."})
    assert response.status_code == 302


def test_the_hidden_field_is_no_change_in_the_history(
    staff_client: Client, article: Article
) -> None:
    staff_client.post(change_url(article), {**opened(staff_client, article), "body": "Mine."})
    assert LogEntry.objects.get().get_change_message() == "Changed Text."


def test_who_may_only_look_gets_a_page_without_the_field(article: Article) -> None:
    page = signed_in(colleague("reader", "view_article")).get(change_url(article))
    assert page.status_code == 200
    assert 'name="base"' not in page.content.decode()


@pytest.mark.parametrize(
    ("name", "value"),
    [("title", "x"), ("body", "x"), ("slug", "x"), ("position", 7), ("visibility", "staff")],
)
def test_every_field_of_the_form_counts(article: Article, name: str, value: Any) -> None:
    before = conflicts.fingerprint(article)
    setattr(article, name, value)
    assert conflicts.fingerprint(article) != before


def test_values_are_compared_as_people_read_them(article: Article) -> None:
    category = make_category("Billing")
    yours = Article(title="Plans", body=article.body, category=category, visibility="staff")
    found = conflicts.between(article, yours, ["title", "category", "visibility", "body"])

    assert [(d.label, d.saved, d.yours) for d in found.differences] == [
        ("category", "", "Billing"),
        ("who may read it", "everyone", "staff"),
    ]
    assert found.diff == []


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_once_one_waits_and_is_told(staff_client: Client) -> None:
    article = make_article("Plans", body="One.")
    mine = opened(staff_client, article)
    answers: list[str] = []

    def save() -> None:
        try:
            response = staff_client.post(change_url(article), {**mine, "body": "Mine."})
            answers.append(response.content.decode())
        finally:
            connections.close_all()

    with transaction.atomic():
        Article.objects.select_for_update().get(pk=article.pk)
        thread = threading.Thread(target=save)
        thread.start()
        _wait_for_a_waiting_query()
        Article.objects.filter(pk=article.pk).update(body="Theirs.")
    thread.join()

    assert WARNING in answers[0]
    article.refresh_from_db()
    assert article.body == "Theirs."


def _wait_for_a_waiting_query() -> None:
    pause = threading.Event()
    for _attempt in range(500):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            row = cursor.fetchone()
        if row and row[0]:
            return
        pause.wait(0.02)
    pytest.fail("the save never waited for the lock")


def test_who_saves_a_deleted_article_gets_the_text_back_as_a_new_draft(
    staff_client: Client, article: Article
) -> None:
    maria = signed_in(colleague("maria", "delete_article", "view_article"))
    category = make_category("Billing")
    mine = opened(staff_client, article)
    typed = {
        **mine,
        "title": "Prices & plans",
        "body": "One <b>and</b> only.",
        "category": category.pk,
        "position": "7",
        "publish_at_0": "2100-01-02",
        "publish_at_1": "09:30",
        "review_on": "no day",
    }
    maria.post(article_url("delete", article.pk), {"post": "yes"})
    response = staff_client.post(change_url(article), {**typed, "_publish": "1"})

    assert response.status_code == 200
    page = html.unescape(response.content.decode())
    assert "maria deleted it" in page
    assert "Saving makes a new draft of it." in page
    assert not Article.objects.exists()
    form = response.context["adminform"].form
    assert {name: form[name].value() for name in ("title", "body", "slug", "review_on")} == {
        "title": "Prices & plans",
        "body": "One <b>and</b> only.",
        "slug": "plans",
        "review_on": "no day",
    }
    assert f'action="{article_url("add")}"' in page
    assert 'value="2100-01-02"' in page
    assert f'<option value="{category.pk}" selected>Billing</option>' in page

    saved = {**typed, "review_on": "", "_save": "1"}
    assert staff_client.post(article_url("add"), saved).status_code == 302
    kept = Article.objects.get()
    assert (kept.title, kept.slug, kept.body) == (
        "Prices & plans",
        "plans",
        "One <b>and</b> only.",
    )


def test_who_may_not_add_articles_gets_the_text_to_copy(
    staff_client: Client, article: Article
) -> None:
    client = signed_in(colleague("maria", "change_article", "view_article"))
    typed = {**opened(client, article), "body": "One </textarea> only."}
    staff_client.post(article_url("delete", article.pk), {"post": "yes"})
    response = client.post(change_url(article), typed)
    page = response.content.decode()
    assert response.status_code == 200
    assert "One &lt;/textarea&gt; only." in page
    assert "staff deleted it" in page
    assert "Nothing was saved: copy it." in page


def test_a_deleted_article_that_is_only_looked_at_leads_back(
    staff_client: Client, article: Article
) -> None:
    url = change_url(article)
    article.delete()
    assert staff_client.get(url).status_code == 302
    assert staff_client.post(f"{url[: -len('change/')]}delete/", {"post": "yes"}).status_code == 302


def test_who_is_signed_out_gets_what_was_typed_to_copy(
    staff_client: Client, article: Article
) -> None:
    typed = {**opened(staff_client, article), "body": "One & only.\n\nTwo.", "title": "Plans"}
    staff_client.logout()
    response = staff_client.post(change_url(article), {**typed, "password": "my own secret"})
    page = response.content.decode()
    assert response.status_code == 403
    assert "no-store" in response["Cache-Control"]
    assert "You are signed out" in page
    assert "One &amp; only.\n\nTwo.</textarea>" in page
    assert "my own secret" not in page
    assert f"/admin/login/?next={change_url(article).replace('/', '%2F')}" in page
    article.refresh_from_db()
    assert article.body == "One.\n\nTwo."
    # Where nothing was typed, there is nothing to give back.
    assert staff_client.post(change_url(article), {"position": "1"}).status_code == 302


def test_without_the_forms_token_nothing_is_given_back(article: Article) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post(change_url(article), {"body": "Call this number now"})
    assert response.status_code == 403
    assert "Call this number now" not in response.content.decode()


def test_an_address_that_is_taken_is_told_in_plain_words(
    staff_client: Client, article: Article
) -> None:
    make_article("Prices")
    response = staff_client.post(change_url(article), form_of(article, slug="prices"))
    errors = response.context["adminform"].form.errors
    assert errors == {"slug": ["Another article has this address."]}


def test_a_form_that_is_sent_twice_meets_no_conflict_with_itself(
    staff_client: Client, article: Article
) -> None:
    typed = {**opened(staff_client, article), "body": "One.\r\n\r\nTwo and a half.", "_save": "1"}
    for _time in range(2):
        assert staff_client.post(change_url(article), typed).status_code == 302
    again = staff_client.post(change_url(article), {**typed, "body": "Other."})
    assert WARNING in again.content.decode()
