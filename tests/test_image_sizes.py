"""Pictures say how large they are, so that the page keeps room for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from articles.markup.image_sizes import image_size
from articles.rendering import render_article


def picture(path: Path, size: tuple[int, int], **options: Any) -> None:
    Image.new("RGB", size).save(path, **options)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.gif", "a.webp", "with space.png"])
def test_a_picture_of_ours_has_its_size_on_the_page(media: Path, name: str) -> None:
    picture(media / name, (640, 480))
    address = f"/media/{name.replace(' ', '%20')}"
    assert f'src="{address}" alt="A" width="640" height="480" loading="lazy"' in (
        render_article(f"![A]({address})").html
    )


def test_a_picture_taken_upright_is_as_high_as_it_is_shown(media: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    picture(media / "phone.jpg", (640, 480), exif=exif)
    assert image_size("/media/phone.jpg") == (480, 640)


@pytest.mark.parametrize(
    ("head", "size"),
    [
        ('<svg width="120" height="80">', (120, 80)),
        ("<?xml version='1.0'?>\n<svg xmlns='x' height='80px' width='120.5px'>", (120, 80)),
        ('<svg viewBox="0 0 300 200.5">', (300, 200)),
        ('<svg width="100%" height="100%" viewBox="0,0,300,200">', (300, 200)),
        ('<svg width="100%" height="100%">', None),
        ('<svg width="0" height="5">', None),
        ('<svg width="99999" height="99999">', None),
        ("not a picture", None),
        ("<svg" + " " * 5_000 + ">", None),
    ],
)
def test_a_drawing_says_its_size(media: Path, head: str, size: tuple[int, int] | None) -> None:
    (media / "a.svg").write_text(head)
    assert image_size("/media/a.svg") == size


def test_a_changed_file_has_its_new_size(media: Path) -> None:
    picture(media / "a.png", (10, 20))
    assert image_size("/media/a.png?v=1#x") == (10, 20)
    picture(media / "a.png", (3_000, 400))
    assert image_size("/media/a.png") == (3_000, 400)


@pytest.mark.parametrize(
    "address",
    [
        "/media/missing.png",
        "/media/../secret.png",
        "/media/%2e%2e/secret.png",
        "/media/%00.png",
        "/media/",
        "/media/" + "x" * 500,
        "https://example.com/media/ours.png",
        "/static/a.png",
        "a.png",
        "",
    ],
)
def test_of_what_is_not_ours_nothing_is_known(media: Path, address: str) -> None:
    picture(media.parent / "secret.png", (10, 10))
    picture(media / "ours.png", (10, 10))
    assert image_size(address) is None


@pytest.mark.parametrize(
    "content", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF", b"<html>"]
)
def test_a_broken_file_is_no_error(media: Path, content: bytes) -> None:
    (media / "a.png").write_bytes(content)
    assert image_size("/media/a.png") is None
    assert 'src="/media/a.png" alt="A" loading="lazy"' in render_article("![A](/media/a.png)").html


def test_a_picture_that_claims_to_be_huge_is_not_measured(media: Path) -> None:
    header = (
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x0f\xff\xff\x00\x0f\xff\xff\x08\x02\x00\x00\x00"
    )
    (media / "a.png").write_bytes(header + b"\x00\x00\x00\x00")
    assert image_size("/media/a.png") is None
