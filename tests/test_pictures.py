"""Pictures are written anew: pixels stay, everything beside them goes, nothing else gets in."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from articles.rendering import render_article
from articles.writing import pictures
from articles.writing.pictures import PictureError, read_picture
from tests.import_folders import picture

pytestmark = pytest.mark.usefixtures("media")

SECRET = b"somebody's home"


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    target = io.BytesIO()
    image.save(target, format=kind, **options)
    return target.getvalue()


def photograph(kind: str = "JPEG", orientation: int = 6) -> bytes:
    image = Image.new("RGB", (40, 20), "teal")
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    exif[0x0112] = orientation
    return encoded(image, kind, exif=exif)


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "PNG"])
def test_what_a_camera_notes_is_gone_and_the_picture_upright(kind: str) -> None:
    original = photograph(kind)
    assert SECRET in original
    found = read_picture(original)

    assert SECRET not in found.data
    assert not decoded(found.data).getexif()
    assert (found.width, found.height) == (20, 40)


def test_texts_and_what_hangs_on_behind_are_gone() -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", SECRET.decode())
    data = encoded(Image.new("RGB", (4, 4)), "PNG", pnginfo=notes)
    found = read_picture(data + b"<script>alert(1)</script>")

    assert SECRET not in found.data
    assert b"<script>" not in found.data


def test_colours_keep_their_profile_and_their_transparency() -> None:
    profile = b"a profile"
    found = read_picture(encoded(Image.new("RGB", (4, 4)), "PNG", icc_profile=profile))
    assert decoded(found.data).info["icc_profile"] == profile

    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert decoded(read_picture(encoded(clear, "PNG")).data).convert("RGBA").getpixel((0, 0)) == (
        255,
        0,
        0,
        0,
    )
    palette = Image.new("P", (4, 4))
    data = encoded(palette, "GIF", transparency=0)
    pixel = decoded(read_picture(data).data).convert("RGBA").getpixel((0, 0))
    assert isinstance(pixel, tuple)
    assert pixel[3] == 0


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_what_moves_goes_on_moving(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=70, loop=0)
    moving = decoded(read_picture(data).data)

    assert getattr(moving, "n_frames", 1) == 3
    moving.load()
    assert moving.info["duration"] == 70


def test_a_large_picture_becomes_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LONGEST_SIDE", 100)
    found = read_picture(encoded(Image.new("RGB", (400, 200)), "JPEG"))
    assert (found.width, found.height) == (100, 50)


def test_the_frames_of_an_animation_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 100)
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(PictureError, match="too many pixels"):
        read_picture(data)


def hostile() -> Iterator[bytes]:
    yield b""
    yield b"GIF89a<script>alert(1)</script>"
    yield b"%PDF-1.7"
    yield b"<html><script>alert(1)</script></html>"
    yield picture()[:40]
    yield encoded(Image.new("RGB", (4, 4)), "BMP")
    yield encoded(Image.new("RGB", (4, 4)), "TIFF")


@pytest.mark.parametrize("data", list(hostile()))
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(PictureError, match="no image of a known kind"):
        read_picture(data)


@pytest.mark.parametrize(
    "data", [b"<svg onload='alert(1)'/>", b"\xef\xbb\xbf <?xml version='1.0'?><svg/>"]
)
def test_svg_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(PictureError, match="SVG is not allowed"):
        read_picture(data)


def test_the_same_picture_is_kept_once(media: Path) -> None:
    found = read_picture(picture())
    assert found.store()
    assert not read_picture(picture()).store()
    assert (media / found.name).read_bytes() == found.data


def test_a_page_reserves_the_place_of_a_picture() -> None:
    found = read_picture(encoded(Image.new("RGB", (30, 20)), "PNG"))
    found.store()
    html = render_article(f"![A button]({found.url})").html
    assert f'<img src="{found.url}" alt="A button" width="30" height="20" loading="lazy"' in html
