"""Writing an article in a real browser: toolbar, keyboard, preview, pictures, links."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from articles.models import Article
from tests.browser.accessibility import violations
from tests.browser.conftest import NewPage
from tests.factories import make_article
from tests.import_folders import picture
from tests.processes import web_process

PASSWORD = "a password of tests"
ARRIVES = """(area, [event, transfer, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const items = new DataTransfer();
  items.items.add(new File([bytes], "shot.png", { type: "image/png" }));
  const kind = event === "paste" ? ClipboardEvent : DragEvent;
  area.dispatchEvent(new kind(event, { [transfer]: items, bubbles: true, cancelable: true }));
}"""


def signed_in(page: Page, staff: User) -> Page:
    # The site's process knows none of the quick hashes that tests use.
    staff.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    staff.save()
    page.set_default_timeout(30_000)
    page.goto("/admin/login/?next=/admin/articles/article/add/")
    page.get_by_label("Username").fill(staff.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    text_of(page).wait_for()
    return page


@pytest.fixture
def new_site(transactional_db: None, collected_assets: None) -> Iterator[str]:
    """A process that has not seen the content types of an earlier test: what is logged
    names them, and the tables were emptied since."""
    with web_process() as url:
        yield url


@pytest.fixture
def page(new_page: NewPage, staff: User) -> Page:
    """The form of a new article."""
    return signed_in(new_page(), staff)


def text_of(page: Page) -> Locator:
    return page.locator("#id_body")


def preview_of(page: Page) -> Locator:
    return page.locator("[data-preview]")


def test_the_preview_follows_what_is_written(page: Page) -> None:
    text_of(page).fill("## Steps\n\n:::tip\nPress **Save**.\n:::")
    expect(preview_of(page).get_by_role("heading", name="Steps")).to_be_visible()
    expect(preview_of(page).locator(".callout-tip strong")).to_have_text("Save")

    page.get_by_role("button", name="Preview", exact=True).click()
    expect(preview_of(page)).to_be_hidden()
    page.reload()
    expect(text_of(page)).to_be_visible()
    expect(preview_of(page)).to_be_hidden()


def test_the_keyboard_does_what_the_buttons_do(page: Page) -> None:
    area = text_of(page)
    area.fill("Save now")
    area.press("Control+a")
    area.press("Control+b")
    expect(area).to_have_value("**Save now**")
    area.press("Control+b")
    expect(area).to_have_value("Save now")
    area.press("Control+z")
    expect(area).to_have_value("**Save now**")

    area.fill("")
    page.get_by_role("button", name="Steps").click()
    area.press_sequentially("One")
    area.press("Enter")
    area.press_sequentially("Two")
    area.press("Enter")
    area.press("Enter")
    expect(area).to_have_value("1. One\n2. Two\n")


def test_the_toolbar_is_one_stop_and_arrows_go_through_it(page: Page) -> None:
    page.get_by_role("button", name="Bold").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Italic")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Preview", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(text_of(page)).to_be_focused()


def test_pictures_are_chosen_pasted_and_dropped_and_ctrl_s_saves(
    new_site: str, new_page: NewPage, staff: User, tmp_path: Path
) -> None:
    page = signed_in(new_page(base_url=new_site), staff)
    file = tmp_path / "Settings page.png"
    file.write_bytes(picture(size=(60, 40)))
    page.locator("[data-file]").set_input_files(file)
    image = preview_of(page).locator("img")
    expect(image).to_have_attribute("width", "60", timeout=20_000)
    assert text_of(page).input_value().startswith("![Settings page](/media/articles/")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 60

    data = base64.b64encode(picture()).decode()
    for event, transfer in (("paste", "clipboardData"), ("drop", "dataTransfer")):
        text_of(page).fill("")
        expect(image).to_have_count(0)
        text_of(page).evaluate(ARRIVES, [event, transfer, data])
        expect(image).to_have_attribute("alt", "shot", timeout=20_000)

    page.get_by_label("Title").fill("Plans")
    text_of(page).fill("Three plans.")
    text_of(page).press("Control+s")
    expect(page.get_by_text("was added successfully")).to_be_visible(timeout=20_000)
    assert Article.objects.get().body == "Three plans."


def test_a_refused_picture_says_why_and_leaves_the_text(new_page: NewPage, staff: User) -> None:
    page = signed_in(new_page(expected=("400",)), staff)
    text_of(page).fill("Before.")
    page.locator("[data-file]").set_input_files(
        {"name": "x.png", "mimeType": "image/png", "buffer": b"<svg/>"}
    )
    expect(page.locator(".editor-status")).to_contain_text("SVG is not allowed")
    expect(text_of(page)).to_have_value("Before.")

    text_of(page).fill("Before. And after.")
    expect(page.locator("[data-preview]")).to_contain_text("And after.")
    expect(page.locator(".editor-status")).to_contain_text("SVG is not allowed")


def test_a_link_is_found_by_typing(page: Page) -> None:
    make_article("Reset your password", body="## By e-mail\n\nx")
    text_of(page).press_sequentially("See ")
    text_of(page).press("Control+k")
    query = page.get_by_label("Link to an article, or an address")
    expect(query).to_be_focused()
    query.fill("reset")
    expect(page.get_by_role("option", name="By e-mail")).to_be_visible()
    query.press("ArrowDown")
    query.press("Enter")
    expect(text_of(page)).to_have_value("See [By e-mail](/articles/reset-your-password/#by-e-mail)")
    expect(text_of(page)).to_be_focused()


def test_a_tab_with_unsaved_text_asks_before_it_closes(page: Page) -> None:
    text_of(page).press_sequentially("Three plans.")
    asked: list[str] = []

    def answer(dialog: object) -> None:
        asked.append(getattr(dialog, "type", ""))
        dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", answer)
    page.goto("/admin/")
    assert asked == ["beforeunload"]


def test_a_double_click_sends_once(page: Page) -> None:
    page.get_by_label("Title").fill("Plans")
    prevented = page.evaluate("""() => {
        const button = document.querySelector("[name=_continue]"), prevented = [];
        addEventListener("submit", (event) => {
            prevented.push(event.defaultPrevented);
            event.preventDefault();
        });
        button.click();
        button.click();
        return prevented;
    }""")
    assert prevented == [False, True]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_the_editor_is_accessible(
    new_page: NewPage, staff: User, screenshots: Path, dark: bool, narrow: bool
) -> None:
    # A picture of the whole page is taken with an inline style of the browser driver's own.
    page = signed_in(new_page(dark=dark, narrow=narrow, bypass_csp=True), staff)
    text_of(page).fill("## Steps\n\n1. Open **Settings**.\n2. Press `Save`.\n\n:::note\nDone.\n:::")
    expect(preview_of(page).get_by_role("heading", name="Steps")).to_be_visible()
    ours = [line for line in violations(page) if "editor" in line or "preview" in line]
    assert not ours, ours
    assert page.evaluate("document.querySelector('.editor').scrollWidth <= innerWidth")
    page.screenshot(
        path=screenshots
        / f"editor-{'dark' if dark else 'light'}-{'390' if narrow else '1280'}.png",
        full_page=True,
    )

    text_of(page).press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    dialog = [line for line in violations(page) if "editor" in line]
    assert not dialog, dialog
