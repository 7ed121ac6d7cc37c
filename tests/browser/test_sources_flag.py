"""The optional flag `consulted`: old and new clients with answers of old and new servers.

The answers are recorded ones of both shapes. The previous client is the chat as it was
before the flag, frozen in `previous_client`. None hides a source, none kills a link.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from articles.models import Article
from tests.browser.conftest import NewPage
from tests.factories import make_article

HERE = Path(__file__).parent
SOURCES = ["1Set up single sign-on", "Roles and rights"]
LISTED = "Change your plan"


@pytest.fixture
def articles(transactional_db: None) -> list[Article]:
    titles = ["Set up single sign-on", "Roles and rights", LISTED]
    return [make_article(title) for title in titles]


@pytest.fixture(params=["current client", "previous client"])
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["current", "previous"])
def answer(request: pytest.FixtureRequest) -> dict[str, Any]:
    recorded = HERE / "payloads" / f"{request.param}.json"
    return {"shape": request.param, **json.loads(recorded.read_text(encoding="utf-8"))}


@pytest.fixture
def page(new_page: NewPage, articles: list[Article], client: str, answer: dict[str, Any]) -> Page:
    """The chat in one of the two clients, with a server that gives one of the two answers."""
    page = new_page()
    if client == "previous client":
        for name in ("sources", "turn"):
            script = (HERE / "previous_client" / f"{name}.js").read_text(encoding="utf-8")
            page.route(f"**/js/{name}*.js", _giving(script, "text/javascript"))
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in answer["events"])
    page.route("**/api/v1/answers/?render=html", _giving(events, "text/event-stream"))
    conversation = answer["conversation"]
    address = f"**/api/v1/conversations/{conversation['id']}/"
    page.route(address, _giving(json.dumps(conversation), "application/json"))
    return page


def _giving(body: str, content_type: str) -> Any:
    def give(route: Route) -> None:
        route.fulfill(body=body, content_type=f"{content_type}; charset=utf-8")

    return give


def chips_of(turn: Locator) -> list[str]:
    """Number and title of each chip; what stands behind the title is for readers."""
    texts: list[str] = turn.locator(".sources .chip").evaluate_all(
        "chips => chips.map(chip => [...chip.querySelectorAll('.chip-number, .chip-title')]"
        ".map(part => part.textContent).join(''))"
    )
    return texts


def check(page: Page, client: str, shape: str) -> None:
    turn = page.locator(".turn")
    expect(turn.locator(".turn-actions")).to_be_visible()
    expect(turn.locator(".sources")).to_be_visible()
    chips = chips_of(turn)
    assert chips[:2] == SOURCES, "no source is hidden"
    knows = client == "current client" and shape == "current"
    assert chips[2:] == ([] if knows else [LISTED]), "without flag or knowledge of it: shown"

    links = turn.locator(".prose a")
    assert links.evaluate_all("links => links.map(link => link.getAttribute('href'))") == [
        "/articles/set-up-single-sign-on/#connect-your-identity-provider",
        "/articles/change-your-plan/",
    ]
    for link in turn.locator(".prose a, .sources a.chip").all():
        href = link.get_attribute("href")
        assert href is not None
        assert page.request.get(href).ok, href
    assert turn.locator(".sources a.chip").count() == len(chips), "every chip leads somewhere"


def test_an_answer_as_it_comes(page: Page, client: str, answer: dict[str, Any]) -> None:
    page.goto("/chat/")
    page.get_by_label("Your question").fill("How do I set up SSO?")
    page.keyboard.press("Enter")

    check(page, client, answer["shape"])


def test_an_answer_of_the_history(page: Page, client: str, answer: dict[str, Any]) -> None:
    page.goto(f"/chat/?conversation={answer['conversation']['id']}")

    check(page, client, answer["shape"])
