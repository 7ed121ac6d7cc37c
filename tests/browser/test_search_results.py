"""The results page in a browser: narrowing it by keyboard, and telling what was opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from articles import indexing
from articles.models import SearchClick, SearchQuery
from articles.ranking import spelling
from articles.terms import frequencies
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_article, make_category
from tests.processes import wait_until


@pytest.fixture(autouse=True)
def articles(transactional_db: None) -> None:
    billing = make_category("Billing")
    for title, category in [
        ("Refund an order", billing),
        ("Refund a yearly plan", make_category("Plans", parent=billing)),
        ("Refund by mail", make_category("Mail and parcels")),
    ]:
        article = make_article(title, category=category)
        indexing.index_article(article.pk)
    other = make_article("Refund auf Deutsch", language="de", category=billing)
    indexing.index_article(other.pk)
    frequencies.recount()
    spelling.collect()


def test_results_are_narrowed_by_keyboard_and_what_is_opened_is_told(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/search/?q=refund")
    assert violations(page) == []
    page.get_by_label("Category").focus()
    page.keyboard.type("Billing")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Filter").press("Enter")
    expect(page.locator(".results-status")).to_contain_text("2 articles")
    expect(page.get_by_label("Category")).to_have_value("billing")
    assert violations(page) == []

    with page.expect_request("**/search/opened/"):
        page.get_by_role("link", name="Refund an order").click()
    # The page that asked has gone by the time the reply comes.
    wait_until(SearchClick.objects.exists, "what was opened")
    expect(page.locator("h1")).to_have_text("Refund an order")
    search = SearchQuery.objects.get()
    assert (search.text, SearchClick.objects.get().search) == ("refund", search)


def test_an_opened_suggestion_is_told_and_typing_alone_is_not(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/")
    box = page.get_by_role("combobox", name="Search the articles")
    box.press_sequentially("refund by ma")
    expect(page.get_by_role("option").first).to_contain_text("Refund by mail")
    assert not SearchQuery.objects.exists()
    box.press("ArrowDown")
    with page.expect_request("**/search/opened/"):
        box.press("Enter")
    wait_until(SearchClick.objects.exists, "what was opened")
    assert SearchClick.objects.get().title == "Refund by mail"


def test_a_misspelt_word_leads_to_what_was_meant(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/search/?q=refnud+zzqqy")
    link = page.get_by_text("Did you mean").get_by_role("link")
    expect(link).to_have_text("Refund zzqqy")
    assert violations(page) == []
    link.click()
    expect(page.get_by_role("link", name="Refund by mail").first).to_be_visible()
    assert "q=Refund" in page.url
