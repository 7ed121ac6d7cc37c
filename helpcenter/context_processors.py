"""What every page knows of its site: the owner's settings, its colours and its address.

`help_center` and `palette` are loaded when a template first reads them, so a response without a
page asks nothing. Not `site`: the views of `django.contrib.auth` put the host's name there.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from helpcenter.brand import Palette, palette
from helpcenter.models import SiteSettings


def site(request: HttpRequest) -> dict[str, Any]:
    stored = SimpleLazyObject(lambda: settings_of(request))
    return {
        "help_center": stored,
        "palette": SimpleLazyObject(lambda: _palette(stored.accent)),
        "site_url": settings.SITE_URL,
    }


def settings_of(request: HttpRequest) -> SiteSettings:
    """The owner's settings, loaded once for a request, whoever asks first."""
    if not hasattr(request, "site_settings"):
        request.site_settings = SiteSettings.load()  # type: ignore[attr-defined]
    return request.site_settings  # type: ignore[attr-defined, no-any-return]


def _palette(accent: str) -> Palette | None:
    return palette(accent) if accent else None
