"""What machines ask of a process: `/healthz`, `/readyz` and, if it is on, `/metrics`.

They ask a process by its own address, over plain HTTP, from inside. So these are answered before
anything looks at the host name or sends the caller to HTTPS.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from helpcenter import drain, health, metrics

View = Callable[[HttpRequest], HttpResponseBase]
Response = HttpResponseBase | Awaitable[HttpResponseBase]

_VIEWS: dict[str, View] = {
    "/healthz": health.healthz,
    "/readyz": health.readyz,
    "/metrics": metrics.metrics,
}


class ProbesMiddleware:
    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Response]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Response:
        view = _view(request.path_info)
        if view is None:
            return self._get_response(request)
        if not self._is_async:
            return view(request)
        return _at_once(view, request) if _asks_nobody(view) else sync_to_async(view)(request)


async def _at_once(view: View, request: HttpRequest) -> HttpResponseBase:
    return view(request)


def _asks_nobody(view: View) -> bool:
    """Such a view needs no thread, of which a busy process may have none to spare for a while."""
    return view is health.healthz or (view is health.readyz and drain.is_draining())


def _view(path: str) -> View | None:
    if path == "/metrics" and not settings.METRICS_TOKEN:
        return None
    return _VIEWS.get(path)
