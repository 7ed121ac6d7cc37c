"""What every view of the articles' API shares: who calls, how often, in which form."""

from __future__ import annotations

from typing import Any

from django.utils.cache import patch_vary_headers
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page
from rest_framework.exceptions import APIException, ParseError
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from articles.access import Reader
from articles.api.authentication import SessionAuthentication, TokenAuthentication
from articles.api.errors import LengthRequired
from articles.api.parsing import LimitedJSONParser
from articles.api.throttling import RequestThrottle
from articles.caching import REVALIDATED

VARY = ["Accept-Language", "Authorization", "Cookie"]


@method_decorator(conditional_page, name="dispatch")
class View(APIView):
    """JSON in, JSON out. What is read has an ETag, and is 304 for who has it already."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [AllowAny]
    throttle_classes = [RequestThrottle]
    parser_classes = [LimitedJSONParser]
    renderer_classes = [JSONRenderer]

    def reader(self) -> Reader:
        return Reader.of(self.request.user)

    def body(self) -> dict[str, Any]:
        """What was sent. Raises `ParseError` for nothing, which REST framework takes for an
        empty object."""
        data = self.request.data
        if self.request.stream is None:
            raise ParseError([_("Expected a JSON object.")])
        return dict(data)

    def perform_authentication(self, request: Request) -> None:
        """Who sends a wrong token is counted before they hear of it."""
        try:
            super().perform_authentication(request)
        except APIException:
            self.check_throttles(request)
            raise

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
            raise LengthRequired

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(final, VARY)
        if final.status_code >= 500:
            # Who asks may be what could not be found out.
            control = "no-store"
        else:
            control = "no-cache" if request.user.is_anonymous else REVALIDATED
        final.headers.setdefault("Cache-Control", control)
        return final
