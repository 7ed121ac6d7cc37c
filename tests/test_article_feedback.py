""" "Was this helpful?": one vote per reader and revision, by the page's form and by the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from articles import publishing
from articles.models import Article, ArticleFeedback, Rating, Visibility
from tests.factories import make_article
from tests.pages import JSON, page, with_class

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def article() -> Article:
    return make_article("Set up")


def api(article: Article) -> str:
    return f"/api/v1/articles/{article.slug}/feedback/"


def form(article: Article) -> str:
    return f"{article.get_absolute_url()}feedback/"


def test_a_vote_is_stored_for_the_revision_that_readers_see(
    client: Client, article: Article
) -> None:
    vote = {"rating": "negative", "reason": "outdated", "comment": "The menu moved."}
    response = client.post(api(article), vote, JSON)

    assert (response.status_code, response.json()) == (200, vote)
    stored = ArticleFeedback.objects.get()
    assert (stored.article, stored.revision) == (article, article.live_revision)
    assert (stored.rating, stored.reason) == (Rating.NEGATIVE, "outdated")
    assert stored.comment == "The menu moved."
    assert stored.voter.startswith("visitor:")


def test_the_last_vote_counts(client: Client, article: Article) -> None:
    client.post(api(article), {"rating": "negative", "reason": "unclear"}, JSON)
    client.post(api(article), {"rating": "positive"}, JSON)

    stored = ArticleFeedback.objects.get()
    assert (stored.rating, stored.reason) == (Rating.POSITIVE, "")


def test_each_reader_has_a_vote_and_a_new_revision_another(
    client: Client, article: Article, owner: User
) -> None:
    signed_in = Client()
    signed_in.force_login(owner)
    for reader in (client, Client(), signed_in):
        reader.post(api(article), {"rating": "positive"}, JSON)
    article.body = "## Other text"
    publishing.publish(article)
    client.post(api(article), {"rating": "negative"}, JSON)

    assert ArticleFeedback.objects.count() == 4
    assert ArticleFeedback.objects.filter(voter=f"user:{owner.pk}").count() == 1


def test_a_positive_vote_has_no_reason_and_no_comment(client: Client, article: Article) -> None:
    vote = {"rating": "positive", "reason": "unclear", "comment": "x"}
    assert client.post(api(article), vote, JSON).json() == {
        "rating": "positive",
        "reason": "",
        "comment": "",
    }


@pytest.mark.parametrize(
    "vote",
    [
        {},
        {"rating": "great"},
        {"rating": "negative", "reason": "because"},
        {"rating": "negative", "comment": "x" * 2001},
        {"rating": "negative", "comment": "a\0b"},
        {"rating": "negative", "comment": "\ud800"},
    ],
)
def test_a_vote_that_cannot_be_is_refused_field_by_field(
    client: Client, article: Article, vote: dict[str, str]
) -> None:
    response = client.post(api(article), vote, JSON)

    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_feedback"
    assert list(error["fields"]) == [list(vote)[-1] if vote else "rating"]
    assert not ArticleFeedback.objects.exists()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"rating": 1}', b"[" * 5000, b" " * 20_000, b"\xff"]
)
def test_what_is_no_json_object_of_texts_is_malformed(
    client: Client, article: Article, body: bytes
) -> None:
    response = client.generic("POST", api(article), body, JSON)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")


def test_a_mistyped_field_is_named(client: Client, article: Article) -> None:
    response = client.post(api(article), {"rating": "negative", "coment": "x"}, JSON)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "invalid")
    assert list(error["fields"]) == ["coment"]
    assert not ArticleFeedback.objects.exists()


def test_a_vote_on_what_the_reader_may_not_open_is_not_found(client: Client) -> None:
    hidden = make_article("Hidden", visibility=Visibility.STAFF)
    unknown = client.post("/api/v1/articles/nothing/feedback/", {"rating": "positive"}, JSON)
    response = client.post(api(hidden), {"rating": "positive"}, JSON)

    assert (response.status_code, unknown.status_code) == (404, 404)
    assert response.content == unknown.content
    assert client.post(form(hidden), {"rating": "positive"}).status_code == 404


def test_only_posts_are_taken(client: Client, article: Article) -> None:
    assert client.get(api(article)).status_code == 405
    assert client.get(form(article)).status_code == 405


# What the reader said before


def pressed(client: Client, article: Article) -> list[str]:
    (choices,) = with_class(page(client, article.get_absolute_url()), "choices")
    buttons = choices.all("button")
    return [b.attributes["value"] for b in buttons if b.attributes["aria-pressed"] == "true"]


def test_a_reader_sees_what_they_said_and_can_change_it(
    client: Client, article: Article, owner: User
) -> None:
    assert pressed(client, article) == []
    vote = {"rating": "negative", "reason": "unclear", "comment": "Which <menu>?"}
    client.post(api(article), vote, JSON)

    assert pressed(client, article) == ["negative"]
    shown = page(client, article.get_absolute_url())
    assert "You can change your answer." in shown.text
    checked = [e.attributes["value"] for e in shown.all("input") if "checked" in e.attributes]
    assert checked == ["unclear"]
    assert [area.text for area in shown.all("textarea")] == ["Which <menu>?"]

    client.post(api(article), {"rating": "positive"}, JSON)
    assert pressed(client, article) == ["positive"]
    assert pressed(Client(), article) == []
    other = Client()
    other.force_login(owner)
    assert pressed(other, article) == []
    other.post(api(article), {"rating": "negative"}, JSON)
    assert pressed(other, article) == ["negative"]


def test_a_new_revision_is_a_new_question(client: Client, article: Article) -> None:
    client.post(api(article), {"rating": "negative"}, JSON)
    article.body = "## Other text"
    publishing.publish(article)
    assert pressed(client, article) == []


def test_saying_no_again_erases_nothing(client: Client, article: Article) -> None:
    vote = {"rating": "negative", "reason": "unclear", "comment": "Which menu?"}
    client.post(api(article), vote, JSON)

    assert client.post(api(article), {"rating": "negative"}, JSON).json() == vote
    client.post(form(article), {"rating": "negative"})
    assert ArticleFeedback.objects.get().comment == "Which menu?"

    client.post(form(article), {"rating": "negative", "comment": ""})
    stored = ArticleFeedback.objects.get()
    assert (stored.reason, stored.comment) == ("unclear", "")


def test_a_session_of_somebody_who_never_voted_asks_for_no_vote(
    client: Client, article: Article
) -> None:
    client.session.save()
    client.cookies["sessionid"] = "nothing"
    assert pressed(client, article) == []


# Cross-site protection


def test_a_session_needs_its_token(article: Article) -> None:
    browser = Client(enforce_csrf_checks=True)
    first = browser.post(api(article), {"rating": "positive"}, JSON)
    assert first.status_code == 200

    refused = browser.post(api(article), {"rating": "negative"}, JSON)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")

    token = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    accepted = browser.post(api(article), {"rating": "negative"}, JSON, headers=token)
    assert accepted.status_code == 200
    assert ArticleFeedback.objects.get().rating == Rating.NEGATIVE


def test_another_sites_page_cannot_vote(client: Client, article: Article) -> None:
    foreign = {"Origin": "https://evil.example"}
    refused = client.post(api(article), {"rating": "positive"}, JSON, headers=foreign)
    assert refused.status_code == 403
    assert not refused.cookies
    assert client.post(form(article), {"rating": "positive"}, headers=foreign).status_code == 403
    assert not ArticleFeedback.objects.exists()

    own = {"Origin": "http://testserver"}
    response = client.post(api(article), {"rating": "positive"}, JSON, headers=own)
    assert response.status_code == 200


# Without scripts


def test_the_form_votes_and_comes_back_with_the_reasons(article: Article) -> None:
    browser = Client(enforce_csrf_checks=True)
    response = browser.post(form(article), {"rating": "negative"})
    assert response.status_code == 302
    assert response["Location"] == "/articles/set-up/?voted=negative#~helpful"

    shown = page(browser, response["Location"])
    (why,) = with_class(shown, "why")
    assert "hidden" not in why.attributes
    fields = {e.attributes["name"]: e.attributes.get("value", "") for e in why.all("input")}
    sent: dict[str, Any] = {**fields, "reason": "unclear", "comment": "Which menu?"}
    assert browser.post(form(article), sent).status_code == 302
    stored = ArticleFeedback.objects.get()
    assert (stored.reason, stored.comment) == ("unclear", "Which menu?")


def test_a_form_that_says_nothing_stores_nothing(client: Client, article: Article) -> None:
    response = client.post(form(article), {"rating": ""})
    assert response["Location"] == "/articles/set-up/"
    assert not ArticleFeedback.objects.exists()


def test_nobody_who_only_reads_gets_a_token(client: Client, article: Article) -> None:
    response = client.get(article.get_absolute_url())
    assert "csrfmiddlewaretoken" not in response.content.decode()
    assert not response.cookies
