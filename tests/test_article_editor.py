"""What the editor asks the server for: the preview, pictures, places to link to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from articles.admin import editor as module
from articles.models import Article, Status
from tests.factories import make_article
from tests.import_folders import picture
from tests.writing import article_url, colleague, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def sent(client: Client, data: bytes, name: str = "shot.png") -> Any:
    return client.post(article_url("upload"), {"file": SimpleUploadedFile(name, data)})


def test_the_preview_is_what_the_site_would_show(staff_client: Client) -> None:
    response = staff_client.post(
        article_url("render"),
        {"body": "## Steps\r\n\r\n:::tip\r\n**Save**\r\n:::\r\n\r\n<script>x</script>"},
    )
    html = response.content.decode()
    assert '<h2 id="steps">' in html
    assert '<div class="callout callout-tip"' in html
    assert "<script>" not in html


def test_an_endless_text_has_no_preview(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_TEXT", 10)
    response = staff_client.post(article_url("render"), {"body": "x" * 11})
    assert response.status_code == 413
    assert "too long" in response.content.decode()


def test_a_picture_is_stored_and_logged(staff_client: Client, media: Path) -> None:
    response = sent(staff_client, picture(size=(12, 8)))

    assert response.status_code == 201
    answer = response.json()
    assert (answer["width"], answer["height"]) == (12, 8)
    assert staff_client.get(answer["url"])["Content-Type"] == "image/png"
    entry = LogEntry.objects.get()
    assert entry.change_message == "Uploaded a picture."
    assert entry.object_repr in answer["url"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<svg/>", "SVG is not allowed"),
        (b"<html><script>alert(1)</script>", "no image of a known kind"),
        (picture("BMP"), "no image of a known kind"),
    ],
)
def test_what_is_no_picture_is_refused_and_leaves_nothing(
    staff_client: Client, media: Path, data: bytes, reason: str
) -> None:
    response = sent(staff_client, data)
    assert response.status_code == 400
    assert reason in response.json()["error"]
    assert not list(media.iterdir())
    assert not LogEntry.objects.exists()


def test_a_large_file_is_not_even_read(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    assert sent(staff_client, picture()).status_code == 413


def test_a_request_without_a_file_says_so(staff_client: Client) -> None:
    response = staff_client.post(article_url("upload"))
    assert response.status_code == 400
    assert response.json() == {"error": "No file was sent."}


def test_links_lead_to_articles_and_their_headings(staff_client: Client) -> None:
    make_article("Reset your password", body="## By e-mail\n\nx\n\n#### Deep\n\ny")
    make_article("Passwords in teams", publish=False)
    make_article("Password history", status=Status.ARCHIVED)
    make_article("Invoices")
    targets = staff_client.get(article_url("link_targets"), {"q": "password"}).json()["targets"]

    assert [(t["title"], t["heading"], t["url"], t["status"]) for t in targets] == [
        ("Reset your password", "", "/articles/reset-your-password/", "published"),
        (
            "Reset your password",
            "By e-mail",
            "/articles/reset-your-password/#by-e-mail",
            "published",
        ),
        ("Passwords in teams", "", "/articles/passwords-in-teams/", "draft"),
        ("Passwords in teams", "How to", "/articles/passwords-in-teams/#how-to", "draft"),
    ]


def test_links_offer_the_live_headings_of_an_article_in_work(staff_client: Client) -> None:
    article = make_article("Plans", body="## Prices\n\nx")
    Article.objects.filter(pk=article.pk).update(body="## Tariffs\n\nx")
    targets = staff_client.get(article_url("link_targets"), {"q": ""}).json()["targets"]
    assert [target["heading"] for target in targets] == ["", "Prices"]


@pytest.mark.parametrize(
    ("permissions", "allowed"),
    [(["view_article"], False), (["add_article"], True), (["change_article"], True)],
)
def test_only_writers_use_the_editor(permissions: list[str], allowed: bool) -> None:
    client = signed_in(colleague("someone", *permissions))
    responses = [
        client.post(article_url("render"), {"body": "x"}),
        sent(client, picture()),
        client.get(article_url("link_targets")),
    ]
    assert [response.status_code == 403 for response in responses] == [not allowed] * 3


def test_the_token_of_the_form_is_required(staff: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(staff)
    assert client.post(article_url("render"), {"body": "x"}).status_code == 403
    assert sent(client, picture()).status_code == 403
    assert client.get(article_url("render")).status_code == 405


def test_visitors_are_sent_to_sign_in(client: Client) -> None:
    response = client.post(article_url("render"), {"body": "x"})
    assert response.status_code == 302
    assert "login" in response["Location"]


def test_without_a_script_the_form_is_a_text_area(staff_client: Client) -> None:
    page = staff_client.get(article_url("add")).content.decode()
    assert '<textarea name="body"' in page
    assert 'role="toolbar" aria-label="Formatting" aria-controls="id_body" hidden' in page
    assert '<script src="/static/js/admin/editor.js" type="module"></script>' in page
