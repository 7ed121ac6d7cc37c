"""The working copy beside the live version: what readers see, what writers are told."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from articles import publishing
from articles.access import ANONYMOUS
from articles.indexing import index_article
from articles.models import Article, ArticleRevision
from articles.search import search
from tests.factories import make_article
from tests.writing import article_url, change_url, colleague, form_of, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def edited() -> Article:
    """A published article whose working copy says more."""
    article = make_article("Plans", body="Three plans.", summary="What it costs.")
    article.title, article.body = "Prices", "Three plans.\n\nThe zebra tariff is new."
    article.save()
    return article


def revision_of(article: Article, number: int) -> ArticleRevision:
    return article.revisions.get(number=number)


def test_readers_and_search_know_nothing_of_the_working_copy(
    client: Client, edited: Article
) -> None:
    index_article(edited.pk)
    page = client.get(edited.get_absolute_url()).content.decode()

    assert "Three plans." in page
    assert "zebra" not in page
    assert "Prices" not in client.get("/").content.decode()
    found = search("zebra tariff", reader=ANONYMOUS).hits
    assert all("zebra" not in passage.text for hit in found for passage in hit.passages)


def test_the_form_says_that_changes_are_not_published(
    staff_client: Client, edited: Article
) -> None:
    page = staff_client.get(change_url(edited)).content.decode()
    assert "unpublished changes" in page
    assert "Visitors read revision 1" in page

    publishing.publish(edited)
    assert "unpublished changes" not in staff_client.get(change_url(edited)).content.decode()


def test_a_withdrawn_article_has_no_live_version_to_differ_from(
    staff_client: Client, edited: Article
) -> None:
    publishing.withdraw(edited)
    page = staff_client.get(change_url(edited)).content.decode()
    assert "Visitors read" not in page
    assert "(live)" not in staff_client.get(article_url("revisions", edited.pk)).content.decode()


def test_the_working_copy_is_compared_with_what_is_live(
    staff_client: Client, edited: Article
) -> None:
    page = staff_client.get(article_url("revisions", edited.pk)).content.decode()
    assert "From revision 1 to working copy" in page
    assert "The zebra tariff is new." in page
    assert "<del>Plans</del> <ins>Prices</ins>" in page


def test_discarding_asks_and_then_takes_back_the_published_text(
    staff_client: Client, staff: User, edited: Article
) -> None:
    url = article_url("discard", edited.pk)
    asked = staff_client.get(url).content.decode()
    assert "zebra" in asked
    edited.refresh_from_db()
    assert edited.title == "Prices"

    response = staff_client.post(url, follow=True)
    assert "are discarded" in response.content.decode()
    edited.refresh_from_db()
    assert (edited.title, edited.body) == ("Plans", "Three plans.")
    assert not edited.has_unpublished_changes
    assert LogEntry.objects.get(user=staff).change_message == "Discarded unpublished changes."


def test_an_old_revision_is_restored_to_the_working_copy_alone(
    staff_client: Client, staff: User, edited: Article
) -> None:
    publishing.publish(edited)
    url = article_url("restore", edited.pk, 1)
    assert "takes the text of revision 1" in staff_client.get(url).content.decode()

    staff_client.post(url)
    edited.refresh_from_db()
    assert (edited.title, edited.body, edited.summary) == (
        "Plans",
        "Three plans.",
        "What it costs.",
    )
    assert edited.live_revision == revision_of(edited, 2)
    entry = LogEntry.objects.get(user=staff)
    assert entry.change_message == "Restored revision 1 to the working copy."
    assert publishing.publish(edited).number == 3


def test_restoring_says_when_it_would_lose_unpublished_changes(
    staff_client: Client, edited: Article
) -> None:
    page = staff_client.get(article_url("restore", edited.pk, 1)).content.decode()
    assert "changes that were never published" in page


def test_only_revisions_of_the_article_are_restored(staff_client: Client) -> None:
    article, other = make_article("Plans"), make_article("Refunds")
    assert staff_client.get(article_url("restore", article.pk, 7)).status_code == 404
    draft = make_article("Draft", publish=False)
    assert staff_client.post(article_url("discard", draft.pk)).status_code == 404
    with pytest.raises(ValueError, match="another article's"):
        publishing.restore(article, revision_of(other, 1))


@pytest.mark.parametrize(("page", "args"), [("discard", []), ("restore", [1])])
def test_who_may_only_look_changes_nothing(edited: Article, page: str, args: list[int]) -> None:
    client = signed_in(colleague("reader", "view_article"))
    for response in (
        client.get(article_url(page, edited.pk, *args)),
        client.post(article_url(page, edited.pk, *args)),
    ):
        assert response.status_code == 403
    edited.refresh_from_db()
    assert edited.title == "Prices"

    revisions = client.get(article_url("revisions", edited.pk)).content.decode()
    assert "Restore" not in revisions
    assert "Discard" not in client.get(change_url(edited)).content.decode()


def test_publishing_from_the_form_ends_the_difference(
    staff_client: Client, edited: Article
) -> None:
    response = staff_client.post(
        change_url(edited), form_of(edited, body="Four plans.", _publish="1"), follow=True
    )
    assert "unpublished changes" not in response.content.decode()
    edited.refresh_from_db()
    assert not edited.has_unpublished_changes
