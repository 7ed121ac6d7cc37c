"""Django's middleware for a web process: what waits for nothing runs in the event loop.

Under ASGI Django calls each of its middleware twice on a thread of the request, in case it waits
for the database. Nearly none does, and the way there and back costs more than what is done there:
a sixth of the time to an answer's first word. These are the same classes; only what may
wait (a session that is stored, messages that are kept, a form that is read) still has its thread.

The settings name Django's own, which `check --deploy` looks for; the web process exchanges them.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.locale import LocaleMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin

READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class AtOnce(MiddlewareMixin):
    """Runs both halves where it is called; the second on the request's thread where it waits."""

    process_request: Any
    process_response: Any

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response: Any = self.process_request(request) if hasattr(self, "process_request") else None
        if response is None:
            awaited: Any = self.get_response(request)
            response = await awaited
        if hasattr(self, "process_response"):
            if self.waits(request):
                response = await sync_to_async(self.process_response)(request, response)
            else:
                response = self.process_response(request, response)
        found: HttpResponseBase = response
        return found

    def waits(self, request: HttpRequest) -> bool:
        """Whether the second half of this request asks the database."""
        return False


class Security(AtOnce, SecurityMiddleware):
    pass


class Sessions(AtOnce, SessionMiddleware):
    def waits(self, request: HttpRequest) -> bool:
        return bool(request.session.modified or settings.SESSION_SAVE_EVERY_REQUEST)


class Locale(AtOnce, LocaleMiddleware):
    pass


class Common(AtOnce, CommonMiddleware):
    pass


class Csrf(AtOnce, CsrfViewMiddleware):
    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if self.async_mode:
            at_once: Any = self._view_at_once
            self.process_view = at_once  # type: ignore[method-assign]

    async def _view_at_once(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseForbidden | None:
        """A form's token stands in its body, which may be large: to read it takes a thread."""
        check = super().process_view
        if request.method in READING or getattr(view, "csrf_exempt", False):
            return check(request, view, args, kwargs)
        return await sync_to_async(check)(request, view, args, kwargs)


class Authentication(AtOnce, AuthenticationMiddleware):
    pass


class Messages(AtOnce, MessageMiddleware):
    def waits(self, request: HttpRequest) -> bool:
        messages: Any = request._messages  # type: ignore[attr-defined]
        return bool(messages.used or messages.added_new)


class XFrameOptions(AtOnce, XFrameOptionsMiddleware):
    pass


def at_once(middleware: list[str]) -> list[str]:
    """The same list, with ours in the places of Django's."""
    ours = {
        f"{base.__module__}.{base.__qualname__}": f"{__name__}.{one.__qualname__}"
        for one in AtOnce.__subclasses__()
        for base in one.__bases__[1:]
    }
    return [ours.get(name, name) for name in middleware]
