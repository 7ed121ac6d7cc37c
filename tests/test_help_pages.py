"""The help pages: what a visitor sees, what they may not see, and what a page costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from articles.models import Status, Visibility
from assistant.models import Conversation
from assistant.pages import MODULES
from helpcenter import logs
from helpcenter.errors import server_error
from helpcenter.models import SiteSettings
from tests.factories import make_article, make_category
from tests.pages import JSON, page, parsed, texts, with_class
from tests.servers import PROJECT

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


# Home


def test_home_lists_articles_and_topics_with_their_counts(client: Client) -> None:
    billing = make_category("Billing", description="Plans and invoices.")
    make_article("Change your plan", category=billing)
    make_article("Download an invoice", category=make_category("Invoices", parent=billing))

    home = page(client, "/")

    assert "Change your plan" in home.text
    (card,) = with_class(home, "card")
    assert texts(card, "h3", "p") == ["Billing", "Plans and invoices.", "2 articles"]


def test_an_article_that_helped_readers_leads_the_popular_ones(client: Client) -> None:
    helpful = make_article("Older but helpful")
    make_article("Newer")
    assert "Recently updated" in page(client, "/").text

    client.post(f"/api/v1/articles/{helpful.slug}/feedback/", {"rating": "positive"}, JSON)
    home = page(client, "/")

    assert "Popular articles" in home.text
    assert texts(with_class(home, "rows")[0], "a") == ["Older but helpful", "Newer"]


def test_an_empty_help_center_says_so(client: Client) -> None:
    assert "Nothing is published yet" in page(client, "/").text


# Rights


@pytest.mark.parametrize("visibility", [Visibility.SIGNED_IN, Visibility.STAFF])
def test_a_visitor_sees_nothing_of_what_is_not_public(client: Client, visibility: str) -> None:
    category = make_category("Inside")
    secret = make_article("Secret pricing", category=category, visibility=visibility)

    for address in ("/", "/search/?q=secret+pricing", "/search/suggest/?q=secret+pricing"):
        body = client.get(address).content.decode()
        assert "Secret pricing" not in body
        assert "Inside" not in body
    assert client.get(secret.get_absolute_url()).status_code == 404
    assert client.get(category.get_absolute_url()).status_code == 404


def test_a_signed_in_reader_sees_what_is_for_signed_in_readers(client: Client, owner: User) -> None:
    article = make_article("For customers", visibility=Visibility.SIGNED_IN)
    client.force_login(owner)

    assert "For customers" in page(client, "/").text
    assert client.get(article.get_absolute_url()).status_code == 200


def test_nobody_opens_an_article_that_is_for_answers_only(client: Client, staff: User) -> None:
    article = make_article("Internal notes", visibility=Visibility.ANSWERS_ONLY)
    client.force_login(staff)

    assert client.get(article.get_absolute_url()).status_code == 404
    assert "Internal notes" not in page(client, "/").text


def test_a_draft_and_an_unpublished_article_do_not_exist(client: Client, staff: User) -> None:
    draft = make_article("Draft", publish=False)
    unpublished = make_article("Unpublished", status=Status.DRAFT)

    for reader in (client, signed_in(staff)):
        assert reader.get(draft.get_absolute_url()).status_code == 404
        assert reader.get(unpublished.get_absolute_url()).status_code == 404


def test_the_working_copy_is_not_shown(client: Client) -> None:
    article = make_article("Fees", body="Fee is 5 EUR.", category=make_category("Billing"))
    article.title, article.body = "Fees from 2027", "Fee is 7 EUR."
    article.save()

    for address in ("/", article.get_absolute_url(), "/categories/billing/"):
        body = client.get(address).content.decode()
        assert "2027" not in body
        assert "7 EUR" not in body


def test_staff_find_a_category_that_is_still_empty(client: Client, staff: User) -> None:
    category = make_category("New topic")
    assert client.get(category.get_absolute_url()).status_code == 404

    client.force_login(staff)
    assert "No article is published here yet." in page(client, category.get_absolute_url()).text


# Category


def test_a_category_shows_its_way_its_topics_and_its_articles(client: Client) -> None:
    billing = make_category("Billing")
    invoices = make_category("Invoices", parent=billing)
    make_article("Change your plan", category=billing, summary="Up or down.")
    make_article("Download an invoice", category=invoices)

    above = page(client, "/categories/billing/")
    assert texts(with_class(above, "card")[0], "h3") == ["Invoices"]
    assert texts(with_class(above, "rows")[0], "span") == ["Change your plan", "Up or down."]

    below = page(client, "/categories/invoices/")
    assert texts(with_class(below, "breadcrumb")[0], "a") == ["Home", "Billing"]
    assert "Download an invoice" in below.text


def test_every_article_can_be_found_by_browsing(client: Client) -> None:
    make_article("Filed", category=make_category("Billing"))
    make_article("Unfiled")
    make_article("Unfiled and secret", visibility=Visibility.STAFF)

    other = with_class(page(client, "/"), "card")[-1]
    assert texts(other, "h3", "p") == ["Other articles", "1 article"]
    topics = page(client, other.all("a")[0].attributes["href"].partition("#")[0])
    assert texts(with_class(topics, "card")[0], "h3") == ["Billing"]
    assert texts(with_class(topics, "rows")[0], "a") == ["Unfiled"]


def test_without_articles_there_are_no_topics(client: Client) -> None:
    make_category("Empty")
    assert "No article is published here yet." in page(client, "/categories/").text


# Article


def test_an_article_shows_its_text_its_contents_and_when_it_changed(client: Client) -> None:
    body = "Intro.\n\n## First step\n\nDo it.\n\n## Second step\n\nAnd this."
    article = make_article("Set up", body=body, summary="In two steps.", language="de")

    shown = page(client, article.get_absolute_url())

    (main,) = shown.all("article")
    assert main.attributes["lang"] == "de"
    assert texts(main, "h1") == ["Set up"]
    assert {heading.attributes["id"] for heading in main.all("h2")} == {
        "first-step",
        "second-step",
    }
    (contents,) = with_class(shown, "contents")
    assert [link.attributes["href"] for link in contents.all("a")] == [
        "#first-step",
        "#second-step",
    ]
    assert main.all("time")[0].attributes["datetime"]


def test_a_single_heading_makes_no_contents_list(client: Client) -> None:
    article = make_article("Short", body="## Only one\n\nText.")
    assert not with_class(page(client, article.get_absolute_url()), "contents")


def test_an_article_leads_to_its_neighbours_in_the_category(client: Client) -> None:
    category = make_category("Steps")
    first, second, third = (
        make_article(title, category=category, position=position)
        for position, title in enumerate(["One", "Two", "Three"])
    )

    def neighbours(address: str) -> list[tuple[str, str]]:
        links = page(client, address).all("a")
        return [(a.attributes["rel"], a.attributes["href"]) for a in links if "rel" in a.attributes]

    assert neighbours(first.get_absolute_url()) == [("next", "/articles/two/")]
    assert neighbours(second.get_absolute_url()) == [
        ("prev", "/articles/one/"),
        ("next", "/articles/three/"),
    ]
    assert neighbours(third.get_absolute_url()) == [("prev", "/articles/two/")]
    assert neighbours(make_article("Alone").get_absolute_url()) == []


def test_no_heading_can_take_the_name_of_something_on_the_page(client: Client) -> None:
    names = ["main", "helpful", "search-large", "contents-label", "comment", "related", "~main"]
    body = "\n\n".join(f"## {name}\n\nText.\n\n## Own {name} {{#{name}}}" for name in names)
    article = make_article("Named", body=body, category=make_category("Steps"))
    make_article("Next", category=article.category)

    shown = page(client, article.get_absolute_url())

    ids = [element.attributes["id"] for element in shown.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    (prose,) = with_class(shown, "prose")
    own = {element.attributes["id"] for element in prose.all() if "id" in element.attributes}
    assert {"main", "helpful", "comment"} <= own
    frame = set(ids) - own
    assert {"~main", "~helpful"} <= frame
    assert all(name.startswith("~") for name in frame)


def test_asking_about_an_article_is_a_link_that_sends_nothing(client: Client) -> None:
    article = make_article("Set up")
    links = page(client, article.get_absolute_url()).all("a")
    assert "/chat/?article=set-up" in [link.attributes["href"] for link in links]


@pytest.mark.parametrize("title", ["密码重置", "إعادة تعيين", "Réinitialiser", "😀", "??"])
def test_an_article_opens_whatever_script_its_title_is_in(client: Client, title: str) -> None:
    article = make_article(title)
    shown = page(client, article.get_absolute_url())
    assert texts(shown.all("article")[0], "h1") == [title]


@pytest.mark.parametrize("slug", ["%00", "no%00pe", "a%2Fb", "..%2F..", "%ED%A0%80", "x" * 500])
def test_an_address_that_nothing_can_have_does_not_exist(client: Client, slug: str) -> None:
    assert client.get(f"/articles/{slug}/").status_code == 404
    assert client.get(f"/categories/{slug}/").status_code == 404


def test_a_hostile_article_stays_text(client: Client) -> None:
    article = make_article(
        "<script>alert(1)</script>", body="<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))"
    )
    body = client.get(article.get_absolute_url()).content.decode()
    assert "<script>alert" not in body
    assert "<img src=x" not in body
    assert 'href="javascript' not in body


# The frame


def test_the_page_for_a_broken_site_needs_nothing_that_may_be_broken(
    django_assert_num_queries: Any,
) -> None:
    with django_assert_num_queries(0):
        body = render_to_string("500.html")
    assert "Something went wrong on our side" in body
    assert "name this number" not in body


def test_the_page_for_a_crash_names_the_request(rf: RequestFactory) -> None:
    with logs.bound(request_id="4f2a<b>"):
        response = server_error(rf.get("/"))
    assert response.status_code == 500
    assert "name this number: <code>4f2a&lt;b&gt;</code>" in response.content.decode()


def test_a_form_from_another_page_is_refused_in_plain_words(staff: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    response = browser.post("/admin/login/", {"username": "staff", "password": "x"})
    assert response.status_code == 403
    assert "That is not allowed" in response.content.decode()


def test_the_sites_name_contact_and_colours_are_on_every_page(client: Client) -> None:
    SiteSettings(name="Acme help", accent="#ffcc00", contact_email="help@example.com").save()

    response = client.get("/")
    body = response.content.decode()

    assert "Acme help" in body
    assert 'href="mailto:help@example.com"' in body
    # Yellow on white cannot be read: text gets a darker one, the button black letters.
    assert "--accent:light-dark(#" in body
    assert "--accent-fill:#ffcc00;--on-accent:#000000" in body


def test_pages_need_no_inline_script_or_style_but_their_own(client: Client) -> None:
    SiteSettings(accent="#ffcc00").save()
    article = make_article()
    for address in ("/", article.get_absolute_url(), "/search/?q=x", "/chat/", "/nothing/"):
        response = client.get(address)
        policy = response["Content-Security-Policy"]
        for element in parsed(response).all("script", "style"):
            if "src" not in element.attributes and element.attributes.get("type") is None:
                assert f"'nonce-{element.attributes['nonce']}'" in policy
        assert " style=" not in response.content.decode()
        assert " onclick=" not in response.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        *("/", "/categories/", "/categories/billing/", "/articles/plan/"),
        *("/search/", "/search/?q=plan", "/api/"),
    ],
)
def test_reading_sets_no_cookie_and_costs_at_most_five_queries(
    client: Client, owner: User, django_assert_max_num_queries: Any, address: str
) -> None:
    top = make_category("Billing")
    deep = make_category("Deeper", parent=make_category("Deep", parent=top))
    make_article("Plan", category=deep)
    for number in range(12):
        make_article(f"Plan number {number}", category=top if number % 2 else deep)

    with django_assert_max_num_queries(5):
        response = client.get(address)
    assert response.status_code == 200
    assert not response.cookies

    client.force_login(owner)
    with django_assert_max_num_queries(7):  # and the session and its user
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("address", ["/sign-in/", "/nothing/", "/articles/nothing/"])
def test_pages_beside_the_articles_cost_at_most_five_queries(
    client: Client, django_assert_max_num_queries: Any, address: str
) -> None:
    make_article("Plan", category=make_category("Billing"))
    with django_assert_max_num_queries(5):
        client.get(address)


def test_the_chat_page_costs_at_most_five_queries_besides_issuing_a_session(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    make_article("Plan", category=make_category("Billing"))
    client.get("/chat/")
    SiteSettings(accent="#ffcc00").save()
    with django_assert_max_num_queries(3):
        client.get("/chat/?article=plan")


def test_the_chat_page_sends_nothing_by_being_opened(client: Client) -> None:
    article = make_article("Set up")
    opened = page(client, f"/chat/?article={article.slug}&question=How%20long")

    assert "Set up" in opened.text
    assert not Conversation.objects.exists()


def test_the_chat_page_names_only_an_article_the_reader_may_open(client: Client) -> None:
    secret = make_article("Secret pricing", visibility=Visibility.STAFF)
    response = client.get(f"/chat/?article={secret.slug}")
    assert "Secret pricing" not in response.content.decode()


def test_the_chat_page_says_that_the_assistant_is_off(client: Client) -> None:
    SiteSettings(assistant_enabled=False, assistant_message="Back on Monday.").save()
    response = client.get("/chat/")
    assert "Back on Monday." in response.content.decode()
    assert 'id="chat-question"' not in response.content.decode()
    assert "sessionid" not in response.cookies


def test_an_answer_without_a_model_is_announced_as_quoted(client: Client, settings: Any) -> None:
    note = "Quoted from the articles; no AI model is connected"
    assert note in page(client, "/chat/").text
    settings.ASSISTANT_MODEL = "some-model"
    assert note not in page(client, "/chat/").text


def test_every_module_that_the_chat_imports_is_named_ahead() -> None:
    folder = PROJECT / "static" / "js"
    assert {path.stem for path in folder.glob("*.js")} == {*MODULES, "page", "chat", "article"}
