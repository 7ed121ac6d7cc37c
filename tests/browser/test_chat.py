"""A visitor asks, watches the answer come, opens its sources, stops it, loses the connection.

The site is a real web process; the model is a script behind real HTTP.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from playwright.sync_api import Locator, Page, Route, expect
from redis import Redis

from articles import indexing
from articles.models import Article
from assistant import gaps, tasks
from assistant.models import Answer, AnswerFeedback, Conversation, Escalation, GapTopic
from assistant.reference_numbers import reference_number
from helpcenter.models import SiteSettings
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_article, make_category
from tests.processes import wait_until, web_process
from tests.scripted_provider import DONE, Drop, ScriptedProvider, Wait, finish, say, usage

SSO = (
    """Read this first.

## Before you begin

You need the Enterprise plan. """
    + "More about plans. " * 80
    + """

## Connect your identity provider

Copy the ACS URL from **Settings** into your identity provider.
"""
)
QUESTION = "How do I set up SSO?"


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def chat_site(collected_assets: None, provider: ScriptedProvider) -> Iterator[str]:
    with web_process(
        OPENAI_BASE_URL=provider.url,
        OPENAI_API_KEY="key",
        ASSISTANT_MODEL="scripted",
        SUPPORT_EMAIL="support@example.com",
    ) as url:
        yield url


@pytest.fixture
def articles(transactional_db: None) -> list[Article]:
    teams = make_category("Teams")
    made = [
        make_article("Set up single sign-on", body=SSO, category=teams),
        make_article("Roles and rights", body="## Rights\n\nOwners may do all.", category=teams),
        make_article("Change your plan", body="## Upgrade\n\nChoose a larger plan."),
    ]
    for article in made:
        indexing.index_article(article.pk)
    return made


@pytest.fixture
def page(new_page: NewPage, chat_site: str, articles: list[Article]) -> Page:
    return new_page(base_url=chat_site)


def answer_from_the_article(provider: ScriptedProvider, text: str) -> None:
    """The model searches, opens what it found first, and says `text`."""
    provider.call("search_articles", {"query": "single sign-on identity provider"})
    provider.call("open_article", {"slug": "set-up-single-sign-on"})
    provider.answer(text)


def ask(page: Page, question: str = QUESTION) -> Locator:
    """Sends a question; the turn it begins."""
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    return page.locator(".turn").last


def chips(turn: Locator) -> Locator:
    return turn.locator(".sources .chip")


def finished(page: Page) -> None:
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


# Asking


def test_from_the_search_to_an_answer_and_its_source(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/")
    page.get_by_role("combobox", name="Search the articles").fill("identity provider")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Set up single sign-on").click()
    page.get_by_role("link", name="Ask about this article").click()
    expect(page.get_by_text("About: Set up single sign-on")).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_focused()
    assert not Conversation.objects.exists()

    answer_from_the_article(provider, "Copy the **ACS URL** from Settings [1]. Then save.")
    turn = ask(page)
    finished(page)

    expect(turn.locator(".question")).to_have_text(QUESTION)
    expect(turn.locator(".prose strong")).to_have_text("ACS URL")
    expect(turn.locator(".prose .citation")).to_have_text("1")
    expect(turn.locator(".sources-label")).to_have_text("Sources")
    expect(chips(turn)).to_have_count(1)
    expect(chips(turn)).to_contain_text("Set up single sign-on")
    expect(turn.locator(".activity summary")).to_have_text(
        re.compile(r"Looked at \d+ articles?, read 1")
    )
    expect(turn.locator(".ungrounded")).to_be_hidden()
    assert Answer.objects.get().article_id == Article.objects.get(slug="set-up-single-sign-on").pk

    turn.locator(".prose .citation").click()
    panel = page.get_by_role("complementary", name="Article")
    expect(panel.get_by_role("heading", name="Set up single sign-on")).to_be_visible()
    expect(panel.get_by_role("heading", name="Connect your identity provider")).to_be_in_viewport()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(turn.locator(".prose a.citation")).to_be_focused()


def test_a_listing_has_links_that_work_and_no_row(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    provider.call("list_articles", {})
    provider.answer("- [Roles and rights](/articles/roles-and-rights/)\n- [Gone](/articles/gone/)")
    turn = ask(page, "What articles do you have?")
    finished(page)

    expect(turn.locator(".prose a")).to_have_count(1)
    expect(turn.locator(".prose")).to_contain_text("Gone")
    expect(turn.locator(".sources")).to_be_hidden()
    expect(turn.locator(".ungrounded")).to_be_hidden()
    turn.get_by_role("link", name="Roles and rights").click()
    expect(page.locator(".panel h1")).to_have_text("Roles and rights")


def test_a_question_nothing_answers_gets_the_quiet_line_and_stands_in_the_report(
    page: Page, provider: ScriptedProvider
) -> None:
    SiteSettings(contact_email="help@example.com").save()
    page.goto("/chat/")
    provider.call("search_articles", {"query": "set up sign-on plan"})
    provider.call("cannot_answer", {"reason": "not_in_docs"})
    provider.answer("The articles do not say how to print invoices on pink paper.")
    turn = ask(page, "How do I print invoices on pink paper?")
    finished(page)

    expect(turn.get_by_text("This answer is not based on an article.")).to_be_visible()
    expect(turn.get_by_role("link", name="Contact us")).to_be_visible()
    expect(turn.locator(".might-help li").first).to_be_visible()
    expect(turn.locator(".sources")).to_be_hidden()
    expect(turn.locator(".might-help .chip")).to_have_count(0)

    gaps.update_report()
    topic = GapTopic.objects.get()
    assert (topic.name, topic.kind) == ("How do I print invoices on pink paper?", "gap")


def test_small_talk_has_neither_a_row_nor_the_line(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    provider.answer("Hello. What would you like to know?")
    turn = ask(page, "hello")
    finished(page)

    expect(turn.locator(".prose")).to_have_text("Hello. What would you like to know?")
    for part in (".sources", ".ungrounded", ".activity"):
        expect(turn.locator(part)).to_be_hidden()


def test_what_the_model_writes_stays_text(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    provider.answer('Hi <img src=x onerror="document.title=1"> [x](javascript:alert(1)) there')
    turn = ask(page, "hello")
    finished(page)

    expect(turn.locator(".prose")).to_contain_text("<img src=x")
    expect(turn.locator(".prose img, .prose a")).to_have_count(0)


def test_without_a_model_the_articles_are_quoted(
    new_page: NewPage, articles: list[Article]
) -> None:
    page = new_page()
    page.goto("/chat/")
    expect(page.get_by_text("Quoted from the articles; no AI model is connected")).to_be_visible()
    turn = ask(page, "How do I connect my identity provider?")
    finished(page)

    expect(turn.locator(".prose")).to_contain_text("ACS URL")
    expect(chips(turn).first).to_contain_text("Set up single sign-on")


def test_what_was_searched_and_not_cited_is_not_called_a_source(
    new_page: NewPage, collected_assets: None, articles: list[Article], provider: ScriptedProvider
) -> None:
    model = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "key", "ASSISTANT_MODEL": "small"}
    with web_process(**model, ASSISTANT_MODE="context") as url:
        page = new_page(base_url=url)
        page.goto("/chat/")
        provider.answer("Copy the ACS URL, I think.")
        turn = ask(page, "How do I connect my identity provider?")
        finished(page)

        expect(turn.locator(".sources-label")).to_have_text("Searched")
        expect(chips(turn).first).to_have_text("Set up single sign-on")
        expect(turn.get_by_text("This answer is not based on an article.")).to_be_visible()
        expect(turn.locator(".might-help")).to_be_hidden()


# While it comes


def test_the_text_grows_in_place_and_nothing_is_drawn_anew_at_the_end(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    hold = threading.Event()
    provider.call("search_articles", {"query": "single sign-on identity provider"})
    words = [say(f"{word} ") for word in ("First paragraph [1]. " + "word " * 40).split()]
    provider.reply(
        *words, say("\n\nSecond "), Wait(hold), say("paragraph."), finish(), usage(), DONE
    )
    turn = ask(page)
    first = turn.locator(".prose > p").first
    expect(first).to_contain_text("First paragraph")
    expect(turn.locator(".prose > p")).to_have_count(2)
    expect(chips(turn)).to_have_count(1)
    page.evaluate(
        """() => {
          window.shifts = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.shifts += entry.value;
          }).observe({ type: "layout-shift" });
          document.querySelector(".prose > p").kept = true;
          document.querySelector(".chip").kept = true;
        }"""
    )
    before = first.bounding_box()
    hold.set()
    finished(page)

    expect(turn.locator(".prose > p").nth(1)).to_have_text("Second paragraph.")
    assert page.evaluate("document.querySelector('.prose > p').kept")
    assert page.evaluate("document.querySelector('.chip').kept")
    assert first.bounding_box() == before
    assert page.evaluate("window.shifts") < 0.05


def test_an_answer_can_be_stopped_and_another_asked(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    hold = threading.Event()
    provider.reply(say("This much is "), say("written. "), say("And then"), Wait(hold))
    turn = ask(page, "Tell me about plans")
    expect(turn.locator(".prose")).to_contain_text("This much")
    page.get_by_role("button", name="Stop").click()
    finished(page)

    expect(turn.get_by_text("Stopped.")).to_be_visible()
    expect(turn.locator(".prose")).to_contain_text("This much is written.")
    assert Answer.objects.get().status == Answer.Status.STOPPED

    provider.answer("Another answer.")
    expect(ask(page, "hello").locator(".prose")).to_have_text("Another answer.")


def test_a_double_click_sends_and_does_not_stop(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    hold = threading.Event()
    provider.reply(say("All of "), Wait(hold), say("it."), finish(), DONE)
    page.get_by_label("Your question").fill("Tell me about plans")
    page.get_by_role("button", name="Send").dblclick()
    turn = page.locator(".turn").last
    expect(turn.locator(".prose")).to_contain_text("All of")
    hold.set()
    finished(page)

    expect(turn.locator(".prose")).to_have_text("All of it.")
    assert Answer.objects.get().status == Answer.Status.COMPLETED


def test_a_page_reloaded_in_the_middle_goes_on(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    hold = threading.Event()
    provider.reply(
        say("The first half "), say("is here, "), Wait(hold), say("the rest too."), finish(), DONE
    )
    turn = ask(page, "Tell me about plans")
    expect(turn.locator(".prose")).to_contain_text("The first half")
    page.reload()
    turn = page.locator(".turn").last
    expect(turn.locator(".prose")).to_contain_text("The first half")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    hold.set()
    finished(page)

    expect(turn.locator(".prose")).to_have_text("The first half is here, the rest too.")
    expect(page.locator(".turn")).to_have_count(1)
    assert Answer.objects.count() == 1


def test_a_send_that_got_lost_is_repeated_and_makes_one_turn(
    new_page: NewPage, chat_site: str, articles: list[Article], provider: ScriptedProvider
) -> None:
    page = new_page(base_url=chat_site, expected=("ERR_FAILED",))
    page.goto("/chat/")
    provider.answer("Here it is.")
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().text())  # it arrived, and its answer did not
        route.abort()

    page.route("**/api/v1/answers/?render=html", lose_the_first)
    turn = ask(page, "hello")
    expect(turn.locator(".prose")).to_have_text("Here it is.")
    finished(page)
    assert lost
    assert Answer.objects.count() == 1


@pytest.mark.field_report("B44")
def test_an_answer_goes_on_after_the_connection_was_lost(
    new_page: NewPage, chat_site: str, articles: list[Article], provider: ScriptedProvider
) -> None:
    page = new_page(base_url=chat_site, expected=("ERR_",))
    page.goto("/chat/")
    hold = threading.Event()
    provider.reply(
        say("Before "), say("the tunnel, "), Wait(hold), say("after it."), finish(), DONE
    )
    turn = ask(page, "Tell me about plans")
    expect(turn.locator(".prose")).to_contain_text("Before the tunnel")
    page.context.set_offline(True)
    expect(turn.get_by_text("You are offline.")).to_be_visible()
    hold.set()
    page.context.set_offline(False)
    finished(page)
    expect(turn.locator(".prose")).to_have_text("Before the tunnel, after it.")
    expect(turn.get_by_text("You are offline.")).to_be_hidden()


def test_the_reader_alone_scrolls_after_a_turn_has_begun(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.answer("\n\n".join(["A paragraph of a long answer. " * 12] * 12))
    ask(page, "hello")
    finished(page)
    jump = page.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_visible()
    assert page.evaluate("scrollY") == 0

    jump.click()
    expect(jump).to_be_hidden()
    provider.answer("Short.")
    turn = ask(page, "hello again")
    finished(page)
    expect(turn.locator(".question")).to_be_in_viewport()
    top = turn.bounding_box()
    assert top is not None
    assert top["y"] < 150


# When it fails


def test_a_provider_that_refuses_is_told_in_our_own_words(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.refuse(401, {"message": "secret detail of the provider"})
    turn = ask(page, "Tell me about plans")
    finished(page)
    expect(turn.locator(".failure")).to_contain_text("not available")
    expect(page.locator("body")).not_to_contain_text("secret detail")

    page.reload()
    expect(page.locator(".turn .failure")).to_contain_text("not available")


@pytest.mark.field_report("B32")
def test_an_interrupted_answer_keeps_its_words_and_offers_retry(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.reply(say("Some words "), say("came. "), Drop())
    turn = ask(page, "Tell me about plans")
    finished(page)
    expect(turn.locator(".failure")).to_be_visible()
    expect(turn.locator(".prose")).to_contain_text("Some words")

    provider.answer("Now it works.")
    turn = page.locator(".turn").first
    turn.get_by_role("button", name="Retry").click()
    expect(page.locator(".turn").nth(1).locator(".prose")).to_have_text("Now it works.")
    finished(page)
    expect(turn.locator(".failure")).to_be_hidden()
    first, second = Answer.objects.order_by("turn")
    assert second.retry_of == first
    assert second.question == first.question


def test_too_many_questions_give_the_text_back_and_count_down(
    new_page: NewPage, chat_site: str, articles: list[Article]
) -> None:
    page = new_page(base_url=chat_site, expected=("429",))
    page.goto("/chat/")
    error = {"error": {"code": "rate_limited", "message": "Too many."}}
    page.route(
        "**/api/v1/answers/?render=html",
        lambda route: route.fulfill(status=429, json=error, headers={"Retry-After": "2"}),
    )
    page.get_by_label("Your question").fill("One more")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("The next one can be sent in 2 seconds")
    expect(page.get_by_label("Your question")).to_have_value("One more")
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "false")


def test_switched_off_in_between_keeps_the_question(
    new_page: NewPage, chat_site: str, articles: list[Article]
) -> None:
    page = new_page(base_url=chat_site, expected=("409",))
    page.goto("/chat/")
    SiteSettings(assistant_enabled=False, assistant_message="Back on Monday.").save()
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_have_text("Back on Monday.")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)


# Who sends changes in between


@pytest.mark.field_report("B124")
def test_signing_in_in_another_tab_keeps_the_question_and_the_conversation(
    page: Page, provider: ScriptedProvider
) -> None:
    """The first tab's next send has the new session's token, and needs no reload."""
    encoded = PBKDF2PasswordHasher().encode("a password of tests", "salt", iterations=1)
    reader = User.objects.create(username="reader", password=encoded)
    page.goto("/chat/")
    provider.answer("Asked as a visitor.")
    ask(page, "hello")
    finished(page)
    page.get_by_label("Your question").fill("Who am I now?")

    tab = page.context.new_page()
    tab.goto("/sign-in/")
    tab.get_by_label("Username").fill("reader")
    tab.get_by_label("Password").fill("a password of tests")
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(lambda url: "sign-in" not in url)
    tab.close()

    expect(page.get_by_label("Your question")).to_have_value("Who am I now?")
    provider.answer("Asked as a reader.")
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".turn").last.locator(".prose")).to_have_text("Asked as a reader.")
    finished(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    conversation = Conversation.objects.get()
    assert conversation.user == reader
    assert conversation.answers.count() == 2


@pytest.mark.field_report("B125")
@pytest.mark.parametrize("cookie", ["gone", "expired"])
def test_a_session_that_ended_is_told_once_and_the_question_kept(
    new_page: NewPage,
    chat_site: str,
    articles: list[Article],
    provider: ScriptedProvider,
    cookie: str,
) -> None:
    page = new_page(base_url=chat_site, expected=("404",))
    page.goto("/chat/")
    provider.answer("Before the night.")
    ask(page, "hello")
    finished(page)
    old = Conversation.objects.get()
    if cookie == "gone":
        page.context.clear_cookies(name="sessionid")
    else:
        Session.objects.all().delete()
    sends: list[str] = []
    page.on("request", lambda one: sends.append(one.url) if one.method == "POST" else None)
    ask(page, "hello again")

    alert = page.get_by_role("alert")
    expect(alert).to_have_text("This conversation is no longer there. A new one begins.")
    expect(page.get_by_label("Your question")).to_have_value("hello again")
    assert "conversation=" not in page.url
    page.wait_for_timeout(500)
    assert len(sends) == 1, "nothing is sent again by itself"

    provider.answer("A new morning.")
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".turn").last.locator(".prose")).to_have_text("A new morning.")
    finished(page)
    expect(alert).to_be_hidden()
    assert len(sends) == 2
    assert Conversation.objects.count() == 2
    page.goto(f"/chat/?conversation={old.pk}")
    expect(alert).to_have_text("This conversation is no longer there. A new one begins.")
    expect(page.locator("body")).not_to_contain_text("Before the night.")


@pytest.mark.field_report("B35")
def test_another_conversation_shows_nothing_of_an_answer_that_still_comes(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.answer("The one that was there.")
    ask(page, "hello")
    finished(page)
    page.get_by_role("link", name="New conversation").click()
    go_on = threading.Event()
    provider.reply(say("The slow "), say("one "), Wait(go_on), say("ends."), finish(), DONE)
    expect(ask(page, "Tell me about plans").locator(".prose")).to_contain_text("The slow")

    page.get_by_role("button", name="Conversations").click()
    page.locator("#chat-drawer li").filter(has_text="hello").get_by_role("link").click()
    expect(page.locator(".turn .prose")).to_have_text("The one that was there.")
    go_on.set()
    wait_until(lambda: not Answer.objects.filter(status="running").exists(), "the slow one")
    page.wait_for_timeout(300)
    expect(page.locator(".turn .prose")).to_have_text("The one that was there.")
    expect(page.locator("#chat-thread")).not_to_contain_text("slow")

    page.get_by_role("button", name="Conversations").click()
    page.locator("#chat-drawer li").filter(has_text="plans").get_by_role("link").click()
    expect(page.locator(".turn .prose")).to_have_text("The slow one ends.")


# The keyboard, the clipboard, the thumbs


def test_enter_sends_and_an_input_methods_enter_does_not(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    box = page.get_by_label("Your question")
    expect(box).to_be_focused()
    height = box.bounding_box()
    box.press_sequentially("first line")
    box.press("Shift+Enter")
    box.press_sequentially("second line")
    expect(box).to_have_value("first line\nsecond line")
    grown = box.bounding_box()
    assert height is not None
    assert grown is not None
    assert grown["height"] > height["height"]
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    expect(page.locator(".turn")).to_have_count(0)
    box.fill("   ")
    box.press("Enter")
    expect(page.locator(".turn")).to_have_count(0)

    provider.answer("Hello.")
    expect(ask(page, "hello").locator(".prose")).to_have_text("Hello.")


def test_a_citation_tells_its_title_and_heading_on_focus(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.call("search_articles", {"query": "copy ACS URL identity provider"})
    provider.answer("Copy it [1].")
    turn = ask(page)
    finished(page)
    turn.locator("a.citation").focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("Set up single sign-on")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_copying_gives_markdown_with_the_sources(
    new_page: NewPage, chat_site: str, articles: list[Article], provider: ScriptedProvider
) -> None:
    page = new_page(base_url=chat_site, permissions=["clipboard-read", "clipboard-write"])
    page.goto("/chat/")
    answer_from_the_article(provider, "Copy the **ACS URL** [1].")
    turn = ask(page)
    finished(page)
    turn.get_by_role("button", name="Copy the answer").click()
    expect(turn.get_by_text("Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Copy the **ACS URL** [1].\n\nSources:\n\n1. [Set up single sign-on](")
    assert f"{chat_site}/articles/set-up-single-sign-on/" in copied


def test_a_thumb_down_takes_a_reason_and_a_comment(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    provider.answer("Something.")
    turn = ask(page, "hello")
    finished(page)
    turn.get_by_role("button", name="Not helpful").click()
    turn.get_by_label("It is hard to follow").check()
    turn.get_by_label("Comment").fill("Too short.")
    turn.get_by_role("button", name="Send").click()
    expect(turn.locator(".feedback-form").first).to_be_hidden()

    feedback = AnswerFeedback.objects.get()
    assert (feedback.rating, feedback.reason) == ("negative", "unclear")
    assert feedback.comment == "Too short."

    page.reload()
    pressed = page.get_by_role("button", name="Not helpful")
    expect(pressed).to_have_attribute("aria-pressed", "true")


def test_who_still_needs_help_reaches_support_with_consent_and_a_number(
    page: Page, provider: ScriptedProvider, valkey_client: Redis, settings: Any
) -> None:
    page.goto("/chat/")
    provider.answer("I do not know.")
    turn = ask(page, "Where is my invoice of 1999?")
    finished(page)
    turn.get_by_role("button", name="Still need help?").click()
    form = turn.locator(".still-need form")
    email = form.get_by_label("Your e-mail address")
    expect(email).to_be_focused()
    email.fill("jo@example.com")
    form.get_by_label("What should they know?").fill("It was paid.")
    form.get_by_role("button", name="Send").click()
    consent = form.get_by_label("I agree that support reads this conversation")
    assert not consent.evaluate("box => box.validity.valid")
    assert not Escalation.objects.exists()
    assert violations(page) == []

    consent.check()
    form.get_by_role("button", name="Send").click()
    answer = Answer.objects.get()
    number = reference_number(answer.pk)
    expect(turn.locator(".escalated")).to_contain_text(number.replace("-", "\u2011"))
    expect(form).to_be_hidden()
    escalation = Escalation.objects.get(answer=answer)
    assert (escalation.email, escalation.message) == ("jo@example.com", "It was paid.")
    assert "send_escalation" in str(valkey_client.lrange("celery", 0, -1))

    settings.SUPPORT_EMAIL = "support@example.com"
    assert tasks.send_escalation(escalation.pk)  # what a worker does with it
    (message,) = mail.outbox
    assert (message.to, message.reply_to) == (["support@example.com"], ["jo@example.com"])
    assert number in message.subject
    assert "Where is my invoice of 1999?" in message.body

    page.reload()
    expect(page.locator(".turn .escalated")).to_contain_text(number.replace("-", "\u2011"))
    expect(page.get_by_role("button", name="Still need help?")).to_be_hidden()


# Conversations


def test_conversations_are_listed_opened_and_deleted(
    page: Page, provider: ScriptedProvider
) -> None:
    page.goto("/chat/")
    provider.answer("Hello.")
    ask(page, "hello there")
    finished(page)
    page.get_by_role("link", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)

    page.get_by_role("button", name="Conversations").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("link", name="hello there").click()
    expect(page.locator(".turn .prose")).to_have_text("Hello.")

    page.get_by_role("button", name="Conversations").click()
    drawer.get_by_role("button", name="Delete this conversation").click()
    drawer.get_by_role("button", name="Keep").click()
    assert Conversation.objects.count() == 1
    drawer.get_by_role("button", name="Delete this conversation").click()
    drawer.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="What would you like to know")).to_be_visible()
    wait_until(lambda: not Conversation.objects.exists(), "the conversation to be erased")


def test_what_another_tab_asks_comes_here_too(page: Page, provider: ScriptedProvider) -> None:
    page.goto("/chat/")
    provider.answer("Hello.")
    ask(page, "hello there")
    finished(page)
    page.get_by_label("Your question").fill("half a question")
    other = page.context.new_page()
    other.goto(page.url)
    go_on = threading.Event()
    provider.reply(say("The slow "), say("one "), Wait(go_on), say("ends."), finish(), DONE)
    expect(ask(other, "Tell me about plans").locator(".prose")).to_contain_text("The slow")

    turn = page.locator(".turn").nth(1)
    expect(turn.locator(".question")).to_have_text("Tell me about plans")
    expect(turn.locator(".prose")).to_contain_text("The slow")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    go_on.set()
    for tab in (page, other):
        finished(tab)
        expect(tab.locator(".turn .prose")).to_have_text(["Hello.", "The slow one ends."])
    expect(page.get_by_label("Your question")).to_have_value("half a question")

    provider.answer("Hello again.")
    ask(page, "and again")
    finished(page)
    expect(other.locator(".turn .prose").last).to_have_text("Hello again.")
    expect(other.locator(".turn")).to_have_count(3)
    assert Conversation.objects.count() == 1


def test_a_strangers_conversation_is_not_there(
    new_page: NewPage, chat_site: str, articles: list[Article]
) -> None:
    page = new_page(base_url=chat_site, expected=("404",))
    foreign = Conversation.objects.create(visitor_id="6f2a0f5e-53d8-4f0e-9a53-6a6b4f4d3c21")
    page.goto(f"/chat/?conversation={foreign.pk}")
    expect(page.get_by_role("alert")).to_contain_text("no longer there")
    assert page.url.endswith("/chat/")


def test_on_a_phone_the_way_back_is_the_same_place(
    new_page: NewPage, chat_site: str, articles: list[Article], provider: ScriptedProvider
) -> None:
    page = new_page(base_url=chat_site, narrow=True)
    page.goto("/chat/")
    paragraphs = ["A paragraph of a long answer [1]. " + "And more of it. " * 12] * 8
    answer_from_the_article(provider, "\n\n".join(paragraphs))
    turn = ask(page)
    finished(page)
    turn.locator(".citation").nth(5).scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 0
    turn.locator(".citation").nth(5).click()
    expect(page.locator("h1")).to_have_text("Set up single sign-on")

    page.get_by_role("button", name="Back to your conversation").click()
    expect(page.locator(".turn .citation").nth(5)).to_be_in_viewport()
    assert abs(page.evaluate("scrollY") - place) < 5


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_an_answer_is_accessible_in_every_look(
    new_page: NewPage,
    chat_site: str,
    articles: list[Article],
    provider: ScriptedProvider,
    screenshots: Path,
    look: str,
) -> None:
    page = new_page(base_url=chat_site, dark=look == "dark", narrow=look == "narrow")
    page.goto("/chat/")
    answer_from_the_article(
        provider, "Copy the **ACS URL** [1].\n\n1. Open *Settings*.\n2. Save.\n\n```\ncurl -X\n```"
    )
    turn = ask(page)
    finished(page)
    turn.locator(".activity summary").click()
    turn.get_by_role("button", name="Not helpful").click()
    expect(turn.locator(".feedback-form").first).to_be_visible()
    page.screenshot(path=screenshots / f"answer-{look}.png")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("dialog").get_by_role("link")).to_have_count(1)
    page.screenshot(path=screenshots / f"conversations-{look}.png")
    assert violations(page) == []
