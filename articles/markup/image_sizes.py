"""The width and height of our own pictures, so that a page does not jump when they arrive.

Read from the file's head when a page is rendered, and remembered for as long as the file stays
the same. Of anything else, a picture of another host, a file that is gone or no picture,
nothing is known, and that is no error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.utils._os import safe_join
from PIL import Image

Size = tuple[int, int]
"""Width and height in CSS pixels, as a browser shows the picture."""

LARGEST = 20_000
_SVG_HEAD_BYTES = 4_096
_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)
"""EXIF orientations by which a browser turns a picture on its side."""

_SVG = re.compile(r"<svg\b[^>]*>", re.IGNORECASE)
_SVG_LENGTH = r"""\s%s\s*=\s*["']\s*(\d{1,5})(?:\.\d*)?(?:px)?\s*["']"""
_SVG_WIDTH = re.compile(_SVG_LENGTH % "width")
_SVG_HEIGHT = re.compile(_SVG_LENGTH % "height")
_SVG_BOX = re.compile(
    r"""\sviewBox\s*=\s*["']\s*-?[\d.]+[\s,]+-?[\d.]+[\s,]+(\d{1,5})(?:\.\d*)?[\s,]+(\d{1,5})(?:\.\d*)?\s*["']"""
)


def image_size(address: str) -> Size | None:
    """The size of the picture at this address, None where it is not ours or not known."""
    prefix = settings.MEDIA_URL
    if not prefix or not address.startswith(prefix):
        return None
    path = unquote(urlsplit(address).path)
    try:
        file = Path(safe_join(settings.MEDIA_ROOT, path.removeprefix(prefix)))
        status = file.stat()
    except (SuspiciousFileOperation, OSError, ValueError):
        return None
    return _measured(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _measured(file: Path, changed: int, length: int) -> Size | None:
    size = _of_svg(file) if file.suffix.lower() == ".svg" else _of_bitmap(file)
    return size if size and all(0 < side <= LARGEST for side in size) else None


def _of_bitmap(file: Path) -> Size | None:
    """Only the head is read: no pixel is decoded."""
    try:
        with Image.open(file) as image:
            width, height = image.size
            is_turned = image.getexif().get(_ORIENTATION) in _TURNED
    # What Pillow raises at the head of a hostile file is not limited to its own errors.
    except Exception:
        return None
    return (height, width) if is_turned else (width, height)


def _of_svg(file: Path) -> Size | None:
    with file.open("rb") as opened:
        head = opened.read(_SVG_HEAD_BYTES).decode("utf-8", "replace")
    element = _SVG.search(head)
    if element is None:
        return None
    width, height = _SVG_WIDTH.search(element[0]), _SVG_HEIGHT.search(element[0])
    if width and height:
        return int(width[1]), int(height[1])
    box = _SVG_BOX.search(element[0])
    return (int(box[1]), int(box[2])) if box else None
