"""Uploaded and imported files: pictures of articles are shown to those who may use the article.

The database decides, by the links kept of each live text. A picture that no published article
shows, one of a draft or one just uploaded, is for those who write. What lies beside the pictures
of articles, such as the logo, is for everyone.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from articles.access import ANONYMOUS, Reader, may_see_picture
from articles.writing.pictures import FOLDER
from helpcenter import media


@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    found = media.stored_file(path)
    # As it lies in the folder: an address can have detours.
    name = Path(os.path.relpath(found, settings.MEDIA_ROOT)).as_posix()
    address = f"{settings.MEDIA_URL}{name}"
    is_of_an_article = name.casefold().startswith(f"{FOLDER}/")
    # Who asks is looked at last: an answer that depends on it is kept by no shared cache.
    if not is_of_an_article or may_see_picture(address, ANONYMOUS):
        return media.served(request, found, media.PUBLIC)
    if _writes(request) or may_see_picture(address, Reader.of(request.user)):
        return media.served(request, found, media.PRIVATE)
    raise Http404


def _writes(request: HttpRequest) -> bool:
    user = request.user
    return user.is_active and user.is_staff and user.has_module_perms("articles")
