"""Related articles: about the same things, and only what the reader may open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from articles import embeddings, publishing
from articles.access import ANONYMOUS, Reader
from articles.models import Article, Visibility
from articles.pages.related import MOST, related
from tests.factories import make_article, make_category
from tests.pages import page, texts, with_class
from tests.search_index import index, make_indexed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

PASSWORD = "To choose a new password, open the link in the e-mail. Passwords have ten characters."
INVOICE = "Your invoices are in the billing section. Download a bill as a PDF file."


@pytest.fixture
def article() -> Article:
    return make_indexed("Reset your password", PASSWORD)


def titles(article: Article, reader: Reader = ANONYMOUS, **options: Any) -> list[str]:
    return [other.title for other in related(article, reader, **options)]


def test_what_is_about_the_same_is_related_and_what_is_not_is_not(article: Article) -> None:
    make_indexed("Choose a strong password", PASSWORD)
    make_indexed("Download an invoice", INVOICE)
    assert titles(article) == ["Choose a strong password"]


def test_nearest_come_first_and_few(article: Article) -> None:
    make_indexed("Passwords of a team", f"{PASSWORD} Administrators may require longer ones.")
    for number in range(MOST):
        make_indexed(f"Reset your password {number}", PASSWORD)
    found = titles(article)
    assert len(found) == MOST
    assert "Passwords of a team" not in found


def test_only_what_the_reader_may_open(article: Article, owner: User, staff: User) -> None:
    for visibility in Visibility:
        make_indexed(f"For {visibility}", PASSWORD, visibility=visibility)
    draft = make_indexed("Withdrawn", PASSWORD)
    publishing.withdraw(draft)

    assert titles(article) == ["For public"]
    assert set(titles(article, Reader.of(owner))) == {"For public", "For signed_in"}
    assert set(titles(article, Reader.of(staff))) == {"For public", "For signed_in", "For staff"}


def test_what_became_private_is_left_out_while_the_index_is_behind(article: Article) -> None:
    other = make_indexed("Choose a strong password", PASSWORD)
    Article.objects.filter(pk=other.pk).update(visibility=Visibility.STAFF)
    assert titles(article) == []


def test_another_language_is_not_related(article: Article) -> None:
    make_indexed("Choose a strong password", PASSWORD, language="de")
    assert titles(article) == []


def test_without_vectors_nothing_is_related(article: Article, settings: Any) -> None:
    make_indexed("Choose a strong password", PASSWORD)
    assert titles(make_article("Not indexed yet", body=PASSWORD)) == []
    settings.EMBEDDING_BACKEND = "off"
    assert titles(article) == []
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 3
    assert titles(article) == []


def test_an_endpoint_that_fails_costs_the_list_and_not_the_page(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDING_BACKEND = "hashed"
    settings.EMBEDDING_DIMENSIONS = 37
    first, second = make_article("One", body=PASSWORD), make_article("Two", body=PASSWORD)
    index(first, second)

    def fail(*arguments: Any, **options: Any) -> Any:
        raise embeddings.EmbeddingError("down")

    monkeypatch.setattr(embeddings.HashedEmbedder, "embed", fail)
    assert not with_class(page(client, first.get_absolute_url()), "related")


def test_the_page_lists_them_but_not_its_neighbours(
    client: Client, article: Article, django_assert_max_num_queries: Any
) -> None:
    category = make_category("Account")
    Article.objects.filter(pk=article.pk).update(category=category)
    make_indexed("Reset your password again", PASSWORD, category=category)
    make_indexed("Choose a strong password", PASSWORD)

    with django_assert_max_num_queries(5):
        shown = page(client, article.get_absolute_url())

    (section,) = with_class(shown, "related")
    assert texts(section, "h2", "a") == ["Related articles", "Choose a strong password"]
    (link,) = section.all("a")
    assert link.attributes["href"] == "/articles/choose-a-strong-password/"
