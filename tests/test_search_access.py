"""What a reader may not see has no part in a search, whatever the index holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from articles import publishing
from articles.access import ANONYMOUS, Reader
from articles.models import Article, Passage, Status, Visibility
from articles.ranking.candidates import Candidate, find
from articles.ranking.queries import Analysed
from articles.ranking.weighing import Weighed, weigh
from articles.search import search
from tests.factories import make_article
from tests.search_index import found, index, make_indexed, rows

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

SECRET = "Secret pricing 2027"


def sees(reader: Reader, *, for_answers: bool = False) -> set[str]:
    return set(found("pricing", reader=reader, for_answers=for_answers))


def test_each_reader_finds_what_they_may_open_and_answers_what_they_may_use(
    owner: User, staff: User
) -> None:
    for visibility in Visibility:
        make_indexed(f"Pricing {visibility.value}", "Pricing.", visibility=visibility)
    public, signed_in = "Pricing public", "Pricing signed_in"
    hidden, answers_only = "Pricing staff", "Pricing answers_only"

    assert sees(ANONYMOUS) == {public}
    assert sees(Reader.of(owner)) == {public, signed_in}
    assert sees(Reader.of(staff)) == {public, signed_in, hidden}
    assert sees(ANONYMOUS, for_answers=True) == {public, answers_only}
    assert sees(Reader.of(staff), for_answers=True) == {public, signed_in, hidden, answers_only}


def test_a_draft_is_in_no_hit_no_count_and_no_suggestion(client: Client) -> None:
    make_indexed("Public pricing", "What it costs.")
    draft = make_article(SECRET, publish=False, body="The secret is 42 EUR.")
    index(draft)

    for query in (SECRET, "secret", "pric", "42 EUR"):
        for address in ("/search/", "/search/suggest/"):
            page = client.get(address, {"q": query}).content.decode()
            assert draft.slug not in page
            assert "The secret is" not in page
        assert all(hit.article != draft for hit in search(query, reader=ANONYMOUS).hits)


@pytest.mark.parametrize(
    "change",
    [
        {"status": Status.DRAFT},
        {"status": Status.ARCHIVED},
        {"visibility": Visibility.STAFF},
        {"visibility": Visibility.SIGNED_IN},
    ],
)
def test_an_index_that_lags_behind_leaks_nothing(change: dict[str, str]) -> None:
    article = make_indexed("Old plan", "Its price is 5 EUR.")
    Article.objects.filter(pk=article.pk).update(**change)

    assert rows(article)
    assert found("old plan price") == []
    assert found("old plan price", for_answers=True) == []


def test_unpublishing_takes_the_passages_with_it_at_once() -> None:
    article = make_indexed("Old plan", "Its price is 5 EUR.")
    publishing.withdraw(article)
    assert rows(article) == []
    assert found("old plan price") == []


def test_an_edited_working_copy_is_not_searched() -> None:
    article = make_indexed("Plans", "What the public reads.")
    article.title, article.body = "Embargo", "Not before Monday."
    article.save()
    index(article)

    assert found("embargo monday") == []
    assert found("plans public") == ["Embargo"]  # the working title; pages show the live one
    (hit,) = search("plans public", reader=ANONYMOUS).hits
    assert hit.article.live_revision is not None
    assert hit.article.live_revision.title == "Plans"
    assert "Monday" not in hit.passages[0].text


def test_passages_of_a_revision_that_is_not_live_any_more_are_not_shown() -> None:
    article = make_indexed("Fees", "Call this number: 555.")
    article.body = "There is no number."
    publishing.publish(article)

    assert rows(article) == ["Call this number: 555."]
    assert found("number 555") == []


def test_rights_that_change_during_a_search_count(monkeypatch: pytest.MonkeyPatch) -> None:
    article = make_indexed("Old plan", "Its price is 5 EUR.")

    def hide_meanwhile(query: Analysed, found: list[Candidate]) -> list[Weighed]:
        weighed = weigh(query, found)
        Article.objects.filter(pk=article.pk).update(visibility=Visibility.STAFF)
        return weighed

    monkeypatch.setattr("articles.search.weigh", hide_meanwhile)
    assert found("old plan price") == []


@pytest.mark.parametrize(("name", "step"), [("find", find), ("weigh", weigh)])
def test_a_passage_that_is_deleted_during_a_search_is_no_error(
    monkeypatch: pytest.MonkeyPatch, name: str, step: Callable[..., object]
) -> None:
    make_indexed("Old plan", "Its price is 5 EUR.")

    def delete_afterwards(*arguments: object) -> object:
        result = step(*arguments)
        Passage.objects.all().delete()
        return result

    monkeypatch.setattr(f"articles.search.{name}", delete_afterwards)
    assert found("old plan price") == []


def test_a_text_that_is_replaced_during_a_search_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    article = make_indexed("Fees", "Call this number: 555.")

    def replace_meanwhile(query: Analysed, found: list[Candidate]) -> list[Weighed]:
        weighed = weigh(query, found)
        article.body = "There is no number."
        publishing.publish(article)
        return weighed

    monkeypatch.setattr("articles.search.weigh", replace_meanwhile)
    assert found("number 555") == []


def test_what_a_reader_may_not_see_takes_no_place_of_what_they_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("articles.ranking.candidates.PER_LIST", 2)
    for number in range(4):
        make_indexed(f"Pricing {number}", "Pricing.", visibility=Visibility.STAFF)
    make_indexed("Plans", "A long text, with a word about pricing in it, and much else.")
    assert found("pricing") == ["Plans"]
