"""Links between articles: where a text leads, what leads to an article, and what leads nowhere.

The links of each live revision are kept as rows, written in the transaction that makes the
revision live. Whether one is broken is asked when somebody looks: articles come and go.
Addresses of other sites are not followed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from articles.markup.outline import sections
from articles.models import Article, ArticleLink, Category, SlugRedirect, Status
from articles.rendering import addresses_in


@dataclass(frozen=True)
class Target:
    """Where a link leads on this site. `address` is as written; `slug` is empty for what is
    no article; `path` and `anchor` are decoded."""

    address: str
    path: str
    slug: str
    anchor: str


@dataclass(frozen=True)
class BrokenLink:
    """A link that leads nowhere, and what is wrong with it, for a person."""

    article: Article
    address: str
    problem: str


def targets(markdown: str, base: str) -> list[Target]:
    """The places on this site that a text links to, each once, in order.

    `base` is the address of the page that shows the text, from which relative ones count.
    """
    found = dict.fromkeys(addresses_in(markdown))
    return [target for address in found if (target := _target(address, base)) is not None]


def record(article: Article, body: str) -> None:
    """Keep the links of the text that has become an article's live one."""
    ArticleLink.objects.filter(article=article).delete()
    ArticleLink.objects.bulk_create(
        ArticleLink(
            article=article,
            address=found.address,
            path=found.path,
            slug=found.slug,
            anchor=found.anchor,
        )
        for found in targets(body, article.get_absolute_url())
    )


def leading_to(*articles: Article) -> QuerySet[ArticleLink]:
    """The links in other published articles that lead to these, by their present or former
    slugs."""
    former = SlugRedirect.objects.filter(article__in=articles).values("slug")
    present = [article.slug for article in articles]
    return (
        ArticleLink.objects.filter(Q(slug__in=present) | Q(slug__in=former))
        .filter(article__status=Status.PUBLISHED)
        .exclude(article__in=articles)
        .select_related("article", "article__live_revision")
        .order_by("article__live_revision__title", "pk")
    )


def broken_links() -> list[BrokenLink]:
    """What leads nowhere in the published articles of the whole site."""
    rows = ArticleLink.objects.filter(article__status=Status.PUBLISHED)
    links = list(rows.select_related("article").order_by("article__title", "pk"))
    check = _Check(link for link in links)
    return [
        BrokenLink(link.article, link.address, problem)
        for link in links
        if (problem := check.problem(link))
    ]


def problems(article: Article) -> list[BrokenLink]:
    """What leads nowhere in the working copy of an article."""
    found = targets(article.body, article.get_absolute_url())
    check = _Check(found, {article.slug: article.body})
    return [
        BrokenLink(article, target.address, problem)
        for target in found
        if (problem := check.problem(target))
    ]


Link = Target | ArticleLink


class _Check:
    """Says what is wrong with links, having looked up at once what they lead to.

    `texts` are the texts to look into for anchors in place of the live ones, by slug.
    """

    def __init__(self, links: Iterable[Link], texts: dict[str, str] | None = None) -> None:
        known = list(links)
        self._texts = texts or {}
        self._articles = _articles({link.slug for link in known if link.slug})
        self._anchors: dict[str, frozenset[str]] = {}
        self._categories = set(Category.objects.values_list("slug", flat=True))

    def problem(self, link: Link) -> str:
        """Empty where the link leads somewhere."""
        return self._article_problem(link) if link.slug else self._other_problem(link)

    def _article_problem(self, link: Link) -> str:
        own = self._texts.get(link.slug)
        article = self._articles.get(link.slug)
        if own is None and article is None:
            return _("there is no such article")
        if own is None and article is not None and not article.is_live:
            return _("the article is not published (%(status)s)") % {
                "status": article.get_status_display()
            }
        if link.anchor and link.anchor not in self._anchors_of(link.slug):
            return _("no heading has the anchor #%(anchor)s") % {"anchor": link.anchor}
        return ""

    def _anchors_of(self, slug: str) -> frozenset[str]:
        if slug not in self._anchors:
            body = self._texts.get(slug)
            if body is None:
                live = self._articles[slug].live_revision
                body = live.body if live else ""
            self._anchors[slug] = frozenset(section.anchor for section in sections(body))
        return self._anchors[slug]

    def _other_problem(self, link: Link) -> str:
        if link.path.startswith(settings.MEDIA_URL):
            name = link.path.removeprefix(settings.MEDIA_URL)
            return "" if _is_stored(name) else _("there is no such file")
        try:
            match = resolve(link.path)
        except Resolver404:
            return _("the site has no such page")
        if match.view_name == "articles:category" and match.kwargs["slug"] not in self._categories:
            return _("there is no such category")
        return ""


def _is_stored(name: str) -> bool:
    try:
        return default_storage.exists(name)
    except (ValueError, OSError):  # no name that a file could have
        return False


def _articles(slugs: set[str]) -> dict[str, Article]:
    """Articles by the slugs that lead to them; one that has a slug now wins over a redirect."""
    redirects = SlugRedirect.objects.filter(slug__in=slugs).select_related("article__live_revision")
    found = {redirect.slug: redirect.article for redirect in redirects}
    present = Article.objects.filter(slug__in=slugs).select_related("live_revision")
    return found | {article.slug: article for article in present}


def _target(address: str, base: str) -> Target | None:
    """None for what is on another site, or no page at all."""
    try:
        parts = urlsplit(urljoin(f"{settings.SITE_URL}{base}", address))
    except ValueError:
        return None
    own = urlsplit(settings.SITE_URL)
    if parts.scheme not in ("http", "https") or parts.netloc != own.netloc:
        return None
    path, anchor = unquote(parts.path) or "/", unquote(parts.fragment)
    return Target(address[:500], path[:500], _slug(path)[:500], anchor[:200])


def _slug(path: str) -> str:
    """The slug of the article whose page is at `path`; empty for any other page."""
    try:
        match = resolve(path)
    except Resolver404:
        return ""
    return str(match.kwargs["slug"]) if match.view_name == "articles:article" else ""


def grouped(links: Sequence[BrokenLink]) -> Iterator[tuple[Article, list[BrokenLink]]]:
    """By the article that they stand in, in the order they came."""
    by_article: dict[int, list[BrokenLink]] = defaultdict(list)
    for link in links:
        by_article[link.article.pk].append(link)
    for found in by_article.values():
        yield found[0].article, found
