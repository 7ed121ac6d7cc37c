"""Who calls: the user of a token, or of the browser's session, or nobody.

A token stands in `Authorization: Bearer hct_…`. One that is sent and not valid is refused,
on public addresses too: a client with a wrong token should hear of it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from helpcenter.csrf import csrf_refusal
from helpcenter.tokens import find

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from helpcenter.models import ApiToken

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

logger = logging.getLogger(__name__)


class TokenAuthentication(BaseAuthentication):
    """`request.auth` is the `ApiToken`, `request.user` its user."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _space, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = find(secret.strip().decode("latin-1"))
        if token is None:
            raise AuthenticationFailed
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class SessionAuthentication(BaseAuthentication):
    """The session's user. Unsafe requests need their token, anonymous or not."""

    def authenticate(self, request: Request) -> tuple[Any, None]:
        reason = None if request.method in SAFE_METHODS else csrf_refusal(request._request)
        if reason:
            logger.warning("api_request_refused", extra={"reason": reason})
            raise PermissionDenied([_("Reload the page and send it again.")])
        return request._request.user, None
