"""Serving the collected assets below STATIC_URL.

WhiteNoise decides what an asset's response is: the encoding, the caching (for ever where the name
carries a hash), the conditions. Its own middleware is synchronous, and a single synchronous one
moves every request of the site into a thread; this one is asynchronous where the server is.
"""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import whitenoise
from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

Response = HttpResponseBase | Awaitable[HttpResponseBase]


class AssetsStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names carry a hash, those that one script imports another by as well."""

    support_js_module_import_aggregation = True


def fingerprint() -> str:
    """Changes when any asset does, and when they are collected in another way."""
    files = [
        Path(storage.path(name))
        for finder in finders.get_finders()
        for name, storage in finder.list([])
    ]
    digest = hashlib.sha256()
    for file in sorted([*files, Path(__file__), Path(whitenoise.__file__)]):
        status = file.stat()
        digest.update(f"{file} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


class AssetsMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Response]) -> None:
        super().__init__(get_response)
        self.next = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Response:
        if not request.path_info.startswith(self.static_prefix):
            return self.next(request)
        if self.is_async:
            return self._answer(request)
        return self._asset(request) or self.next(request)

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        asset = await sync_to_async(self._asset, thread_sensitive=False)(request)
        return asset or await cast(Awaitable[HttpResponseBase], self.next(request))

    def _asset(self, request: HttpRequest) -> HttpResponse | None:
        path = request.path_info
        asset = self.find_file(path) if self.autorefresh else self.files.get(path)
        return None if asset is None else self.serve(asset, request)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        """The whole file at once: assets are small, and files cannot be read asynchronously."""
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file:
                body = found.file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response
