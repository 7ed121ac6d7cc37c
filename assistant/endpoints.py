"""What every API view of the assistant shares: methods, cross-site protection, one error shape."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from assistant.database import DATABASE_DOWN
from assistant.questions import parse_object
from assistant.refusals import Forbidden, Malformed, NotAllowed, Refusal, Unavailable
from helpcenter.csrf import csrf_refusal

AsyncView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

logger = logging.getLogger(__name__)


def refused(refusal: Refusal) -> JsonResponse:
    """The response that a refusal is."""
    response = JsonResponse(refusal.payload(), status=refusal.status)
    if refusal.retry_after is not None:
        response["Retry-After"] = str(refusal.retry_after)
    response["Cache-Control"] = "no-store"
    return response


def database_down(error: Exception) -> Unavailable:
    logger.error("database_unavailable", extra={"error": type(error).__name__})
    return Unavailable()


def check_csrf(request: HttpRequest) -> None:
    """An unsafe request that carries a session cookie needs its token. Raises `Forbidden`."""
    reason = None if request.method in SAFE_METHODS else csrf_refusal(request)
    if reason:
        logger.warning("api_request_refused", extra={"reason": reason})
        raise Forbidden


def read_object(request: HttpRequest) -> dict[str, Any]:
    """The body, a JSON object. Raises `Malformed`."""
    try:
        return parse_object(request.body)
    except RequestDataTooBig:
        raise Malformed(_("The request is too large.")) from None


def endpoint(*methods: str) -> Callable[[AsyncView], AsyncView]:
    """Makes an async view an API endpoint: it raises refusals, they become responses."""

    def decorate(view: AsyncView) -> AsyncView:
        @csrf_exempt
        @functools.wraps(view)
        async def handle(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise NotAllowed
                check_csrf(request)
                return await view(request, **arguments)
            except Refusal as refusal:
                response = refused(refusal)
                if isinstance(refusal, NotAllowed):
                    response["Allow"] = ", ".join(methods)
                return response
            except DATABASE_DOWN as error:
                return refused(database_down(error))

        return handle

    return decorate
