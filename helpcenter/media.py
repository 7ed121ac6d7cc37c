"""Serving what was uploaded or imported, below MEDIA_URL.

Nobody vouches for such a file: only images are shown, with nothing in them able to run, and
everything else is offered as a download.
"""

import mimetypes
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.utils._os import safe_join
from django.views.decorators.http import condition, require_safe

from helpcenter import csp

SHOWN_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"}
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def _file(path: str) -> Path:
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


def _last_modified(request: HttpRequest, path: str) -> datetime:
    return datetime.fromtimestamp(int(_file(path).stat().st_mtime), UTC)


@require_safe
@condition(last_modified_func=_last_modified)
def media(request: HttpRequest, path: str) -> HttpResponse:
    file = _file(path)
    kind = mimetypes.guess_type(file.name)[0]
    shown = kind in SHOWN_TYPES
    response = HttpResponse(
        file.read_bytes(), content_type=kind if shown else "application/octet-stream"
    )
    if not shown:
        response["Content-Disposition"] = "attachment"
    response["Cache-Control"] = "public, max-age=3600"
    response[csp.HEADER] = POLICY
    return response
