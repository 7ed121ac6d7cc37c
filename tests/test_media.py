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


ACTIVE = [
    *("page.html", "page.HTM", "page.xhtml", "page.xml", "page.xsl", "page.svgz", "page.shtml"),
    *(
        "page.mht",
        "page.js",
        "page.mjs",
        "page.css",
        "page.json",
        "page.pdf",
        "page.swf",
        "page.hta",
    ),
    *("page.wasm", "page.webmanifest", "page.vtt", "page.txt", "page.png.html", "page.svg.xml"),
    *("page.html.gz", "page.appcache", "page.rdf", "page.htc", "page.php", "page", ".htaccess"),
]


@pytest.mark.parametrize("name", ACTIVE)
def test_active_content_is_never_shown_as_what_it_is(
    client: Client, media: Path, name: str
) -> None:
    (media / name).write_text("<script>alert(1)</script>")
    response = client.get(f"/media/{name}")
    shown = "Content-Disposition" not in response
    assert response["Content-Type"] in module.SHOWN_TYPES | {"application/octet-stream"}
    assert shown is (response["Content-Type"] != "application/octet-stream")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response[csp.HEADER] == module.POLICY
    assert "sandbox" in response[csp.HEADER].split("; ")


def test_what_an_image_holds_does_not_make_it_a_page(client: Client, media: Path) -> None:
    for name in ("a.png", "a.svg", "a.gif"):
        (media / name).write_text("<html><script>alert(1)</script></html>")
        response = client.get(f"/media/{name}", headers={"accept": "text/html"})
        assert response["Content-Type"].startswith("image/")
        assert response["X-Content-Type-Options"] == "nosniff"


def test_no_parameter_changes_how_a_file_is_served(client: Client, media: Path) -> None:
    (media / "a.html").write_text("<script>alert(1)</script>")
    asked = {"type": "text/html", "content_type": "text/html", "inline": "1", "download": "0"}
    response = client.get("/media/a.html", asked)
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == "attachment"
