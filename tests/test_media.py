"""Uploaded and imported files: images are shown, everything else is a download, nothing runs."""

from pathlib import Path

import pytest
from django.test import Client

from helpcenter import csp
from helpcenter import media as module


@pytest.mark.parametrize(
    ("name", "kind"), [("a.png", "image/png"), ("b.jpeg", "image/jpeg"), ("c.svg", "image/svg+xml")]
)
def test_images_are_shown_with_nothing_in_them_able_to_run(
    client: Client, media: Path, name: str, kind: str
) -> None:
    (media / name).write_bytes(b"an image")
    response = client.get(f"/media/{name}")
    assert response.content == b"an image"
    assert response["Content-Type"] == kind
    assert "Content-Disposition" not in response
    assert response[csp.HEADER] == module.POLICY
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["page.html", "script.js", "archive.zip", "nameless"])
def test_anything_else_is_a_download(client: Client, media: Path, name: str) -> None:
    (media / name).write_text("<script>alert(1)</script>")
    response = client.get(f"/media/{name}")
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == "attachment"


@pytest.mark.parametrize(
    "path",
    ["absent.png", "../secret.png", "%2e%2e/secret.png", "folder", "a%00b.png", "/etc/hosts"],
)
def test_nothing_outside_the_folder_is_found(
    client: Client, db: None, media: Path, path: str
) -> None:
    (media / "folder").mkdir()
    (media.parent / "secret.png").write_text("secret")
    assert client.get(f"/media/{path}").status_code == 404


def test_an_unchanged_file_is_not_sent_again(client: Client, media: Path) -> None:
    (media / "a.png").write_bytes(b"an image")
    modified = client.get("/media/a.png")["Last-Modified"]
    response = client.get("/media/a.png", headers={"if-modified-since": modified})
    assert response.status_code == 304


def test_it_is_only_read(client: Client, media: Path) -> None:
    (media / "a.png").write_bytes(b"an image")
    assert client.post("/media/a.png").status_code == 405
