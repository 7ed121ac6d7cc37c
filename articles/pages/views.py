"""The help pages: home, category, article. Server-rendered; scripts only add to them.

Every page starts from `articles.access`, shows the live revision and never the working
copy, and sets no cookie for a reader who only reads.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from articles.access import Reader, gone, readable
from articles.caching import help_page, moved
from articles.categories import branch, tree
from articles.feedback import FeedbackForm, Reason, record, vote_of
from articles.models import Article, Visibility
from articles.pages.canonical import description
from articles.pages.missing import page_gone
from articles.pages.related import related
from articles.pages.structured_data import article_json
from articles.reading import (
    ancestors,
    highlights,
    in_category,
    neighbours,
    outside_categories,
    shown_revision,
)
from articles.rendering import ContentsEntry, render_article
from helpcenter.csrf import csrf_refusal


@require_safe
@help_page
def home(request: HttpRequest) -> HttpResponse:
    reader = Reader.of(request.user)
    context = {
        "branches": tree(reader),
        "highlights": highlights(reader),
        "unfiled": outside_categories(reader).count(),
    }
    return render(request, "articles/home.html", context)


@require_safe
@help_page
def topics(request: HttpRequest) -> HttpResponse:
    """All categories, and the articles that are in none: everything can be found by browsing."""
    reader = Reader.of(request.user)
    context = {"branches": tree(reader), "articles": outside_categories(reader)}
    return render(request, "articles/topics.html", context)


@require_safe
@help_page
def category(request: HttpRequest, slug: str) -> HttpResponse:
    reader = Reader.of(request.user)
    found = branch(tree(reader), slug)
    if found is None:
        raise Http404
    articles = in_category(found.category, reader)
    return render(request, "articles/category.html", {"branch": found, "articles": articles})


@require_safe
@help_page
def article(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The live revision; an old slug redirects; what was archived says so; all else is no page."""
    reader = Reader.of(request.user)
    found = _find(slug, reader)
    if found is None:
        return _elsewhere(request, slug, reader)
    before, after = neighbours(found, reader)
    revision = shown_revision(found)
    rendered = render_article(revision.body)
    path = ancestors(found.category)
    context = {
        "article": found,
        "revision": revision,
        "rendered": rendered,
        "contents": _worth_listing(rendered.contents),
        "path": path,
        "description": description(revision),
        "is_public": found.visibility == Visibility.PUBLIC,
        "structured_data": article_json(found, revision, path),
        "before": before,
        "after": after,
        "related": related(found, reader, {other.slug for other in (before, after) if other}),
        "vote": vote_of(request, revision),
        "reasons": Reason.choices,
        "voted": request.GET.get("voted"),
        # A form needs a token, and so a cookie, only where there is a session to protect.
        "has_session": settings.SESSION_COOKIE_NAME in request.COOKIES,
    }
    return render(request, "articles/article.html", context)


@csrf_exempt
@require_POST
def feedback(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page's own form, for browsers without scripts: the vote, and back to the article."""
    if csrf_refusal(request):
        return render(request, "403.html", status=403)
    found = _find(slug, Reader.of(request.user))
    if found is None:
        raise Http404
    form = FeedbackForm(request.POST)
    if not form.is_valid():
        return redirect(found)
    record(found, request, form.cleaned_data)
    return redirect(f"{found.get_absolute_url()}?voted={form.cleaned_data['rating']}#~helpful")


def _worth_listing(contents: list[ContentsEntry]) -> list[ContentsEntry]:
    """The two upper levels of headings, where there is more than one to choose from."""
    entries = [entry for entry in contents if entry.level <= 3]
    return entries if len(entries) > 1 else []


def _find(slug: str, reader: Reader) -> Article | None:
    articles = readable(reader).select_related("live_revision", "category__parent__parent__parent")
    return articles.filter(slug=slug).first()


def _elsewhere(request: HttpRequest, slug: str, reader: Reader) -> HttpResponseBase:
    """The answer for a slug that no article of this reader has now."""
    target = readable(reader).filter(old_slugs__slug=slug).first()
    if target is not None:
        return moved(target.get_absolute_url())
    if gone(reader).filter(Q(slug=slug) | Q(old_slugs__slug=slug)).exists():
        return page_gone(request, slug)
    raise Http404
