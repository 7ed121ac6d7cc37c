"""Who may keep a response, for how long, and how a browser learns that its copy still holds.

Two kinds of view. A *help page* is HTML: it differs by the reader's rights and language and
carries a nonce, which protects nobody once two readers share it, so shared caches never keep
it. A reader without a session revalidates a copy by an `ETag` over the page itself without its
nonce: whatever changes on the page, a neighbour's title or the site's colours, changes the
tag. A *public document* is what an anonymous reader may see, in the site's language and
without a nonce, the same for all, so every cache may keep it for as long as it says.

A permanent redirect is revalidated too: a browser that kept one for good would go round in a
circle after an article has moved there and back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponsePermanentRedirect
from django.template.response import SimpleTemplateResponse
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date, parse_http_date_safe

View = Callable[..., HttpResponseBase]

REVALIDATED = "private, no-cache"
"""The reader's own browser may keep it, and asks each time whether it still holds."""

NOT_KEPT = "private, no-store"
"""For what rights opened: after signing out, the Back button must not show it."""


def help_page(view: View) -> View:
    """A view of HTML for one reader. Redirects and refusals are revalidated as well."""

    @wraps(view)
    def kept_by_its_reader(request: HttpRequest, *args: object, **options: object) -> HttpResponse:
        response = _whole(view(request, *args, **options))
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        response["Cache-Control"] = NOT_KEPT if request.user.is_authenticated else REVALIDATED
        # With a session the page holds a token of its own, so no two are the same.
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            return response
        nonce: str = getattr(request, "csp_nonce", "")
        return _conditional(request, response, f'W/"{_digest(response.content, nonce)}"')

    return kept_by_its_reader


def public_document(seconds: int = 0) -> Callable[[View], View]:
    """A view of something without a nonce that depends on nothing in the request.

    `seconds` is how long anyone may use a copy without asking; 0 is for what must be gone at
    once when it is withdrawn. The view must not look at `request.user` or at cookies.
    """
    control = f"public, max-age={seconds}" if seconds else "public, no-cache"

    def decorate(view: View) -> View:
        @wraps(view)
        def kept_by_all(request: HttpRequest, *args: object, **options: object) -> HttpResponse:
            with translation.override(settings.LANGUAGE_CODE):
                response = _whole(view(request, *args, **options))
            response.headers.setdefault("Content-Language", settings.LANGUAGE_CODE)
            response["Cache-Control"] = control
            return _conditional(request, response, f'"{_digest(response.content)}"')

        return kept_by_all

    return decorate


def moved(address: str) -> HttpResponsePermanentRedirect:
    """The redirect from an old address, which holds until something else needs that address."""
    response = HttpResponsePermanentRedirect(address)
    response["Cache-Control"] = "no-cache"
    return response


def last_modified(response: HttpResponse, when: datetime) -> HttpResponse:
    """The response, with the date for clients that know no tags."""
    response["Last-Modified"] = http_date(when.timestamp())
    return response


def _whole(response: HttpResponseBase) -> HttpResponse:
    """The response with its body written, so that there is something to compare."""
    if isinstance(response, SimpleTemplateResponse):
        response = response.render()
    if not isinstance(response, HttpResponse):
        raise TypeError("a streamed response has no tag: leave it undecorated")
    return response


def _conditional(request: HttpRequest, response: HttpResponse, tag: str) -> HttpResponse:
    """A bare 304 (or 412) where the request's conditions say so; else the response, tagged."""
    if response.status_code != 200:
        return response
    response["ETag"] = tag
    changed = parse_http_date_safe(response.get("Last-Modified", ""))
    decided = get_conditional_response(request, tag, changed, response)
    return _whole(decided or response)


def _digest(content: bytes, nonce: str = "") -> str:
    if nonce:
        content = content.replace(nonce.encode(), b"")
    return hashlib.blake2b(content, digest_size=16).hexdigest()
