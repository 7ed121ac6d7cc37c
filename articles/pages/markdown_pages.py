"""Articles for programs that read: each as Markdown, and `/llms.txt`, the list of them all.

Only what a reader without an account may open, whoever asks: these addresses never depend on
a session. An article comes with front matter that the importer reads, so what is fetched here
can be imported elsewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import yaml
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from articles.access import ANONYMOUS, gone, readable
from articles.caching import last_modified, moved, public_document
from articles.categories import tree
from articles.models import Article
from articles.pages.canonical import absolute
from articles.reading import ancestors, shown_revision
from helpcenter.models import SiteSettings

MARKDOWN = "text/markdown; charset=utf-8"
LIST_SECONDS = 300

_ACTIVE_IN_LABELS = re.compile(r"([\\\[\]<>`*_])")

Line = tuple[str, str, str]
"""An article of the list: slug, title, summary."""


@require_safe
@public_document()
def article(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The live revision. An old slug redirects; what was archived is 410, in plain text."""
    found = readable(ANONYMOUS).select_related("category__parent__parent__parent")
    shown = found.filter(slug=slug).first()
    if shown is None:
        return _elsewhere(slug)
    response = HttpResponse(document(shown), content_type=MARKDOWN)
    response["Link"] = f'<{absolute(shown.get_absolute_url())}>; rel="canonical"'
    return last_modified(response, shown_revision(shown).created_at)


@require_safe
@public_document(LIST_SECONDS)
def llms_txt(request: HttpRequest) -> HttpResponseBase:
    """The list in the form of llmstxt.org: a heading for each category, a link for each article."""
    return HttpResponse("\n".join(_list()) + "\n", content_type=MARKDOWN)


def markdown_address(slug: str) -> str:
    return reverse("articles:article-markdown", args=[slug])


def document(article: Article) -> str:
    """The article as a file of its own: front matter, title, text."""
    revision = shown_revision(article)
    path = " > ".join(category.name for category in ancestors(article.category))
    fields = {
        "title": revision.title,
        "description": revision.summary,
        "category": path,
        "slug": article.slug,
        "language": revision.language,
        "date": (article.published_at or revision.created_at).date(),
    }
    stated = {name: value for name, value in fields.items() if value}
    head = yaml.safe_dump(stated, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n# {_label(revision.title)}\n\n{revision.body.strip()}\n"


def _elsewhere(slug: str) -> HttpResponseBase:
    target = readable(ANONYMOUS).filter(old_slugs__slug=slug).first()
    if target is not None:
        return moved(markdown_address(target.slug))
    if gone(ANONYMOUS).filter(Q(slug=slug) | Q(old_slugs__slug=slug)).exists():
        text = _("This article was archived.")
        return HttpResponse(f"{text}\n", status=410, content_type="text/plain; charset=utf-8")
    raise Http404


def _list() -> Iterator[str]:
    yield f"# {_label(SiteSettings.load().name)}"
    yield ""
    yield "> " + _("The articles of this help center. Each link leads to one as Markdown.")
    filed = _by_category()
    for top in tree(ANONYMOUS):
        for branch in top.walk():
            names = " › ".join(category.name for category in (*branch.path, branch.category))
            yield from _section(names, filed[branch.category.pk])
    yield from _section(_("Other articles"), filed[None])


def _by_category() -> dict[int | None, list[Line]]:
    found = readable(ANONYMOUS).order_by("position", "live_revision__title", "pk")
    filed: dict[int | None, list[Line]] = defaultdict(list)
    for category, *line in found.values_list(
        "category_id", "slug", "live_revision__title", "live_revision__summary"
    ):
        slug, title, summary = line
        filed[category].append((slug, title, summary))
    return filed


def _section(name: str, lines: list[Line]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {_label(name)}", "")
    for slug, title, summary in lines:
        about = f": {_label(summary)}" if summary else ""
        yield f"- [{_label(title)}]({absolute(markdown_address(slug))}){about}"


def _label(text: str) -> str:
    """A text on one line, nothing in it Markdown."""
    return _ACTIVE_IN_LABELS.sub(r"\\\1", " ".join(text.split()))
