"""Did you mean: what is suggested for a misspelt word, and what never is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from articles import indexing, publishing
from articles.access import ANONYMOUS, Reader
from articles.models import Article, KnownWord, Visibility
from articles.ranking import spelling
from articles.ranking.spelling import correct
from articles.search import search
from tests.factories import make_article
from tests.pages import page, with_class
from tests.search_index import index

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def help_center(settings: Any) -> None:
    """By words alone: by meaning, a weak hit is nearly always found."""
    settings.EMBEDDING_BACKEND = "off"
    make_article("Reset your password", body="A new password for Okta, error E-1042.")
    make_article("Billing and invoices", body="Über den Rechnungen. Naïve invoices.")
    index()


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("pasword", "password"),
        ("PASWORD", "password"),
        ("reset my psasword", "reset my password"),
        ("invocies", "invoices"),
        ("okat", "Okta"),
        ("biling  invoces", "Billing invoices"),
        ("kontakt passwort", "kontakt password"),
    ],
)
def test_the_nearest_known_words_are_suggested(query: str, meant: str) -> None:
    assert correct(query, "en") == meant


@pytest.mark.parametrize(
    "query",
    [
        "password",  # known as it is
        "passwords resetting",  # in another form
        "zzqqyxxwwv",  # near to nothing
        "E-1043",  # another code is another error
        "rst",  # too short
        "how do I",  # nothing to correct
        "账单页面",
        "",
    ],
)
def test_what_is_known_or_near_to_nothing_stays(query: str) -> None:
    assert correct(query, "en") is None


def test_only_a_search_that_found_nothing_good_has_a_suggestion() -> None:
    assert spelling.suggestion(search("pasword", reader=ANONYMOUS)) == "password"
    with CaptureQueriesContext(connection) as queries:
        good = search("reset password", reader=ANONYMOUS)
    with CaptureQueriesContext(connection) as more:
        assert spelling.suggestion(good) is None
    assert good.strong
    assert queries
    assert not more


def test_every_language_that_was_searched_is_tried() -> None:
    make_article("Kennwort ändern", body="Text.", language="de")
    index()
    assert spelling.suggestion(search("pasword", reader=ANONYMOUS, language="de")) == "password"
    assert spelling.suggestion(search("kenwort", reader=ANONYMOUS, language="de")) == "Kennwort"


@pytest.mark.parametrize(
    "visibility", [Visibility.SIGNED_IN, Visibility.STAFF, Visibility.ANSWERS_ONLY]
)
def test_a_word_of_what_not_everyone_may_read_is_suggested_to_nobody(
    visibility: Visibility, staff: User
) -> None:
    make_article("Layoffs", body="Secret reorganisation.", visibility=visibility)
    index()
    for reader in (ANONYMOUS, Reader.of(staff)):
        for query in ("layofs", "reorganisatoin"):
            found = search(query, reader=reader)
            assert spelling.suggestion(found) is None
    assert not KnownWord.objects.filter(bare__in=["layoffs", "reorganisation"]).exists()


def test_a_draft_and_an_edited_copy_lend_no_word() -> None:
    make_article("Embargo", body="Reorganisation.", publish=False)
    article = Article.objects.get(title="Reset your password")
    article.body = "Reorganisation."
    article.save()
    index()
    assert correct("reorganisatoin", "en") is None


def test_a_word_is_gone_with_its_article_before_words_are_gathered_again() -> None:
    article = make_article("Reorganisation", body="Text.")
    index()
    assert correct("reorganisatoin", "en") == "Reorganisation"
    Article.objects.filter(pk=article.pk).update(visibility=Visibility.STAFF)
    assert KnownWord.objects.filter(bare="reorganisation").exists()
    assert correct("reorganisatoin", "en") is None
    publishing.withdraw(article)
    assert correct("reorganisatoin", "en") is None


def test_another_form_of_a_hidden_word_is_not_shown_as_it_is_hidden() -> None:
    """The stem is public, the form is not."""
    make_article("Reorganising", body="Text.")
    hidden = make_article("Reorganisers", body="Text.")
    index()
    Article.objects.filter(pk=hidden.pk).update(visibility=Visibility.STAFF)
    assert correct("reorganiserz", "en") != "Reorganisers"


def test_that_a_word_exists_where_one_may_not_read_cannot_be_told() -> None:
    """A hidden word gets the suggestion that an unknown word gets."""
    make_article("Layouts", body="Text.")
    index()
    assert correct("layoffs", "en") == "Layouts"
    make_article("Layoffs", body="Text.", visibility=Visibility.STAFF)
    index()
    assert correct("layoffs", "en") == "Layouts"


def test_words_are_counted_by_article_and_kept_as_they_are_mostly_written() -> None:
    make_article("Okta and okta", body="OKTA, Okta, [x](https://elsewhere.example/hidden)")
    index()
    word = KnownWord.objects.get(language="en", bare="okta")
    assert (word.text, word.articles) == ("Okta", 2)
    assert not KnownWord.objects.filter(bare="elsewhere").exists()
    assert KnownWord.objects.get(bare="uber").text == "Über"


def test_a_word_that_was_gathered_meanwhile_is_known_at_once() -> None:
    assert correct("provisoning", "en") is None
    article = make_article("Provisioning", body="Text.")
    indexing.index_article(article.pk)
    spelling.collect()
    assert correct("provisoning", "en") == "Provisioning"


# On the pages


def test_the_results_page_and_the_suggestions_ask(client: Client) -> None:
    shown = page(client, "/search/?q=pasword+zzqqy")
    (asked,) = with_class(shown, "did-you-mean")
    (link,) = asked.all("a")
    assert asked.text == "Did you mean password zzqqy?"
    assert link.attributes["href"] == "/search/?q=password%20zzqqy"

    options = page(client, "/search/suggest/?q=pasword").all("a")
    assert [option.text for option in options] == ["Did you mean “password”?"]


def test_where_something_good_was_found_nothing_is_asked(client: Client) -> None:
    assert not with_class(page(client, "/search/?q=reset+password"), "did-you-mean")
