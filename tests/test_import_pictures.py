"""Pictures are checked, copied under the name of their content, and never lost silently."""

from __future__ import annotations

import io
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from articles.writing import pictures
from tests.import_folders import Content, import_files, imported, messages, picture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def body_of(folder: Path, text: str, files: dict[str, Content]) -> str:
    import_files(folder, {"help/page.md": text, **files})
    return imported("help/page.md").body


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("a.png", "help/a.png"),
        ("./img/a%20b.png", "help/img/a b.png"),
        ("<img/a b.png>", "help/img/a b.png"),
        ("../a.png", "a.png"),
        ("/img/a.png", "static/img/a.png"),
        ("/img/a.png", "img/a.png"),
        ("img/a.png", "public/img/a.png"),
        ("@site/static/a.png", "static/a.png"),
        ("a.png?raw=true", "help/a.png"),
    ],
)
def test_a_picture_is_copied_to_media(tmp_path: Path, media: Path, address: str, file: str) -> None:
    body = body_of(tmp_path / "in", f"![The button]({address})", {file: picture()})

    match = re.fullmatch(r"!\[The button\]\(/media/(articles/[0-9a-f]{32}\.png)\)", body)
    assert match
    with Image.open(media / match[1]) as stored, Image.open(io.BytesIO(picture())) as given:
        assert stored.tobytes() == given.tobytes()


@pytest.mark.parametrize(
    ("kind", "ending"), [("PNG", "png"), ("JPEG", "jpg"), ("GIF", "gif"), ("WEBP", "webp")]
)
def test_what_the_bytes_are_decides_the_ending(tmp_path: Path, kind: str, ending: str) -> None:
    body = body_of(tmp_path, "![x](a.png)", {"help/a.png": picture(kind)})

    assert body.endswith(f".{ending})")


def test_the_same_picture_is_stored_once_and_counted_once(tmp_path: Path, media: Path) -> None:
    files: dict[str, Content] = {
        "a.md": "![x](1.png) ![y](2.png)",
        "1.png": picture(),
        "2.png": picture(),
        "unused.png": picture(colour="blue"),
    }
    first = import_files(tmp_path / "in", files)
    second = import_files(tmp_path / "in", files)

    assert (first.images, second.images) == (1, 0)
    assert len(list((media / "articles").iterdir())) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<img alt="A" src="a.png">',
        "![A][pic]\n\n[pic]: a.png",
        "![A][]\n\n[A]: a.png",
        "![A] ![b]\n\n[A]: a.png",
        '[![A](a.png "A title")](https://example.com)',
        "[A](a.png)",
    ],
)
def test_pictures_are_found_however_they_are_written(tmp_path: Path, text: str) -> None:
    body = body_of(tmp_path, text, {"help/a.png": picture()})

    assert "(/media/articles/" in body
    assert "a.png" not in body


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def too_many_pixels(width: int, height: int) -> bytes:
    """A PNG that claims to be large."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    crc = struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + crc + picture()[33:]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("x.svg", SVG, "SVG is not allowed"),
        ("x.png", SVG, "SVG is not allowed"),
        ("x.png", b"<html><script>alert(1)</script>", "no image of a known kind"),
        ("x.png", picture()[:20], "no image of a known kind"),
        ("x.png", picture("BMP"), "no image of a known kind"),
        ("x.png", too_many_pixels(8_000, 8_000), "too many pixels"),
        ("x.png", too_many_pixels(12_000, 12_000), "too many pixels"),
        ("x.png", too_many_pixels(60_000, 60_000), "too many pixels"),
        ("y.png", b"", "x.png: not among the files"),
    ],
)
def test_what_may_not_be_shown_leaves_its_alternative_text(
    tmp_path: Path, media: Path, name: str, data: bytes, reason: str
) -> None:
    wanted = "x.svg" if name == "x.svg" else "x.png"
    report = import_files(
        tmp_path / "in", {"a.md": f"Click\n\n![The\nbutton]({wanted})\n![]({wanted})", name: data}
    )

    assert imported("a.md").body.rstrip() == "Click\n\n*The button*"
    assert reason in messages(report)[0]
    assert report.failures == 0
    assert not list(media.iterdir())


def test_a_picture_larger_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MAX_BYTES", 1024 * 1024)
    report = import_files(tmp_path, {"a.md": "![x](x.png)", "x.png": bytes(1024 * 1024 + 1)})

    assert messages(report) == ["a.md: x.png: larger than 1 MB"]


def test_pictures_of_other_sites_and_in_code_stay(tmp_path: Path) -> None:
    text = "![x](https://img.example/a.png) `![x](a.png)`"

    assert body_of(tmp_path, text, {}) == text


def test_an_imported_picture_is_shown_on_the_page(tmp_path: Path, client: Any) -> None:
    import_files(tmp_path / "in", {"a.md": "![The button](a.png)", "a.png": picture()})
    article = imported("a.md")
    source = re.search(r"\((/media/[^)]+)\)", article.body)
    assert source

    assert (
        f'<img src="{source[1]}" alt="The button"'
        in client.get(article.get_absolute_url()).content.decode()
    )
    response = client.get(source[1])
    assert response.status_code == 200
    assert response["Content-Type"] == "image/png"
