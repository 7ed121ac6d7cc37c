"""A strict Content-Security-Policy on every page.

Scripts and styles come from this site's files, or carry the nonce of their own response
(`request.csp_nonce` in views and templates). A view that needs another policy, such as a page that
other sites may frame, sets the header itself; it is then left alone.

A 304 has none: its headers replace those of the copy that the browser kept, and a fresh nonce would
shut out the scripts of that copy.
"""

import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

HEADER = "Content-Security-Policy"


def policy(nonce: str) -> str:
    """The policy for a response whose inline scripts and styles carry `nonce`."""
    directives = {
        "default-src": "'none'",
        "script-src": f"'self' 'nonce-{nonce}'",
        "style-src": f"'self' 'nonce-{nonce}'",
        "img-src": " ".join(["'self'", *settings.IMAGE_HOSTS]),
        "font-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


class ContentSecurityPolicyMiddleware:
    """Gives the request its nonce and the response the policy. Adds no thread to async requests."""

    sync_capable = True
    async_capable = True

    def __init__(
        self,
        get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]],
    ) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        nonce = secrets.token_urlsafe(16)
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        response = self.get_response(request)
        if isinstance(response, HttpResponseBase):
            return _with_policy(response, nonce)
        return _awaited(response, nonce)


async def _awaited(response: Awaitable[HttpResponseBase], nonce: str) -> HttpResponseBase:
    return _with_policy(await response, nonce)


def _with_policy(response: HttpResponseBase, nonce: str) -> HttpResponseBase:
    if response.status_code != HTTPStatus.NOT_MODIFIED:
        response.headers.setdefault(HEADER, policy(nonce))
    return response
