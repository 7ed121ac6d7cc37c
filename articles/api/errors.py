"""What the API refuses, in one shape: `{"error": {"code", "message", "fields"?}}`.

`handle` is REST framework's exception handler. Its own exceptions keep their status and get
a code and words of ours; what is none of them is a crash, and the site's 500 answers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelError
from django.db import IntegrityError
from django.http import Http404
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from helpcenter.errors import RETRY_SECONDS, error_body
from helpcenter.postgres import DATABASE_DOWN

logger = logging.getLogger(__name__)


class Gone(exceptions.APIException):
    """What the caller could read before and was archived."""

    status_code = 410
    default_code = "gone"
    default_detail = _("This article was archived.")


class LengthRequired(exceptions.APIException):
    """A body that comes in chunks. REST framework would take it for an empty one."""

    status_code = 411
    default_code = "length_required"
    default_detail = _("Send the body with its Content-Length.")


class TooLarge(exceptions.APIException):
    status_code = 413
    default_code = "too_large"
    default_detail = _("The request is too large.")


class PreconditionRequired(exceptions.APIException):
    """A change that does not say which version it was made from."""

    status_code = 428
    default_code = "precondition_required"
    default_detail = _("Send the ETag of what you have read as If-Match, or * for any version.")


class Stale(exceptions.APIException):
    """A change that was made from another version than the present one."""

    status_code = 412
    default_code = "stale"
    default_detail = _("It has changed since you read it. Read it again.")


class Conflict(exceptions.APIException):
    status_code = 409
    default_code = "conflict"
    default_detail = _("Something else was saved at the same moment. Send it again.")


class NotEmpty(Conflict):
    default_code = "not_empty"
    default_detail = _("The category still holds articles or categories.")


class Unavailable(exceptions.APIException):
    status_code = 503
    default_code = "unavailable"
    default_detail = _("The database cannot be reached at the moment. Send it again in a while.")
    wait = RETRY_SECONDS


_TOLD: dict[type[exceptions.APIException], tuple[str, Any]] = {
    exceptions.ParseError: ("malformed", _("The request is not JSON.")),
    exceptions.ValidationError: ("invalid", _("Some values cannot be used.")),
    exceptions.NotAuthenticated: ("unauthorized", _("This needs a token.")),
    exceptions.AuthenticationFailed: (
        "unauthorized",
        _("The token is unknown, has expired or was revoked."),
    ),
    exceptions.PermissionDenied: ("forbidden", _("You may not do this.")),
    exceptions.NotFound: ("not_found", _("There is nothing at this address.")),
    exceptions.MethodNotAllowed: (
        "method_not_allowed",
        _("This address does not take this method."),
    ),
    exceptions.NotAcceptable: ("not_acceptable", _("The API answers in JSON only.")),
    exceptions.UnsupportedMediaType: (
        "unsupported_media_type",
        _("Send JSON, with Content-Type: application/json."),
    ),
    exceptions.Throttled: ("rate_limited", _("Too many requests. Send it again in a while.")),
}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The response that an exception becomes; None for a crash."""
    refusal = _as_refusal(error)
    if refusal is None:
        return None
    set_rollback()
    code, message = _words(refusal)
    fields = _fields(refusal.detail) if refusal.status_code == 400 else {}
    body = error_body(code, message, fields)
    return Response(body, status=refusal.status_code, headers=_headers(refusal))


def _as_refusal(error: Exception) -> exceptions.APIException | None:
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(error, ModelError):
        return exceptions.ValidationError(
            error.message_dict
            if hasattr(error, "error_dict")
            else {api_settings.NON_FIELD_ERRORS_KEY: error.messages}
        )
    if isinstance(error, IntegrityError):
        return Conflict()
    if isinstance(error, DATABASE_DOWN):
        logger.error("database_unavailable", extra={"error": type(error).__name__})
        return Unavailable()
    return None


def _words(refusal: exceptions.APIException) -> tuple[str, str]:
    told = _TOLD.get(type(refusal))
    if told is None:
        return refusal.default_code, str(refusal.detail)
    code, message = told
    general = _general(refusal.detail)
    return code, general or str(message)


def _general(detail: Any) -> str:
    """What is wrong with the request as a whole."""
    if isinstance(detail, Mapping):
        detail = detail.get(api_settings.NON_FIELD_ERRORS_KEY)
    return " ".join(map(str, detail)) if isinstance(detail, list | tuple) else ""


def _fields(detail: Any) -> dict[str, list[str]]:
    if not isinstance(detail, Mapping):
        return {}
    named = {name: value for name, value in detail.items() if name != "non_field_errors"}
    return {_sayable(name): list(_texts(value)) for name, value in named.items()}


def _texts(value: Any) -> Sequence[str]:
    """The texts in whatever a field's errors are nested into."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [text for one in value for text in _texts(one)]
    return [_sayable(value)]


def _sayable(value: Any) -> str:
    """What was sent is quoted, and may hold half a character, which no answer can carry."""
    return str(value).encode(errors="replace").decode()


def _headers(refusal: exceptions.APIException) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    wait = getattr(refusal, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    if header := getattr(refusal, "auth_header", None):
        headers["WWW-Authenticate"] = header
    return headers
