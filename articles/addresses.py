"""Which addresses may become links and images.

Addresses come here normalised, as the parser writes them into attributes: percent-encoded,
so without white space, control characters or backslashes that a browser would drop or turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

SCHEMES = frozenset({"http", "https", "mailto", "tel"})

_SCHEME = re.compile(r"([^/?#]*?):")
_HOST = re.compile(r"(?:https?:)?//([^/?#@:]+)(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_ANOTHER_SITE = re.compile(r"https?:|//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Two decisions. A refused link becomes its label, a refused image its alt text."""

    link: Callable[[str], bool]
    image: Callable[[str], bool]


def has_safe_scheme(address: str) -> bool:
    """Whether the address is relative, or leads to a page, a mailbox or a telephone."""
    scheme = _SCHEME.match(address)
    return scheme is None or scheme[1].lower() in SCHEMES


def leads_elsewhere(address: str) -> bool:
    return _ANOTHER_SITE.match(address) is not None


def _is_permitted_image(address: str) -> bool:
    own = [prefix for prefix in (settings.MEDIA_URL, settings.STATIC_URL) if len(prefix or "") > 1]
    if address.startswith(tuple(own)):
        return True
    if host := _HOST.match(address):
        return host[1].lower() in settings.IMAGE_HOSTS
    return not address.startswith("/") and _SCHEME.match(address) is None


ARTICLE_ADDRESSES = Addresses(link=has_safe_scheme, image=_is_permitted_image)
"""What articles may use: any safe link; images of this site or of `IMAGE_HOSTS`."""
