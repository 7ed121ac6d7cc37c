"""What every page knows of its site: `site`, the owner's settings, and `palette`, its colours.

Both are loaded when a template first reads them, so a response without a page asks nothing.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from helpcenter.brand import Palette, palette
from helpcenter.models import SiteSettings


def site(request: HttpRequest) -> dict[str, Any]:
    settings = SimpleLazyObject(SiteSettings.load)
    return {"site": settings, "palette": SimpleLazyObject(lambda: _palette(settings.accent))}


def _palette(accent: str) -> Palette | None:
    return palette(accent) if accent else None
