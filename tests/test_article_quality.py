"""Near duplicates, and which questions find an article."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from articles.indexing import index_article
from articles.models import Article, SearchClick, SearchQuery, Status
from articles.writing import findability
from articles.writing.duplicates import near_duplicates
from tests.factories import make_article
from tests.writing import article_url, change_url, colleague, signed_in

pytestmark = pytest.mark.django_db

RESET = "Open Settings, choose Security, press Reset password and follow the e-mail."
INVOICES = "Invoices are sent on the first day of each month to the billing address."


def indexed(title: str, body: str, **fields: Any) -> Article:
    article = make_article(title, body=body, **fields)
    index_article(article.pk)
    return article


@pytest.fixture
def reset() -> Article:
    return indexed("Reset your password", f"## By e-mail\n\n{RESET}")


def test_two_articles_about_one_thing_are_a_pair(reset: Article, staff_client: Client) -> None:
    again = indexed("Resetting your password", f"## E-mail\n\n{RESET}")
    indexed("Invoices", INVOICES)
    pairs = near_duplicates()

    assert [(pair.first, pair.second) for pair in pairs] == [(reset, again)]
    assert 0.85 <= pairs[0].nearness <= 1.0001
    page = staff_client.get(article_url("duplicates")).content.decode()
    assert change_url(reset) in page
    assert change_url(again) in page


def test_only_live_articles_of_one_language_are_compared(reset: Article) -> None:
    indexed("Resetting your password", RESET, status=Status.ARCHIVED)
    indexed("Reset your password", RESET, language="de")
    assert near_duplicates() == []


def test_without_duplicates_or_a_model_the_page_says_so(
    staff_client: Client, reset: Article, settings: Any
) -> None:
    page = staff_client.get(article_url("duplicates")).content.decode()
    assert "No two published articles say nearly the same" in page
    settings.EMBEDDING_BACKEND = "off"
    assert near_duplicates() == []


def test_questions_say_at_which_place_they_find_the_article(
    reset: Article, staff_client: Client
) -> None:
    invoices = indexed("Invoices", INVOICES)
    found = findability.try_questions(reset, ["reset password", "when are invoices sent"])

    assert (found[0].rank, found[0].heading, found[0].best) == (1, "By e-mail", None)
    assert found[1].rank != 1
    assert found[1].best == invoices
    page = staff_client.post(
        article_url("questions", reset.pk), {"questions": "when are invoices sent\n\n"}
    ).content.decode()
    assert change_url(invoices) in page


def test_the_page_begins_with_title_and_headings(reset: Article, staff_client: Client) -> None:
    page = staff_client.get(article_url("questions", reset.pk)).content.decode()
    assert "Reset your password\nBy e-mail</textarea>" in page


def test_what_visitors_searched_for_comes_first(reset: Article) -> None:
    for text, by_staff in (("rare", False), ("often", False), ("often", False), ("own", True)):
        search = SearchQuery.objects.create(
            searched_at=timezone.now(), text=text, results=1, strong=1, by_staff=by_staff
        )
        SearchClick.objects.create(search=search, article=reset, title="x", position=1)
    assert findability.suggestions(reset)[:3] == ["often", "rare", "Reset your password"]


@pytest.mark.parametrize("visibility", ["signed_in", "staff", "answers_only"])
def test_the_search_is_that_of_the_articles_readers(visibility: str) -> None:
    article = indexed("Reset your password", RESET, visibility=visibility)
    assert findability.try_questions(article, ["reset password"])[0].rank == 1


def test_a_draft_is_found_by_nothing(staff_client: Client) -> None:
    draft = make_article("Draft", publish=False)
    page = staff_client.get(article_url("questions", draft.pk)).content.decode()
    assert "The article is not published" in page


def test_questions_are_cleaned() -> None:
    assert findability.cleaned([" a  b ", "", "a b", "x\0y"]) == ["a b", "xy"]
    assert len(findability.cleaned(str(number) for number in range(50))) == 20


def test_staff_without_the_permission_see_neither(reset: Article) -> None:
    client = signed_in(colleague("someone"))
    assert client.get(article_url("duplicates")).status_code == 403
    assert client.get(article_url("questions", reset.pk)).status_code == 403
