"""Pictures of articles: decoded, written anew by Pillow, and stored under their content's name.

What a camera or an editor wrote beside the pixels (place, person, comments, a thumbnail) is
gone, and whatever else the bytes held is no more: only pixels are taken over. What is no
image of an allowed kind, SVG among them, never reaches the site: it could hold scripts.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image, ImageOps, ImageSequence

FOLDER = "articles"
MAX_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 50_000_000
"""Of all frames together."""
LONGEST_SIDE = 2_560
"""Pixels; a larger picture is made smaller."""

ENDINGS = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp", "AVIF": "avif"}
_SAVING: dict[str, dict[str, Any]] = {
    "PNG": {"optimize": True},
    "JPEG": {"quality": 88, "optimize": True, "progressive": True},
    "GIF": {},
    "WEBP": {"quality": 88},
    "AVIF": {"quality": 75},
}
_SVG_BEGINNINGS = (b"<svg", b"<?xml", b"<!doctype svg")


class PictureError(ValueError):
    """The bytes are no picture that the site takes; the message says why, for a person."""


@dataclass(frozen=True)
class Picture:
    """A picture ready to be stored. `name` is below the media folder."""

    name: str
    width: int
    height: int
    data: bytes

    @property
    def url(self) -> str:
        return default_storage.url(self.name)

    def store(self) -> bool:
        """Whether it was new: the same picture is kept once."""
        if default_storage.exists(self.name):
            return False
        default_storage.save(self.name, ContentFile(self.data))
        return True


def read_picture(data: bytes) -> Picture:
    """The picture in `data`, whatever its file was called, written anew.

    Raises `PictureError` for what is no image of an allowed kind, or too large a one.
    """
    if len(data) > MAX_BYTES:
        raise PictureError(f"larger than {MAX_BYTES // 1024 // 1024} MB")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:12].lower().startswith(_SVG_BEGINNINGS):
        raise PictureError("SVG is not allowed: it can hold scripts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            # What is damaged beside the pixels, such as its EXIF, is not taken over anyway.
            warnings.simplefilter("ignore", UserWarning)
            return _rewritten(data)
    except PictureError:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise PictureError("too many pixels") from error
    except Exception as error:
        # Pillow's decoders raise whatever their formats lead them to, on hostile bytes above all.
        raise PictureError(f"no image of a known kind ({', '.join(ENDINGS)})") from error


def _rewritten(data: bytes) -> Picture:
    with Image.open(io.BytesIO(data), formats=list(ENDINGS)) as picture:
        # A telephone's JPEG with a depth map or a second view in it says that it is an MPO.
        kind = "JPEG" if picture.format == "MPO" else str(picture.format)
        frames = 1 if kind == "JPEG" else getattr(picture, "n_frames", 1)
        if picture.width * picture.height * frames > MAX_PIXELS:
            raise PictureError("too many pixels")
        written = _animation(picture, kind) if frames > 1 else _still(picture, kind)
    with Image.open(io.BytesIO(written), formats=[kind]) as result:
        width, height = result.size
    name = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:32]}.{ENDINGS[kind]}"
    return Picture(name, width, height, written)


def _still(picture: Image.Image, kind: str) -> bytes:
    upright = ImageOps.exif_transpose(picture)
    if max(upright.size) > LONGEST_SIDE:
        upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    return _saved([_only_pixels(upright)], kind, icc_profile=picture.info.get("icc_profile"))


def _animation(picture: Image.Image, kind: str) -> bytes:
    frames, durations = [], []
    for frame in ImageSequence.Iterator(picture):
        pixels = frame.convert("RGBA")  # which reads the frame, and so its duration
        durations.append(frame.info.get("duration", 100))
        frames.append(_only_pixels(pixels))
    loop = picture.info.get("loop", 0)
    return _saved(frames, kind, save_all=True, duration=durations, loop=loop)


def _only_pixels(picture: Image.Image) -> Image.Image:
    """Without what is noted beside them, but for what a palette's transparency needs."""
    transparency = picture.info.get("transparency")
    picture.info = {} if transparency is None else {"transparency": transparency}
    return picture


def _saved(frames: Sequence[Image.Image], kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    first, *others = frames
    if others:
        options["append_images"] = others
    given = {name: value for name, value in options.items() if value is not None}
    first.save(target, format=kind, **_SAVING[kind], **given)
    return target.getvalue()
