"""The pictures of an import: found beside their pages, and stored as the site's own."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from articles.importing.report import CannotImportError
from articles.importing.sources import Source
from articles.writing.pictures import PictureError, read_picture

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
        try:
            picture = read_picture(self._source.read(path))
        except PictureError as error:
            raise CannotImportError(str(error)) from error
        if not self._dry_run and picture.store():
            self.copied += 1
        return picture.url


def _candidates(folder: str, address: str) -> Iterator[str]:
    """Where a picture may lie: beside its page, or below the site's root."""
    path = unquote(address.split("?")[0].split("#")[0]).removeprefix("@site/")
    places = _ROOTS if path.startswith("/") else (folder, *_ROOTS)
    for place in places:
        yield posixpath.normpath(posixpath.join(place, path.lstrip("/")))
