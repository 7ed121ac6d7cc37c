"""A writer takes the top gap, drafts, publishes, and sees it verified, by the keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Permission, User
from playwright.sync_api import Page, expect

from assistant import gaps
from assistant.models import GapTopic, Grounding
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_answer

if TYPE_CHECKING:
    from helpcenter.processes import Child

pytestmark = pytest.mark.slow

PASSWORD = "a password of tests"
MOST_TABS = 150
OURS = (".gap-", "#gap-", ".audit", ".undo")
"""What of a page is not the stock admin's."""

SELECT2 = "Applying inline style violates"
"""The stock form's picker writes style attributes, which the policy refuses; it works without."""

TEXTS = {
    "When will I receive my new card?": "## When will I receive my new card?\n\n"
    "You will receive your new card by post. It will arrive within five working days.\n",
    "Which currencies do you support for exchange?": "## Which currencies are supported?\n\n"
    "We support exchange of euros, dollars and pounds. Other currencies are not supported.\n",
}
PERMISSIONS = ["add_article", "change_article", "view_article", "publish_article"]


@pytest.fixture
def writer(transactional_db: None) -> User:
    user = User.objects.create_user("writer", is_staff=True)
    # The site's process knows none of the quick hashes that tests use.
    user.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    user.save()
    wanted = [*PERMISSIONS, "view_gaptopic", "change_gaptopic"]
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    return user


def tab_to(page: Page, name: str) -> None:
    """Tabs on until what has the focus is called so."""
    for _step in range(MOST_TABS):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "() => (document.activeElement.value || document.activeElement.innerText || '').trim()"
        )
        if here == name:
            return
    raise AssertionError(f"the keyboard does not reach “{name}”")


def press(page: Page, name: str) -> None:
    tab_to(page, name)
    with page.expect_navigation():
        page.keyboard.press("Enter")


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
    page = new_page(narrow=True, dark=True, expected=(SELECT2,))
    close_the_top_gap(page, writer, screenshots / "gaps-narrow")
    assert set(GapTopic.objects.values_list("status", flat=True)) == {"verified"}


def close_the_top_gap(page: Page, writer: User, folder: Path) -> None:
    """From signing in to seeing it verified; each page on the way is looked at."""
    top = GapTopic.objects.exclude(status=GapTopic.Status.VERIFIED).order_by("-impact")[0]
    questions = top.questions.values("fingerprint").distinct().count()
    said = "question would find its answer" if questions == 1 else "questions would find their"

    page.goto("/admin/login/?next=/admin/assistant/gaptopic/")
    page.get_by_label("Username").fill(writer.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#result_list tbody tr").first).to_contain_text(top.name)
    look(page, folder / "list.png")

    press(page, top.name)
    look(page, folder / "topic.png")
    press(page, "Draft an article")
    expect(page.get_by_text("Written for a documentation gap")).to_be_visible()
    look(page, folder / "draft.png")
    page.locator("#id_body").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(TEXTS[top.name])
    press(page, "Save and continue editing")
    press(page, "Try these questions")
    expect(page.get_by_text(f"{questions} of {questions} {said}")).to_be_visible()
    look(page, folder / "try.png")
    press(page, "Open the article")
    press(page, "Save and publish")
    expect(page.get_by_text("is published")).to_be_visible()
    press(page, "Open the topic")
    verified = page.locator(".flag", has_text="verified")
    for _try in range(60):
        if verified.is_visible():
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(verified).to_be_visible()
    answered = f"{questions} of {questions} questions are answered from the article."
    expect(page.get_by_text(answered).first).to_be_visible()
    look(page, folder / "verified.png")


def look(page: Page, path: Path) -> None:
    page.screenshot(path=path, full_page=True)
    found = violations(page)
    assert [line for line in found if any(part in line for part in OURS)] == []
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{path.name} is wider than the window by {wide} px"
