"""The admin's site: nonsense in an address is no crash, and a form that was sent by somebody who is
signed out by now is no loss.

Forms check what is typed into them. Addresses are checked by Django as far as it knows a column's
type; the rest comes back from the database as a refusal: a NUL in a text, a year 10,000, a list
where none is expected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import TO_FIELD_VAR
from django.contrib.admin.views.main import ERROR_FLAG
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import BadRequest
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

View = Callable[..., HttpResponseBase]

REFUSED = (DataError, OverflowError)
"""What a value that no column can hold ends in: in the database, or on the way there."""


class StaffSite(admin.AdminSite):
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(_forgiving(view), cacheable)

        @wraps(inner)
        def remembering(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            typed = _typed(request) if request.method == "POST" else []
            if typed and not self.has_permission(request):
                return self._signed_out(request, typed)
            shown: HttpResponseBase = inner(request, *args, **kwargs)
            return shown

        return remembering

    def _signed_out(self, request: HttpRequest, typed: list[str]) -> HttpResponseBase:
        """In place of the way to the sign-in, which would forget it. Whoever gets here sent the
        form from a page of the site: the CSRF token was checked before."""
        query = urlencode({REDIRECT_FIELD_NAME: request.path})
        context = {
            **self.each_context(request),
            "title": gettext("You are signed out"),
            "typed": typed,
            "is_nav_sidebar_enabled": False,
            "sign_in": f"{reverse('admin:login')}?{query}",
        }
        name, headers = "admin/signed_out.html", {"Cache-Control": "no-store"}
        return TemplateResponse(request, name, context, status=403, headers=headers)


def _typed(request: HttpRequest) -> list[str]:
    """The texts of a form: what is made of words. Not what was chosen in it, and no password."""
    texts = [
        text.strip()
        for name, values in request.POST.lists()
        if "password" not in name and name != "csrfmiddlewaretoken"
        for text in values
    ]
    return [text for text in texts if len(text.split()) > 1]


def _forgiving(view: View) -> View:
    """Where the address is nonsense: a list leads to the whole of it, which says so, as Django's
    own do for what they notice themselves. Every other page is a 400."""

    @wraps(view)
    def forgiving(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "" in (request.GET.get(TO_FIELD_VAR), request.POST.get(TO_FIELD_VAR)):
            raise BadRequest("a field without a name")
        try:
            return view(request, *args, **kwargs)
        except REFUSED as error:
            if request.method != "GET":
                raise
            match = request.resolver_match
            is_list = match is not None and str(match.url_name).endswith("_changelist")
            if is_list and ERROR_FLAG not in request.GET:
                return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")
            raise BadRequest("a value that no column holds") from error

    return forgiving
