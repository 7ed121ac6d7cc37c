"""A real browser on a real web process. Any error on a page's console fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync", "--disable-quic"),
]
WIDE = ViewportSize(width=1280, height=900)
NARROW = ViewportSize(width=390, height=844)

NewPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is missing: apt-get install chromium")
    # Playwright keeps a loop in this thread, and Django sees it; no loop of ours runs here.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def new_page(chromium: Browser, live_site: str, transactional_db: None) -> Iterator[NewPage]:
    """Makes pages, each in a fresh profile: `new_page(dark=True, narrow=True, **options)`.

    Addresses are relative to the site. `expected=[…]` are pieces of console errors that
    belong to the test.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def make(
        *,
        dark: bool = False,
        narrow: bool = False,
        expected: tuple[str, ...] = (),
        base_url: str = live_site,
        **options: Any,
    ) -> Page:
        context = chromium.new_context(
            base_url=base_url,
            viewport=NARROW if narrow else WIDE,
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)

        def note(text: str) -> None:
            if not any(piece in text for piece in expected):
                problems.append(text)

        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: note(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not problems, problems


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a test puts what it wants a person to look at; `SCREENSHOTS` names a lasting place."""
    chosen = os.environ.get("SCREENSHOTS")
    folder = tmp_path_factory.mktemp("screenshots")
    if chosen:
        folder = type(folder)(chosen)
        folder.mkdir(parents=True, exist_ok=True)
    return folder
