"""The pages for addresses that lead nowhere: never there (404), or archived (410).

Both offer a search for the words of the address, which is what its owner was after. Neither
says more than the address did: no title, and nothing that this reader could not have opened.
"""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from articles.caching import REVALIDATED
from helpcenter.errors import api_address_unknown, is_api

_SEPARATORS = re.compile(r"[-_\s]+")
LONGEST = 120


def words_of(slug: str) -> str:
    """The words of a slug, as somebody would type them into a search box."""
    return _SEPARATORS.sub(" ", slug[:LONGEST]).strip()


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The site's `handler404`; programs are told in their own way."""
    if is_api(request):
        return api_address_unknown()
    return _page(request, 404, _asked_slug(request))


def page_gone(request: HttpRequest, slug: str) -> HttpResponse:
    """For an article that is archived and that this reader could open before."""
    return _page(request, 410, slug)


def _asked_slug(request: HttpRequest) -> str:
    match = request.resolver_match
    return str(match.kwargs.get("slug", "")) if match else ""


def _page(request: HttpRequest, status: int, slug: str) -> HttpResponse:
    response = render(request, f"{status}.html", {"query": words_of(slug)}, status=status)
    # Caches may keep both by themselves, and either address may have an article tomorrow.
    response["Cache-Control"] = REVALIDATED
    return response
