"""Searching the help center: the results page, the suggestions while somebody types, and
what was opened. Server-rendered; scripts only add to it.

A search of the results page is recorded (`articles.search_log`), but not again when its
results are narrowed: the filters carry its token along.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from articles import search_log
from articles.access import Reader, readable
from articles.caching import help_page
from articles.categories import tree
from articles.pages.results import result
from articles.pages.search_filters import NAMES, Filters
from articles.ranking import spelling
from articles.reading import shown_revision
from articles.search import Results, search
from articles.search_log import Seen
from articles.terms.synonyms import also_searched
from helpcenter.csrf import csrf_refusal

QUERY_LENGTH = 400
SUGGESTIONS = 6
RESULTS = 20
COUNTED = 60
"""Articles among which the filters count."""


@require_safe
@help_page
def search_page(request: HttpRequest) -> HttpResponse:
    query = _query(request)
    if not query:
        return render(request, "articles/search.html", {"query": ""})
    reader = Reader.of(request.user)
    found = search(
        query, reader=reader, language=get_language(), limit=COUNTED, passages_per_article=1
    )
    filters = _filters(request, reader, found)
    shown = _narrowed(query, reader, filters) if filters.active else found
    suggestion = spelling.suggestion(shown)
    context = {
        **_results(shown, query, RESULTS),
        "filters": filters.shown(found.hits),
        "is_narrowed": filters.active,
        "nearest": len(found.hits),
        "by_words_alone": shown.fallback_reason == "embeddings_failed",
        "also": also_searched(query, shown.languages),
        "suggestion": suggestion,
        "token": _token(request, shown, reader, suggestion, filters),
    }
    return render(request, "articles/search.html", context)


@require_safe
@help_page
def suggest(request: HttpRequest) -> HttpResponse:
    """The options under a search box, as a fragment of HTML. `Search-Token` names the search to
    `opened`."""
    query = _query(request)
    if not query:
        return HttpResponse()
    reader = Reader.of(request.user)
    found = search(
        query, reader=reader, language=get_language(), limit=SUGGESTIONS, passages_per_article=1
    )
    suggestion = spelling.suggestion(found)
    context = {**_results(found, query, SUGGESTIONS), "suggestion": suggestion}
    response = render(request, "articles/suggestions.html", context)
    response["Search-Token"] = Seen.of(found, len(found.hits), reader, suggestion).token()
    return response


class OpenedForm(forms.Form):
    """Which result was opened: the token of its search, the article, its place from 1."""

    search = forms.CharField(max_length=4_000)
    article = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    position = forms.IntegerField(min_value=1, max_value=1_000)


@csrf_exempt
@require_POST
def opened(request: HttpRequest) -> HttpResponse:
    """Records an opened result; sent by a script on the way out. Answers 204, or with 400, 403
    or 404 and no text. Redirects nowhere and sets no cookie."""
    if csrf_refusal(request):
        return HttpResponse(status=403)
    form = OpenedForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=400)
    article = readable(Reader.of(request.user)).filter(pk=form.cleaned_data["article"]).first()
    if article is None:
        return HttpResponse(status=404)
    title, position = shown_revision(article).title, form.cleaned_data["position"]
    known = search_log.opened(form.cleaned_data["search"], article, title, position)
    return HttpResponse(status=204 if known else 400)


def _query(request: HttpRequest) -> str:
    return request.GET.get("q", "").replace("\0", "").strip()[:QUERY_LENGTH]


def _filters(request: HttpRequest, reader: Reader, found: Results) -> Filters:
    """What was chosen; where there is nothing to choose from, the database is not asked."""
    chosen = request.GET.dict()
    if not found.hits and not any(chosen.get(name) for name in NAMES):
        return Filters((), ())
    return Filters.of(chosen, tree(reader), found.held)


def _narrowed(query: str, reader: Reader, filters: Filters) -> Results:
    return search(
        query,
        reader=reader,
        language=filters.language or get_language(),
        category=filters.category,
        only=filters.condition(),
        limit=RESULTS,
        passages_per_article=1,
    )


def _results(found: Results, query: str, limit: int) -> dict[str, Any]:
    marked = " ".join([query, *also_searched(query, found.languages)])
    results = [result(hit, marked) for hit in found.hits[:limit]]
    return {"query": query, "results": results, "more": len(results) == limit}


def _token(
    request: HttpRequest, shown: Results, reader: Reader, suggestion: str | None, filters: Filters
) -> str:
    """The token of this search, which is recorded now unless it is the one it was."""
    token = request.GET.get("search", "")
    if token and search_log.is_of(token, shown.query):
        return token
    if filters.active or request.method != "GET" or "Sec-Purpose" in request.headers:
        return ""
    seen = Seen.of(shown, min(len(shown.hits), RESULTS), reader, suggestion)
    return search_log.token_of(search_log.record(seen))
