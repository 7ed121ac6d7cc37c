"""A writer takes the top gap, drafts, publishes, and sees it verified, by the keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from assistant import gaps
from assistant.models import GapTopic, Grounding
from tests.browser.conftest import NewPage
from tests.browser.staff import SELECT2, look, member, press, sign_in, tab_to
from tests.factories import make_answer

if TYPE_CHECKING:
    from helpcenter.processes import Child

pytestmark = pytest.mark.slow

OURS = (".gap-", "#gap-", ".audit", ".undo")
"""What of a page is not the stock admin's."""

TEXTS = {
    "When will I receive my new card?": "## When will I receive my new card?\n\n"
    "You will receive your new card by post. It will arrive within five working days.\n",
    "Which currencies do you support for exchange?": "## Which currencies are supported?\n\n"
    "We support exchange of euros, dollars and pounds. Other currencies are not supported.\n",
}


@pytest.fixture
def writer(transactional_db: None) -> User:
    return member("Writers")


def test_a_writer_closes_the_top_gap_and_then_the_next(
    new_page: NewPage, writer: User, worker: Child, screenshots: Path
) -> None:
    for question in (
        "When will I receive my new card?",
        "When will I receive my new card?",
        "When will my new card arrive by post?",
        "Which currencies do you support for exchange?",
    ):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    close_the_top_gap(new_page(expected=(SELECT2,)), writer, screenshots / "gaps-wide")
    page = new_page(narrow=True, expected=(SELECT2,))
    close_the_top_gap(page, writer, screenshots / "gaps-narrow")
    assert set(GapTopic.objects.values_list("status", flat=True)) == {"verified"}


def close_the_top_gap(page: Page, writer: User, folder: Path) -> None:
    """From signing in to seeing it verified; each page on the way is looked at."""
    top = GapTopic.objects.exclude(status=GapTopic.Status.VERIFIED).order_by("-impact")[0]
    questions = top.questions.values("fingerprint").distinct().count()
    said = "question would find its answer" if questions == 1 else "questions would find their"

    sign_in(page, writer, "/admin/assistant/gaptopic/")
    expect(page.locator("#result_list tbody tr").first).to_contain_text(top.name)
    look(page, folder / "list.png", *OURS)

    press(page, top.name)
    look(page, folder / "topic.png", *OURS)
    press(page, "Draft an article")
    expect(page.get_by_text("Written for a documentation gap")).to_be_visible()
    look(page, folder / "draft.png", *OURS)
    tab_to(page, "#id_body")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(TEXTS[top.name])
    press(page, "Save and continue editing")
    press(page, "Try these questions")
    expect(page.get_by_text(f"{questions} of {questions} {said}")).to_be_visible()
    look(page, folder / "try.png", *OURS)
    press(page, "Open the article")
    press(page, "Save and publish")
    expect(page.get_by_text("is published")).to_be_visible()
    press(page, "Open the topic")
    verified = page.locator(".flag", has_text="verified")
    expect(verified).to_be_visible()  # by itself
    answered = f"{questions} of {questions} questions are answered from the article."
    expect(page.get_by_text(answered).first).to_be_visible()
    look(page, folder / "verified.png", *OURS)
