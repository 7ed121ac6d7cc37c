"""Serving what was uploaded or imported, below MEDIA_URL, to whoever may have it.

Nobody vouches for such a file: only images are shown, with nothing in them able to run, and
everything else is offered as a download. Who may have which is not decided here.
"""

import mimetypes
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.utils._os import safe_join
from django.views.decorators.http import condition

from helpcenter import csp

SHOWN_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"}
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


PUBLIC = "public, max-age=3600"
PRIVATE = "private, no-cache"
"""The reader's browser keeps it, and asks each time whether it may still show it."""


def stored_file(path: str) -> Path:
    """The file that an address below MEDIA_URL means. Raises `Http404`."""
    try:
        file = Path(safe_join(settings.MEDIA_ROOT, path))
    except (SuspiciousFileOperation, ValueError):
        raise Http404 from None
    try:
        is_there = file.is_file()
    except OSError:  # a name that is too long for any file
        is_there = False
    if not is_there:
        raise Http404
    return file


def _last_modified(request: HttpRequest, file: Path, cache: str) -> datetime:
    return datetime.fromtimestamp(int(file.stat().st_mtime), UTC)


@condition(last_modified_func=_last_modified)
def served(request: HttpRequest, file: Path, cache: str) -> HttpResponse:
    """The file itself; `cache` is one of the two above."""
    kind = mimetypes.guess_type(file.name)[0]
    shown = kind in SHOWN_TYPES
    response = HttpResponse(
        file.read_bytes(), content_type=kind if shown else "application/octet-stream"
    )
    if not shown:
        response["Content-Disposition"] = "attachment"
    response["Cache-Control"] = cache
    response[csp.HEADER] = POLICY
    return response
