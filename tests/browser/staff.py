"""Colleagues at work in the admin with the keyboard alone, and how the pages look to them."""

from __future__ import annotations

from pathlib import Path

from django.apps import apps
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.test_groups import MIGRATION

PASSWORD = "a password of tests"
MOST_TABS = 150
SELECT2 = "Applying inline style violates"
"""The stock form's picker writes style attributes, which the policy refuses; it works without."""


def member(group: str) -> User:
    """A colleague in this group alone."""
    MIGRATION.make_groups(apps, None)
    user = User.objects.create_user(f"one-of-{group.lower()}", is_staff=True)
    # The site's process knows none of the quick hashes that tests use.
    user.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    user.save()
    user.groups.add(Group.objects.get(name=group))
    return user


def sign_in(page: Page, user: User, address: str = "/admin/") -> None:
    page.set_default_timeout(30_000)
    page.goto(f"/admin/login/?next={address}")
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type(user.username)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def tab_to(page: Page, selector: str) -> None:
    """Tabs on until what has the focus matches."""
    _tab_until(page, "(wanted) => document.activeElement.matches(wanted)", selector)


def tab_to_name(page: Page, name: str) -> None:
    """Tabs on until what has the focus is called so."""
    called = "(document.activeElement.value || document.activeElement.innerText || '').trim()"
    _tab_until(page, f"(wanted) => {called} === wanted", name)


def press(page: Page, name: str) -> None:
    """Tabs to what is called so, and follows it."""
    tab_to_name(page, name)
    follow(page)


def follow(page: Page) -> None:
    with page.expect_navigation():
        page.keyboard.press("Enter")


def look(page: Page, path: Path, *ours: str) -> None:
    """Light and dark: a screenshot, no wider than the window, and what axe-core finds on our own
    parts, those that `ours` are pieces of; the stock admin's are not ours."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=path.with_stem(f"{path.stem}-{scheme}"), full_page=True)
        found = violations(page)
        assert [line for line in found if any(part in line for part in ours)] == [], scheme
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{path.name} is wider than the window by {wide} px"


def _tab_until(page: Page, condition: str, wanted: str) -> None:
    for _step in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(condition, wanted):
            return
    raise AssertionError(f"no Tab leads to {wanted}")
