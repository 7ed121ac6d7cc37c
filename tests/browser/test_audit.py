"""Support finds a wrong answer in three clicks, and judges answers, with the keyboard alone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from assistant.models import Answer, AnswerReview
from tests.browser.conftest import NewPage
from tests.browser.staff import SELECT2, follow, look, member, press, sign_in, tab_to, tab_to_name
from tests.factories import make_answer, make_article, make_traced_answer

OURS = ("overview", "chart", "period", "audit", "review", "timeline")


@pytest.fixture
def colleague(transactional_db: None) -> User:
    return member("Support")


@pytest.fixture
def wrong(transactional_db: None) -> Answer:
    """Last week's answer that cites nothing real, among better ones."""
    make_answer("How do I sign in?")
    answer = make_traced_answer(
        "How long is a link valid?",
        make_article("Reset your password"),
        text="It is valid for 90 minutes.",
        model_text="It is valid for 90 minutes [9].",
        passage="The link holds 30 minutes.",
        grounding="uncited",
    )
    asked = timezone.now() - timedelta(days=6)
    Answer.objects.filter(pk=answer.pk).update(
        created_at=asked, finished_at=asked + timedelta(seconds=3)
    )
    answer.tool_calls.update(began_at=asked + timedelta(seconds=1))
    return answer


def test_last_weeks_wrong_answer_is_three_clicks_away(
    new_page: NewPage, colleague: User, wrong: Answer, screenshots: Path
) -> None:
    find_it(new_page(expected=(SELECT2,)), colleague, screenshots / "audit-wide")
    find_it(new_page(narrow=True, expected=(SELECT2,)), colleague, screenshots / "audit-narrow")


def find_it(page: Page, colleague: User, folder: Path) -> None:
    """From signing in to seeing why it was wrong."""
    sign_in(page, colleague)
    press(page, "Overview")
    look(page, folder / "overview.png", *OURS)
    tab_to(page, '.overview-figures a[href*="rating=negative"]')
    follow(page)
    press(page, "How long is a link valid?")

    expect(page.get_by_role("heading", name="Answer as delivered")).to_be_visible()
    expect(page.locator(".audit del")).to_have_text(" [9]")
    expect(page.get_by_text("The number belongs to no document")).to_be_visible()
    expect(page.get_by_text("Passages of it were given, and the answer does not")).to_be_visible()
    tab_to_name(page, "[1] Reset your password, revision 1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The link holds 30 minutes.")).to_be_visible()
    look(page, folder / "answer.png", *OURS)


def test_a_queue_is_worked_through_with_the_keyboard_alone(
    new_page: NewPage, colleague: User, wrong: Answer
) -> None:
    other = make_answer("And by mail?", grounding="uncited")
    page = new_page(expected=(SELECT2,))
    sign_in(page, colleague, reverse("admin:assistant_answer_review_queues"))
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
