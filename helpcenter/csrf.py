"""Cross-site protection of the API: a session cookie needs its CSRF token, anonymous or not.

A request without a session cookie speaks for nobody, so a token would protect nothing,
and clients without a browser need none. Its answer may start a session though, so one
that a page of another site sends is refused by its `Origin`.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN, CsrfViewMiddleware


class _Check(CsrfViewMiddleware):
    """Django's own check, which returns the reason instead of an HTML page."""

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason

    def reason(self, request: HttpRequest) -> str | None:
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            self.process_request(request)
            verdict: object = self.process_view(request, HttpResponse, (), {})
            return None if verdict is None else str(verdict)
        if "Origin" in request.headers and not self.origin_is_allowed(request):
            return REASON_BAD_ORIGIN % request.headers["Origin"]
        return None

    def origin_is_allowed(self, request: HttpRequest) -> bool:
        return bool(self._origin_verified(request))  # type: ignore[attr-defined]


_CHECK = _Check(HttpResponse)


def csrf_refusal(request: HttpRequest) -> str | None:
    """Why an unsafe request is refused, for the log; None where it may go on.

    For views marked `csrf_exempt`, so that the middleware leaves the decision to them.
    """
    return _CHECK.reason(request)


def origin_refusal(request: HttpRequest) -> str | None:
    """Why a handshake is refused, for the log: `no_origin` or `foreign_origin`; None where it names
    this site's origin or a trusted one. Browsers make handshakes across sites with the session's
    cookie, and always say for which page."""
    if "Origin" not in request.headers:
        return "no_origin"
    return None if _CHECK.origin_is_allowed(request) else "foreign_origin"
