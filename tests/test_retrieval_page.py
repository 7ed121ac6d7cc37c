"""The page on which staff look into a search: who may, what it shows, and what it never does."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from articles.models import SearchQuery, Visibility
from tests.factories import make_article, make_category
from tests.pages import parsed, texts, with_class
from tests.search_index import index, make_indexed
from tests.writing import article_url, change_url, colleague, signed_in

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from articles.models import Article

pytestmark = pytest.mark.django_db

QUESTION = "reset my password"
HOSTILE = '<img src=x onerror="alert(1)"></script><b>{{ 7|add:7 }}'


@pytest.fixture(autouse=True)
def words_alone(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"


@pytest.fixture
def viewer() -> Client:
    return signed_in(colleague("viewer", "view_article"))


def ask(client: Client, question: str = QUESTION, **fields: Any) -> Any:
    return client.post(
        article_url("retrieval"), {"question": question, "reader": "anyone", **fields}
    )


def shown_articles(response: Any) -> list[str]:
    return [hit.article.title for hit in response.context["explanation"].results.hits]


def test_it_is_for_staff_who_may_view_articles(client: Client, owner: User) -> None:
    address = article_url("retrieval")
    assert client.get(address).status_code == 302
    assert signed_in(owner).get(address).status_code == 302
    stranger = signed_in(colleague("stranger", "view_category"))
    assert stranger.get(address).status_code == 403
    assert ask(stranger).status_code == 403
    assert signed_in(colleague("viewer", "view_article")).get(address).status_code == 200


def test_a_question_without_its_token_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(colleague("viewer", "view_article"))
    assert ask(client).status_code == 403


def test_it_is_linked_from_the_first_page_the_list_and_an_article(viewer: Client) -> None:
    article = make_article("Plans")
    address = article_url("retrieval")
    for page, link in [
        ("/admin/", address),
        (article_url("changelist"), address),
        (change_url(article), f"{address}?article={article.pk}"),
    ]:
        links = [a.attributes.get("href") for a in parsed(viewer.get(page)).all("a")]
        assert link in links
    stranger = signed_in(colleague("stranger", "view_category"))
    assert address not in stranger.get("/admin/").content.decode()


@pytest.mark.parametrize("key", ["0", "999", "abc", "1" * 40, "²", "-1", ""])
def test_a_link_that_names_no_article_gives_the_empty_form(viewer: Client, key: str) -> None:
    response = viewer.get(article_url("retrieval"), {"article": key})
    assert response.status_code == 200
    assert response.context["form"].initial["article"] is None


def test_a_link_can_name_the_article(viewer: Client) -> None:
    article = make_article("Plans")
    page = parsed(viewer.get(article_url("retrieval"), {"article": article.pk}))
    assert [o.text for o in page.all("option") if "selected" in o.attributes][-1] == "Plans"


def test_it_shows_every_step_and_leads_to_each_article(viewer: Client) -> None:
    winner = make_article("Reset your password", body="## How\n\nOpen Settings: reset it.")
    loser = make_article("Password rules", body="A password has ten characters.")
    index()
    response = ask(viewer, article=loser.pk)
    page = parsed(response)

    headings = texts(page, "h2")
    assert headings[-3:] == ["Password rules", "Articles found", "How “en” was searched"]
    assert texts(page, "h3")[1:] == [
        "Words of the question",
        "By words",
        "By meaning",
        "Both together",
        "Weighed",
        "Left out",
    ]
    links = [a.attributes.get("href") for a in page.all("a")]
    assert links.count(change_url(winner)) >= 4
    assert "It was found, in place 2." in texts(page, "strong")
    assert "reset" in texts(page, "mark")
    marked = with_class(page, "expected-passage")
    assert marked
    assert all("Password rules" in row.text for row in marked)


def test_the_reader_decides_what_is_seen(viewer: Client) -> None:
    for visibility in Visibility:
        make_article(f"Password {visibility.value}", visibility=visibility)
    index()

    def seen(**fields: Any) -> set[str]:
        return {title.removeprefix("Password ") for title in shown_articles(ask(viewer, **fields))}

    assert seen() == {"public"}
    assert seen(reader="signed_in") == {"public", "signed_in"}
    assert seen(reader="staff") == {"public", "signed_in", "staff"}
    assert seen(for_answers="on") == {"public", "answers_only"}


def test_language_and_category_narrow_it(viewer: Client) -> None:
    category = make_category("Account")
    make_article("Password here", category=category)
    make_article("Password there")
    index()
    assert shown_articles(ask(viewer, category=category.pk)) == ["Password here"]
    assert len(shown_articles(ask(viewer, language="en"))) == 2
    assert ask(viewer, language="xx").context["form"].errors["language"]


def test_a_draft_is_told_about_and_its_text_is_not_shown(viewer: Client) -> None:
    draft = make_article("Embargo", publish=False, body="Not before Monday.")
    page = ask(viewer, article=draft.pk).content.decode()
    assert "It is a draft: nobody finds it until it is published." in page
    assert "Not before Monday" not in page
    assert change_url(draft) in page


def test_a_synonym_is_offered_to_those_who_may_add_one(viewer: Client, staff: User) -> None:
    article = make_indexed("Plans", "What it costs.")
    address = "/admin/articles/synonymgroup/add/"
    assert address not in ask(viewer, article=article.pk).content.decode()
    assert address in ask(signed_in(staff), article=article.pk).content.decode()


def test_nothing_is_recorded_and_nothing_is_logged(
    viewer: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    make_indexed("Plans", "What it costs.")
    before = SearchQuery.objects.count()
    ask(viewer, "a very secret question")
    assert SearchQuery.objects.count() == before
    own = [record for record in caplog.records if record.name != "django.db.backends"]
    assert "secret" not in "".join(record.getMessage() + str(record.__dict__) for record in own)


@pytest.mark.parametrize("question", ["", "   ", "a\0b", "x" * 2_001])
def test_what_cannot_be_asked_is_refused_with_a_reason(viewer: Client, question: str) -> None:
    response = ask(viewer, question)
    assert response.status_code == 200
    assert response.context["form"].errors["question"]
    assert "explanation" not in response.context


@pytest.mark.parametrize("question", ["?", "the who", "\u200b", HOSTILE, "' | & ! <-> :*", "日"])
def test_any_question_gives_a_page(viewer: Client, question: str) -> None:
    article = make_indexed("Plans", "What it costs.")
    assert ask(viewer, question, article=article.pk).status_code == 200


def test_hostile_questions_titles_and_texts_are_inert(viewer: Client) -> None:
    category = make_category(HOSTILE[:100])
    hostile: Article = make_article(
        HOSTILE, slug="hostile", category=category, body=f"## {HOSTILE}\n\npassword {HOSTILE}"
    )
    make_article("Reset your password", body="Reset it.")
    index()
    page = parsed(ask(viewer, f"password {HOSTILE}", article=hostile.pk))

    assert not [img for img in page.all("img") if img.attributes.get("src") == "x"]
    assert not [element for element in page.all() if "onerror" in element.attributes]
    assert HOSTILE in texts(page, "h2")
    assert all(script.attributes.get("src") for script in page.all("script"))


def test_what_is_missing_for_search_by_meaning_is_said(viewer: Client) -> None:
    make_indexed("Plans", "What it costs.")
    assert "Search by meaning is switched off" in ask(viewer, "plans").content.decode()
