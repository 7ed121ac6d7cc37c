"""Looking into a search in a real browser: the article is picked by typing, and all can read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_article
from tests.search_index import index

PASSWORD = "a password of tests"
SELECT2 = "Applying inline style violates"
"""The stock admin's picker writes style attributes, which the policy refuses; it works without."""


def opened(page: Page, staff: User) -> Page:
    """The page on a small help center, signed in by the admin's form."""
    make_article("Reset your password", body="## By mail\n\nReset your password by mail.")
    make_article("Password rules", body="## Length\n\nA password has ten characters.")
    make_article("Bananas", body="Yellow fruit.")
    index()
    # The site's process knows none of the quick hashes that tests use.
    staff.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    staff.save()
    page.set_default_timeout(30_000)
    page.goto("/admin/login/?next=/admin/articles/article/retrieval/")
    page.get_by_label("Username").fill(staff.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Why was it not found?")).to_be_visible()
    return page


def ask(page: Page) -> None:
    page.get_by_label("Question:").fill("reset my password")
    page.locator(".field-article .select2-selection").click()
    page.locator(".select2-search__field").fill("rules")
    page.get_by_role("option", name="Password rules").click()
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("heading", name="Articles found")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_a_search_can_be_looked_into(
    new_page: NewPage, staff: User, screenshots: Path, dark: bool, narrow: bool
) -> None:
    page = opened(new_page(dark=dark, narrow=narrow, expected=(SELECT2,)), staff)
    ask(page)

    expect(page.locator(".retrieval").get_by_text("It was found, in place 2.")).to_be_visible()
    ours = [line for line in violations(page) if "retrieval" in line or "notice" in line]
    assert not ours, ours
    assert page.evaluate("document.querySelector('.retrieval').scrollWidth <= innerWidth")
    assert page.url.endswith("/admin/articles/article/retrieval/")
    page.screenshot(
        path=screenshots
        / f"retrieval-{'dark' if dark else 'light'}-{'390' if narrow else '1280'}.png",
        full_page=True,
        caret="initial",  # hiding it takes an inline style, which the policy refuses
    )
