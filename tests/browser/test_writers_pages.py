"""The pages for writers in a real browser, light and wide, then dark and narrow: everybody can
read them. One walk through all of them, since a browser takes its time."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import NARROW, WIDE, NewPage
from tests.factories import make_article
from tests.search_index import index
from tests.writing import article_url, change_url

PASSWORD = "a password of tests"
STOCK = (
    ".breadcrumbs",
    "#nav-sidebar",
    "#toggle-nav-sidebar",
    "#header",
    "#user-tools",
    ".theme-toggle",
)
"""Parts of the stock admin's frame, which are not ours."""

SELECT2 = "Applying inline style violates"
"""The stock form's picker writes style attributes, which the policy refuses; it works without."""


def signed_in(page: Page, staff: User, address: str) -> None:
    # The site's process knows none of the quick hashes that tests use.
    staff.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    staff.save()
    page.goto(f"/admin/login/?next={address}")
    page.get_by_label("Username").fill(staff.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def assert_readable(page: Page, screenshots: Path, name: str, part: str = "") -> None:
    """As it stands: nothing for axe to find in `part`, by default in all but the stock frame, and
    nothing wider than a phone."""
    for dark, size in ((False, WIDE), (True, NARROW)):
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_viewport_size(size)
        lines = [line for line in violations(page) if part in line]
        found = [line for line in lines if not any(stock in line for stock in STOCK)]
        assert not found, (name, size["width"], found)
        page.screenshot(path=screenshots / f"{name}-{size['width']}.png", caret="initial")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)


def test_every_page_for_writers_can_be_read(
    new_page: NewPage, staff: User, screenshots: Path
) -> None:
    body = "## By mail\n\nReset your password by mail, then sign in with the new one."
    article = make_article("Reset your password", body=body)
    make_article("Reset a password", body=body)
    make_article("Start", body="[x](/articles/reset-your-password/) [y](/articles/gone/)")
    index()
    page = new_page(expected=(SELECT2,))
    signed_in(page, staff, article_url("links", article.pk))

    expect(page.get_by_role("heading", name="What links here")).to_be_visible()
    assert_readable(page, screenshots, "links")
    for name, args in (("questions", [article.pk]), ("duplicates", []), ("broken_links", [])):
        page.goto(article_url(name, *args))
        assert_readable(page, screenshots, name)

    page.goto(article_url("changelist"))
    page.get_by_role("row", name="Reset your password").get_by_role("checkbox").check()
    page.get_by_label("Action:").select_option("archive_selected")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("Their links break.")).to_be_visible()
    assert_readable(page, screenshots, "withdraw")

    page.goto(change_url(article))
    page.locator("#id_title").fill("Choose a new password")
    article.body = "Another text."
    article.save()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("after you opened it")).to_be_visible()
    mark = page.locator(".diff-removed .diff-mark").bounding_box()
    assert mark
    assert mark["width"] < 60
    removed, added = (
        page.locator(f".diff-{kind}").first.evaluate("row => getComputedStyle(row).backgroundColor")
        for kind in ("removed", "added")
    )
    assert removed != added
    assert_readable(page, screenshots, "conflict", part="conflict")
