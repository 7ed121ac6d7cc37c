"""The admin works under the site's policy: any violation of it is an error on the console."""

from __future__ import annotations

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from helpcenter.models import SiteSettings
from tests.browser.conftest import NewPage
from tests.factories import make_article

PASSWORD = "a password of tests"


@pytest.fixture
def page(new_page: NewPage, staff: User) -> Page:
    """The admin's first page, signed in by its form."""
    # The site's process knows none of the quick hashes that tests use.
    staff.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    staff.save()
    page = new_page()
    page.goto("/admin/")
    page.get_by_label("Username").fill(staff.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Site administration")).to_be_visible()
    return page


def test_every_list_and_every_form_opens_without_a_violation(page: Page) -> None:
    make_article("How to sign in")
    # With its one row there, nothing more can be added to the site's settings.
    SiteSettings.objects.create()
    page.reload()
    links = page.locator("#content-main a").evaluate_all(
        "nodes => nodes.map(node => node.pathname)"
    )
    assert "/admin/articles/article/add/" in links
    for link in sorted(set(links)):
        response = page.goto(link)
        assert response
        assert response.status == 200


def test_its_scripts_run_the_choice_of_permissions(page: Page) -> None:
    page.goto("/admin/auth/group/add/")
    available = page.locator("#id_permissions_from option")
    label = available.first.inner_text()
    available.first.dblclick()
    expect(page.locator("#id_permissions_to option")).to_have_text([label])


def test_its_scripts_run_the_actions_of_a_list(page: Page) -> None:
    page.goto("/admin/auth/user/")
    page.locator("#action-toggle").click()
    expect(page.locator(".action-counter")).to_contain_text("1 of 1 selected")
