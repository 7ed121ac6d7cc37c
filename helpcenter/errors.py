"""The error shape of the API, `{"error": {"code", "message", "fields"?}}`, and what of it no
view ever sees: unknown addresses, refused hosts, crashes, a database that is down. Other
addresses get the site's pages.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.template.loader import get_template
from django.utils.translation import gettext as _
from django.views import defaults

from helpcenter.logs import ids
from helpcenter.postgres import DATABASE_DOWN

API_PREFIX = "/api/"
RETRY_SECONDS = 5

logger = logging.getLogger(__name__)


def error_body(
    code: str, message: str, fields: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """`fields` names what is wrong with each field that was sent."""
    error: dict[str, Any] = {"code": code, "message": message}
    if fields:
        error["fields"] = {name: list(texts) for name, texts in fields.items()}
    return {"error": error}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_api(request):
        return defaults.bad_request(request, exception)
    return _error(400, "malformed", _("The request is not understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_api(request):
        return defaults.permission_denied(request, exception)
    return _error(403, "forbidden", _("You may not do this."))


def api_address_unknown() -> HttpResponse:
    """For an address below `/api/` that nothing is at; elsewhere a page says so."""
    return _error(404, "not_found", _("There is nothing at this address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """For whatever a view or a middleware dies of; called while that is handled."""
    error = sys.exc_info()[1]
    if isinstance(error, DATABASE_DOWN):
        return _database_down(request, error)
    if not is_api(request):
        # A template of its own: Django's view gives it no context.
        page = get_template("500.html").render({"request_id": ids().get("request_id")})
        return HttpResponseServerError(page)
    return _error(500, "internal", _("Something went wrong on the server. It was written down."))


def _database_down(request: HttpRequest, error: Exception) -> HttpResponse:
    """Down, or with more to do than it can: nothing is broken, and asking again soon helps."""
    logger.error("database_unavailable", extra={"error": type(error).__name__})
    response: HttpResponse
    if is_api(request):
        response = _error(503, "unavailable", _("The site cannot answer at the moment."))
    else:
        response = HttpResponse(get_template("503.html").render(), status=503)
        response["Cache-Control"] = "no-store"
    response["Retry-After"] = str(RETRY_SECONDS)
    # By Django's logger, each request of an outage would leave a traceback of a hundred lines.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def is_api(request: HttpRequest) -> bool:
    """Whether a program asks, which reads no pages; the prefix itself is the reference page."""
    return request.path_info.startswith(API_PREFIX) and request.path_info != API_PREFIX


def _error(status: int, code: str, message: str) -> JsonResponse:
    headers = {"Cache-Control": "no-store"}
    return JsonResponse(error_body(code, message), status=status, headers=headers)
