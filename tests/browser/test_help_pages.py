"""A visitor finds an article, reads it and says whether it helped, with and without scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from PIL import Image
from playwright.sync_api import Page, Request, expect

from articles import indexing, publishing
from articles.models import Article, ArticleFeedback, Status
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
    expect(box).to_have_attribute("aria-activedescendant", "~search-large-suggestions-0")
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
    "archived": "/articles/old-plan/",
    "chat": "/chat/",
}


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_every_page_is_accessible_in_every_look(
    new_page: NewPage, articles: list[Article], screenshots: Path, look: str
) -> None:
    SiteSettings(name="Acme help", accent="#e8590c", contact_email="help@example.com").save()
    make_article("Old plan", status=Status.ARCHIVED)
    page = new_page(dark=look == "dark", narrow=look == "narrow", expected=("404", "410"))
    for name, address in ADDRESSES.items():
        page.goto(address)
        page.screenshot(path=screenshots / f"{name}-{look}.png")
        assert violations(page) == [], name
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{name} scrolls sideways"


LAYOUT_SHIFT = """() => new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shift += entry.hadRecentInput ? 0 : entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(shift)));
})"""
MOST_SHIFT = 0.02
"""Of 0.1, the most that a page may have to be called good."""


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["home", "article", "search", "pictures"])
def test_nothing_jumps_while_a_page_loads(
    new_page: NewPage, articles: list[Article], name: str, narrow: bool
) -> None:
    pictures = make_article("Pictures", body=f"{picture('a')}\n\nText.\n\n{picture('b')}\n\nEnd.")
    page = new_page(narrow=narrow)
    page.goto({**ADDRESSES, "pictures": pictures.get_absolute_url()}[name])
    page.wait_for_load_state("networkidle")
    if name == "pictures":
        loaded = "[...document.querySelectorAll('.prose img')].every((i) => i.naturalWidth === 800)"
        page.evaluate("document.querySelectorAll('.prose img')[1].scrollIntoView()")
        page.wait_for_function(loaded)
    shift = page.evaluate(LAYOUT_SHIFT)
    print(f"{name}: layout shift {shift:.4f}")
    assert shift <= MOST_SHIFT


def picture(name: str) -> str:
    """The Markdown of a picture in the site's own media."""
    folder = settings.MEDIA_ROOT / "layout"
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (800, 600), "teal").save(folder / f"{name}.png")
    return f"![A teal area](/media/layout/{name}.png)"


def test_a_page_that_was_kept_still_runs_its_scripts(
    new_page: NewPage, articles: list[Article]
) -> None:
    """A 304 must not bring a policy with a nonce that the kept page's scripts do not have."""
    page = new_page()
    statuses: list[int] = []
    address = articles[0].get_absolute_url()
    page.goto(address)
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.responseReceivedExtraInfo", lambda seen: statuses.append(seen["statusCode"]))
    page.goto("/categories/")
    page.goto(address)
    expect(page.get_by_role("button", name="Copy")).to_have_count(1)
    assert 304 in statuses
    assert page.evaluate("document.documentElement.dataset.theme") == "auto"


def test_an_article_that_moved_there_and_back_still_opens(
    new_page: NewPage, articles: list[Article]
) -> None:
    page, article = new_page(), articles[1]
    publishing.change_slug(article, "rights")
    page.goto("/articles/roles-and-rights/")
    expect(page).to_have_url(re.compile(r"/articles/rights/$"))
    publishing.change_slug(article, "roles-and-rights")
    page.goto("/articles/rights/")
    expect(page).to_have_url(re.compile(r"/articles/roles-and-rights/$"))
    expect(page.locator("h1")).to_have_text("Roles and rights")


def test_paper_has_the_article_and_nothing_to_press(
    new_page: NewPage, articles: list[Article], screenshots: Path
) -> None:
    page = new_page(dark=True)
    page.goto(articles[0].get_absolute_url())
    page.emulate_media(media="print")
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_role("heading", name="Open the settings")).to_be_visible()
    for part in (".site-header", ".contents", ".article-end", ".site-footer", ".copy-code"):
        expect(page.locator(part)).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).colorScheme") != "dark"
    assert background(page) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    page.screenshot(path=screenshots / "article-print.png", full_page=True)


def test_anchors_appear_under_the_pointer_and_the_keyboard(
    new_page: NewPage, articles: list[Article]
) -> None:
    page = new_page()
    page.goto(articles[0].get_absolute_url())
    heading = page.get_by_role("heading", name="Open the settings")
    anchor = heading.get_by_role("link")
    expect(anchor).to_have_css("opacity", "0")
    heading.hover()
    expect(anchor).to_have_css("opacity", "1")
    anchor.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#open-the-settings")


def test_a_vote_is_there_after_a_reload_and_can_be_changed(
    new_page: NewPage, articles: list[Article]
) -> None:
    page = new_page()
    page.goto(articles[0].get_absolute_url())
    page.get_by_role("button", name="No").click()
    page.get_by_label("Hard to follow").check()
    page.get_by_label("Comment").fill("Which certificate?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Send")).to_be_hidden()

    page.reload()
    no = page.get_by_role("button", name="No")
    expect(no).to_have_attribute("aria-pressed", "true")
    no.click()
    expect(page.get_by_label("Comment")).to_have_value("Which certificate?")
    expect(page.get_by_label("Hard to follow")).to_be_checked()
    assert ArticleFeedback.objects.get().comment == "Which certificate?"

    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    assert ArticleFeedback.objects.get().rating == "positive"


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
