"""A visitor finds an article, reads it and says whether it helped, with and without scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from articles import indexing
from articles.models import Article, ArticleFeedback
from helpcenter.models import SiteSettings
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_article, make_category

BODY = """Read this first.

> [!TIP]
> Ask your administrator.

## Open the settings

Go to **Settings** and choose *Single sign-on*. [More](/articles/roles-and-rights/).

```sh
curl -X POST https://example.com/a/very/long/path/that/goes/on/and/on/until/it/has/to/scroll
```

## Connect your identity provider

| Field | Value |
| --- | --- |
| ACS URL | Copy it |
| Entity id | Copy it |

### Okta

Paste the certificate.

""" + "\n\n".join(f"## Step {n}\n\n" + "A sentence of the article. " * 30 for n in range(1, 9))


@pytest.fixture
def articles(transactional_db: None) -> list[Article]:
    teams = make_category("Teams", description="People, roles and single sign-on.")
    made = [
        make_article("Set up single sign-on", body=BODY, category=teams, summary="With SAML 2.0."),
        make_article("Roles and rights", category=teams),
        make_article("Change your plan", category=make_category("Billing")),
    ]
    for article in made:
        indexing.index_article(article.pk)
    return made


def test_a_visitor_searches_reads_and_votes(new_page: NewPage, articles: list[Article]) -> None:
    page = new_page()
    page.goto("/")
    box = page.get_by_role("combobox", name="Search the articles")
    box.press_sequentially("ACS URL entity")
    expect(page.get_by_role("option").first).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text("found")
    box.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", "search-large-suggestions-0")
    assert violations(page) == []
    box.press("Enter")

    expect(page.get_by_role("heading", name="Set up single sign-on")).to_be_visible()
    assert page.url.endswith("#connect-your-identity-provider")
    contents = page.get_by_role("navigation", name="On this page")
    current = contents.locator("[aria-current]")
    expect(current).to_have_text("Connect your identity provider")
    contents.get_by_role("link", name="Step 6").click()
    expect(current).to_have_text("Step 6")

    page.get_by_role("button", name="No").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    page.get_by_label("Hard to follow").check()
    page.get_by_placeholder("What were you looking for").fill("Which certificate?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Send")).to_be_hidden()

    feedback = ArticleFeedback.objects.get()
    assert (feedback.rating, feedback.reason) == ("negative", "unclear")
    assert feedback.comment == "Which certificate?"


def test_everything_but_the_chat_works_without_scripts(
    new_page: NewPage, articles: list[Article]
) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/")
    page.get_by_label("Search the articles").fill("single sign-on")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Set up single sign-on").click()
    expect(page.locator("h1")).to_have_text("Set up single sign-on")

    page.get_by_role("button", name="No").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    page.get_by_label("Hard to follow").check()
    page.get_by_role("button", name="Send").click()
    assert ArticleFeedback.objects.get().reason == "unclear"

    page.goto("/chat/")
    expect(page.get_by_text("The chat needs JavaScript.")).to_be_visible()


def test_suggestions_close_and_give_way_to_the_search(
    new_page: NewPage, articles: list[Article]
) -> None:
    page = new_page()
    page.goto("/")
    box = page.get_by_role("combobox", name="Search the articles")
    box.press_sequentially("roles")
    expect(page.get_by_role("listbox")).to_be_visible()
    box.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_value("roles")
    box.press("Enter")
    expect(page.get_by_role("heading", name="Search")).to_be_visible()
    assert page.url.endswith("/search/?q=roles")


def test_code_is_copied_with_a_button(new_page: NewPage, articles: list[Article]) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(articles[0].get_absolute_url())
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl -X POST")


def test_the_chosen_colours_are_remembered(new_page: NewPage, articles: list[Article]) -> None:
    page = new_page()
    page.goto("/")
    light = background(page)
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert background(page) != light

    page.goto(articles[0].get_absolute_url())
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert background(page) != light


def test_the_keyboard_reaches_the_content_first(new_page: NewPage, articles: list[Article]) -> None:
    page = new_page()
    page.goto(articles[0].get_absolute_url())
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


ADDRESSES = {
    "home": "/",
    "topics": "/categories/",
    "category": "/categories/teams/",
    "article": "/articles/set-up-single-sign-on/",
    "search": "/search/?q=single+sign-on",
    "nothing": "/search/?q=zzqqy",
    "missing": "/nothing/here/",
    "chat": "/chat/",
}


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_every_page_is_accessible_in_every_look(
    new_page: NewPage, articles: list[Article], screenshots: Path, look: str
) -> None:
    SiteSettings(name="Acme help", accent="#e8590c", contact_email="help@example.com").save()
    page = new_page(dark=look == "dark", narrow=look == "narrow", expected=("404",))
    for name, address in ADDRESSES.items():
        page.goto(address)
        page.screenshot(path=screenshots / f"{name}-{look}.png")
        assert violations(page) == [], name
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{name} scrolls sideways"


@pytest.mark.parametrize(
    ("name", "limit"), [("home", 40), ("article", 40), ("search", 40), ("chat", 60)]
)
def test_a_page_is_light(new_page: NewPage, articles: list[Article], name: str, limit: int) -> None:
    page = new_page()
    finished: list[Request] = []
    page.on("requestfinished", lambda request: finished.append(request))
    page.goto(ADDRESSES[name])
    page.wait_for_load_state("networkidle")

    kilobytes = sum(map(transferred, finished)) / 1024
    print(f"{name}: {kilobytes:.1f} KB in {len(finished)} requests")
    assert kilobytes <= limit


def transferred(request: Request) -> int:
    """Bytes of the response as they came over the wire, compressed, headers and all."""
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


def background(page: Page) -> str:
    color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return color
