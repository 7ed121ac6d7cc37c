"""Support finds a wrong answer in three clicks, and judges answers with the keyboard alone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from assistant.models import (
    Answer,
    AnswerFeedback,
    AnswerPassage,
    AnswerReview,
    DroppedCitation,
    ToolCall,
)
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_answer, make_article, make_document
from tests.test_groups import MIGRATION

PASSWORD = "a password of tests"
SELECT2 = "Applying inline style violates"
"""The stock admin's picker writes style attributes, which the policy refuses; it works without."""


@pytest.fixture
def colleague(transactional_db: None) -> User:
    """Of the group Support."""
    from django.apps import apps

    MIGRATION.make_groups(apps, None)
    user = User.objects.create_user("sam", is_staff=True)
    # The site's process knows none of the quick hashes that tests use.
    user.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    user.save()
    user.groups.add(Group.objects.get(name="Support"))
    return user


@pytest.fixture
def wrong(transactional_db: None) -> Answer:
    """Last week's answer that cites nothing real, among better ones."""
    make_answer("How do I sign in?")
    answer = make_answer(
        "How long is a link valid?",
        text="It is valid for 90 minutes.",
        model_text="It is valid for 90 minutes [9].",
        grounding="uncited",
    )
    asked = timezone.now() - timedelta(days=6)
    Answer.objects.filter(pk=answer.pk).update(created_at=asked)
    document = make_document(answer, make_article("Reset your password"), 1)
    AnswerPassage.objects.create(document=document, position=0, text="The link holds 30 minutes.")
    ToolCall.objects.create(
        answer=answer,
        position=0,
        round=1,
        call_id="c1",
        name="search_articles",
        arguments='{"query": "link"}',
        result='{"documents": [1]}',
        count=1,
        duration_ms=30,
    )
    DroppedCitation.objects.create(answer=answer, position=0, text="[9]", reason="unknown_ref")
    AnswerFeedback.objects.create(answer=answer, rating="negative", reason="wrong")
    return answer


def sign_in(page: Page, colleague: User) -> None:
    page.set_default_timeout(30_000)
    page.goto("/admin/")
    page.get_by_label("Username").fill(colleague.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Site administration")).to_be_visible()


def ours(page: Page, *parts: str) -> list[str]:
    """What axe-core finds on our own parts; the stock admin's are not ours."""
    return [line for line in violations(page) if any(part in line for part in parts)]


@pytest.mark.parametrize(
    ("dark", "narrow"), [(False, False), (True, True)], ids=["wide light", "narrow dark"]
)
def test_last_weeks_wrong_answer_is_three_clicks_away(
    new_page: NewPage,
    colleague: User,
    wrong: Answer,
    screenshots: Path,
    dark: bool,
    narrow: bool,
) -> None:
    page = new_page(dark=dark, narrow=narrow, expected=(SELECT2,))
    sign_in(page, colleague)

    page.locator("#content").get_by_role("link", name="Overview").click()
    assert ours(page, "overview", "chart", "period") == []
    page.screenshot(path=screenshots / f"overview-{dark}.png", full_page=True)
    page.locator(".overview-figures dt", has_text="Not helpful").locator("+ dd a").click()
    page.get_by_role("link", name="How long is a link valid?").click()

    expect(page.get_by_role("heading", name="Answer as delivered")).to_be_visible()
    expect(page.locator(".audit del")).to_have_text(" [9]")
    expect(page.get_by_text("The number belongs to no document")).to_be_visible()
    expect(page.get_by_text("Passages of it were given, and the answer does not")).to_be_visible()
    page.get_by_text("[1] Reset your password, revision 1").click()
    expect(page.get_by_text("The link holds 30 minutes.")).to_be_visible()
    assert ours(page, "audit", "review", "timeline") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=screenshots / f"answer-{dark}.png", full_page=True)


def tab_to(page: Page, selector: str) -> None:
    """Moves the focus as somebody without a mouse does."""
    for _step in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no Tab leads to {selector}")


def test_a_queue_is_worked_through_with_the_keyboard_alone(
    new_page: NewPage, colleague: User, wrong: Answer
) -> None:
    other = make_answer("And by mail?", grounding="uncited")
    page = new_page(expected=(SELECT2,))
    sign_in(page, colleague)
    page.goto(reverse("admin:assistant_answer_review_queues"))
    tab_to(page, 'a[href$="/review/uncited/"]')
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 left")).to_be_visible()
    tab_to(page, "#review-keys")
    page.keyboard.press("Space")

    page.keyboard.press("3")
    page.keyboard.press("c")
    page.keyboard.type("Not in the articles: 1234.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 left")).to_be_visible()
    expect(page.locator("#review-keys")).to_be_checked()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("nothing is left to review")).to_be_visible()

    reviews = {review.answer_id: review for review in AnswerReview.objects.all()}
    assert (reviews[other.pk].verdict, reviews[wrong.pk].verdict) == ("wrong", "right")
    assert reviews[other.pk].note == "Not in the articles: 1234."
    assert reviews[other.pk].reviewer == colleague
