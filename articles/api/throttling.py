"""How many requests a caller may send: by token, or by network address for all others.

Counted by `helpcenter.limits`, so all processes share the limits. A request with a wrong
token counts for its address, and so does one that is refused for another reason.
"""

from __future__ import annotations

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from helpcenter import limits
from helpcenter.limits import Bucket


class RequestThrottle(BaseThrottle):
    """`wait` is in seconds, until the window of the limit ends."""

    _wait = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        self._wait = limits.charge(
            [_bucket(request)],
            settings.API_LIMIT_SECONDS,
            everyone=Bucket("limit:api", settings.API_REQUESTS_WITHOUT_VALKEY),
        ).wait
        return self._wait == 0

    def wait(self) -> float:
        return self._wait


def _bucket(request: Request) -> Bucket:
    if request.auth is not None:
        return Bucket(f"limit:api:token:{request.auth.pk}", settings.API_REQUESTS_PER_TOKEN)
    network = limits.network(str(request.META.get("REMOTE_ADDR") or ""))
    return Bucket(f"limit:api:address:{network}", settings.API_REQUESTS_PER_ADDRESS)
