"""Pictures: checked by Pillow, and copied to media under a name made of their content.

What is no image of an allowed kind, SVG among them, never reaches the site: it could
hold scripts.
"""

from __future__ import annotations

import hashlib
import io
import posixpath
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image

from articles.importing.report import CannotImportError
from articles.importing.sources import Source

MAX_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 50_000_000
FOLDER = "articles"
_ENDINGS = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp", "AVIF": "avif"}
_ROOTS = ("", "static", "public", "assets")
"""Where the common site generators keep what pages address from the root."""


class Pictures:
    """The pictures of one source. Each is looked at once; `copied` counts the new ones."""

    def __init__(self, source: Source, *, dry_run: bool) -> None:
        self._source = source
        self._dry_run = dry_run
        self._known: dict[str, str | CannotImportError] = {}
        self.copied = 0

    def url(self, folder: str, address: str) -> str:
        """The address on this site of a picture that a file in `folder` shows.

        Raises `CannotImportError` when it is missing or refused.
        """
        path = next((path for path in _candidates(folder, address) if path in self._source), None)
        if path is None:
            raise CannotImportError("not among the files")
        if path not in self._known:
            try:
                self._known[path] = self._stored(path)
            except CannotImportError as error:
                self._known[path] = error
        known = self._known[path]
        if isinstance(known, CannotImportError):
            raise known
        return known

    def _stored(self, path: str) -> str:
        if PurePosixPath(path).suffix.lower() == ".svg":
            raise CannotImportError("SVG is not allowed: it can hold scripts")
        data = self._source.read(path)
        name = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:32]}.{checked_ending(data)}"
        if not self._dry_run and not default_storage.exists(name):
            default_storage.save(name, ContentFile(data))
            self.copied += 1
        return default_storage.url(name)


def checked_ending(data: bytes) -> str:
    """The file ending for what the bytes are, whatever their file was called.

    Raises `CannotImportError` for what is no image, or too large a one.
    """
    if len(data) > MAX_BYTES:
        raise CannotImportError(f"larger than {MAX_BYTES // 1024 // 1024} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=list(_ENDINGS)) as picture:
                width, height = picture.size
                ending = _ENDINGS[picture.format or ""]
                picture.verify()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise CannotImportError("too many pixels") from error
    except Exception as error:
        # Pillow's decoders raise whatever their formats lead them to, on hostile bytes above all.
        raise CannotImportError(f"no image of a known kind ({', '.join(_ENDINGS)})") from error
    if width * height > MAX_PIXELS:
        raise CannotImportError("too many pixels")
    return ending


def _candidates(folder: str, address: str) -> Iterator[str]:
    """Where a picture may lie: beside its page, or below the site's root."""
    path = unquote(address.split("?")[0].split("#")[0]).removeprefix("@site/")
    places = _ROOTS if path.startswith("/") else (folder, *_ROOTS)
    for place in places:
        yield posixpath.normpath(posixpath.join(place, path.lstrip("/")))
