"""The admin's site: what stands in an address that nobody's link made is no crash.

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
from django.core.exceptions import BadRequest
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

View = Callable[..., HttpResponseBase]

REFUSED = (DataError, OverflowError)
"""What a value that no column can hold ends in: in the database, or on the way there."""


class StaffSite(admin.AdminSite):
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return super().admin_view(_forgiving(view), cacheable)


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
