"""The admin works under the site's policy: any violation of it is an error on the console."""

from __future__ import annotations

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from articles.models import SearchQuery
from assistant.models import GapTopic
from helpcenter.models import SiteSettings
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_answer, make_article, make_document

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


def test_rows_have_the_width_of_the_page_and_the_filters_stand_above_them(page: Page) -> None:
    long = "How do I keep the settings of a workspace that somebody else has deleted by mistake?"
    articles = [make_article(f"{long} {number}") for number in range(2)]
    fields = {"status": "truncated", "truncated_by": "tool_rounds", "search_fallback": "no_vectors"}
    answer = make_answer(long, **fields, grounding="rejected", cost="0.0123")
    for ref, article in enumerate(articles, 1):
        make_document(answer, article, ref, cited=True, consulted=True, number=ref, position=ref)
    GapTopic.objects.create(
        name=long, kind="gap", first_seen=timezone.now(), last_seen=timezone.now()
    )
    found = {"results": 0, "strong": 0, "suggestion": long}
    SearchQuery.objects.create(text=long, searched_at=timezone.now(), **found)
    lists = ("assistant/answer", "assistant/conversation", "assistant/gaptopic",
             "assistant/accessrecord", "articles/article", "articles/searchquery")  # fmt: skip
    for name in lists:
        page.goto(f"/admin/{name}/")
        rows, filters = page.locator("#changelist .results"), page.locator("#changelist-filter")
        assert rows.evaluate("node => node.scrollWidth - node.clientWidth") <= 0, name
        filters.locator("> details > summary").click()
        assert filters.locator("details").count() > 1
        assert not [line for line in violations(page) if "filter" in line], name


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
