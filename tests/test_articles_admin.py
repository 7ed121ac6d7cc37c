"""Writers publish, unpublish, preview and compare articles in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles import publishing
from articles.models import Article, SlugRedirect, Status
from tests.factories import make_article, make_category
from tests.writing import change_url, colleague, form_of, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client, staff: User) -> Client:
    client.force_login(staff)
    return client


def test_saving_keeps_a_draft(admin: Client) -> None:
    blank = Article(title="Plans")
    admin.post(reverse("admin:articles_article_add"), form_of(blank, body="Three plans."))

    article = Article.objects.get()
    assert (article.status, article.slug, article.live_revision) == (Status.DRAFT, "plans", None)


def test_save_and_publish_makes_it_live_and_offers_the_page(admin: Client) -> None:
    blank = Article(title="Plans")
    response = admin.post(
        reverse("admin:articles_article_add"),
        form_of(blank, body="Three plans.", _publish="1"),
        follow=True,
    )

    article = Article.objects.get()
    assert article.status == Status.PUBLISHED
    assert "is published" in response.content.decode()
    assert article.get_absolute_url() in response.content.decode()


@pytest.mark.parametrize("language", ["klingon!!", "<b>", "e", "en_US"])
def test_a_language_is_a_code(admin: Client, language: str) -> None:
    url, blank = reverse("admin:articles_article_add"), Article(title="Plans")
    page = admin.post(url, form_of(blank, body="Three plans.", language=language))
    assert "Enter the code of a language, such as en or pt-BR." in page.content.decode()
    assert not Article.objects.exists()
    admin.post(url, form_of(blank, body="Drei Pläne.", language="pt-BR"))
    assert Article.objects.get().language == "pt-BR"


def test_saving_a_published_article_leaves_the_live_version(admin: Client) -> None:
    article = make_article("Plans", body="Three plans.")
    admin.post(change_url(article), form_of(article, body="Four plans."))

    article.refresh_from_db()
    assert article.body == "Four plans."
    assert article.live_revision is not None
    assert article.live_revision.body == "Three plans."


def test_an_empty_slug_keeps_the_address(admin: Client) -> None:
    article = make_article("Plans")
    admin.post(change_url(article), form_of(article, title="Prices", slug=""))

    article.refresh_from_db()
    assert (article.title, article.slug) == ("Prices", "plans")


def test_a_changed_slug_redirects(admin: Client) -> None:
    article = make_article("Plans")
    admin.post(change_url(article), form_of(article, slug="prices"))

    article.refresh_from_db()
    assert article.slug == "prices"
    assert SlugRedirect.objects.get().slug == "plans"


def test_a_taken_slug_is_refused_and_nothing_is_saved(admin: Client) -> None:
    make_article("Prices")
    article = make_article("Plans")
    response = admin.post(change_url(article), form_of(article, slug="prices", body="New."))

    assert "Another article has this address." in response.content.decode()
    article.refresh_from_db()
    assert (article.slug, article.body == "New.") == ("plans", False)


def test_a_text_with_a_nul_character_is_refused(admin: Client) -> None:
    article = make_article("Plans")
    response = admin.post(change_url(article), form_of(article, body="a\0b"))
    assert response.status_code == 200
    assert "Null characters are not allowed" in response.content.decode()


@pytest.mark.parametrize(
    ("action", "start", "end", "message"),
    [
        ("publish_selected", False, Status.PUBLISHED, "Published."),
        ("unpublish_selected", True, Status.DRAFT, "Unpublished."),
        ("archive_selected", True, Status.ARCHIVED, "Archived."),
    ],
)
def test_bulk_actions_change_and_log_each_article(
    action: str, start: bool, end: Status, message: str, admin: Client, staff: User
) -> None:
    articles = [make_article(f"Plan {number}", publish=start) for number in range(3)]
    response = admin.post(
        reverse("admin:articles_article_changelist"),
        {"action": action, "_selected_action": [article.pk for article in articles]},
        follow=True,
    )

    assert "3 articles" in response.content.decode()
    assert set(Article.objects.values_list("status", flat=True)) == {end}
    entries = LogEntry.objects.filter(user=staff, change_message=message)
    assert {entry.object_id for entry in entries} == {str(article.pk) for article in articles}


def test_the_list_says_what_is_live_and_what_waits(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    category = make_category("Billing")
    for number in range(12):
        make_article(f"Plan {number}", category=category)
    edited = make_article("Refunds")
    Article.objects.filter(pk=edited.pk).update(body="Changed.")

    article_list = reverse("admin:articles_article_changelist")
    with django_assert_max_num_queries(12):
        page = admin.get(article_list).content.decode()
    assert page.count("with unpublished changes") == 1
    assert page.count("now</time>") == 13

    pending = admin.get(reverse("admin:articles_article_changelist"), {"changes": "pending"})
    assert "Refunds" in pending.content.decode()
    assert "Plan 3" not in pending.content.decode()


def test_the_preview_shows_the_working_copy_rendered(admin: Client) -> None:
    article = make_article("Plans", body="Three plans.")
    Article.objects.filter(pk=article.pk).update(body="## Prices\n\n**Four** <script>x</script>")
    page = admin.get(reverse("admin:articles_article_preview", args=[article.pk])).content.decode()

    assert "<strong>Four</strong>" in page
    assert "<script>x" not in page
    assert "working copy" in page


def test_the_preview_of_an_empty_article_says_so(admin: Client) -> None:
    article = make_article("Plans", publish=False, body="")
    page = admin.get(reverse("admin:articles_article_preview", args=[article.pk]))
    assert "has no text yet" in page.content.decode()


def test_revisions_are_compared_line_by_line(admin: Client) -> None:
    article = make_article("Plans", body="One.\nTwo.\nThree.")
    article.body = "One.\nTwo and a half.\nThree."
    article.title = "Prices"
    publishing.publish(article)
    article.body = "One."
    publishing.publish(article)

    url = reverse("admin:articles_article_revisions", args=[article.pk])
    newest = admin.get(url).content.decode()
    assert "From revision 2 to revision 3" in newest
    chosen = admin.get(url, {"old": "1", "new": "2"}).content.decode()
    assert "Two and a half." in chosen
    assert "<del>Plans</del> <ins>Prices</ins>" in chosen
    first = admin.get(url, {"new": "1"}).content.decode()
    assert "Revision 1" in first


def test_an_unpublished_article_has_no_revisions_yet(admin: Client) -> None:
    article = make_article("Plans", publish=False)
    page = admin.get(reverse("admin:articles_article_revisions", args=[article.pk]))
    assert "Nothing has been published yet" in page.content.decode()


@pytest.mark.parametrize("view", ["preview", "revisions"])
def test_staff_without_the_permission_see_no_drafts(
    view: str, client: Client, stranger: User
) -> None:
    stranger.is_staff = True
    stranger.save()
    client.force_login(stranger)
    article = make_article("Secret prices", publish=False)
    response = client.get(reverse(f"admin:articles_article_{view}", args=[article.pk]))
    assert response.status_code == 403


def test_categories_count_what_is_published(admin: Client) -> None:
    category = make_category("Billing")
    make_article("Plans", category=category)
    make_article("Draft", category=category, publish=False)
    page = admin.get(reverse("admin:articles_category_changelist")).content.decode()
    assert '<td class="field-published_articles">1</td>' in page


def test_site_settings_are_one_page(admin: Client) -> None:
    page = admin.get(reverse("admin:helpcenter_sitesettings_changelist"), follow=True)
    assert page.redirect_chain[-1][0].endswith("/1/change/")
    assert "Suggested questions" in page.content.decode()
    response = admin.post(
        page.redirect_chain[-1][0],
        {
            "name": "Acme help",
            "accent": "blue",
            "suggested_questions": "How?\n" + "x" * 201,
            "assistant_enabled": "on",
        },
    )
    text = response.content.decode()
    assert "Use a colour such as #1f5fd0." in text
    assert "at most 200 characters" in text


def test_who_may_write_but_not_publish_saves_drafts_alone() -> None:
    article = make_article("Plans", body="Three plans.")
    writer = signed_in(colleague("writer", "change_article", "view_article"))
    page = writer.get(change_url(article)).content.decode()
    assert 'name="_publish"' not in page
    assert 'name="publish_at_0"' not in page

    refused = writer.post(change_url(article), form_of(article, body="Four.", _publish="1"))
    assert refused.status_code == 403
    article.refresh_from_db()
    assert article.body == "Three plans."
    late = form_of(article, body="Four.", publish_at_0="2999-01-01", publish_at_1="09:00")
    assert writer.post(change_url(article), late).status_code == 302
    article.refresh_from_db()
    assert (article.body, article.publish_at) == ("Four.", None)
    chosen = {"action": "archive_selected", "_selected_action": [article.pk]}
    writer.post(reverse("admin:articles_article_changelist"), chosen)
    article.refresh_from_db()
    assert article.status == Status.PUBLISHED
