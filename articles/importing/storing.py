"""Documents into the database: created, updated, or left alone, one transaction each.

`Article.imported_hash` is the fingerprint of an article as the last import left it.
An article whose fingerprint differs was edited on the site since; it is not
overwritten unless the person who imports says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from articles import publishing
from articles.importing.documents import Document
from articles.importing.report import Kind, Outcome, Report
from articles.models import Article, Category, SlugRedirect, Status
from articles.models.slugs import SLUG_LENGTH, unique_slug


def fingerprint(article: Article) -> str:
    """Names everything about an article that an import decides, as it stands now."""
    parts = (
        article.content_hash(),
        article.slug,
        str(article.category_id),
        str(article.position),
        article.status,
        article.visibility,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Slugs:
    """The slug of every document: the one its article has, or a new one that nobody has.

    An old address of another article is free only to who asks for it by name.
    """

    def __init__(self, articles: dict[str, Article]) -> None:
        self._articles = articles
        self._taken = set(Article.objects.values_list("slug", flat=True))
        self._redirected = set(SlugRedirect.objects.values_list("slug", flat=True))
        self._given: dict[str, str] = {}

    def of(self, document: Document) -> str:
        return self._given[document.external_id]

    def give(self, document: Document, report: Report) -> None:
        asked = _asked(document)
        article = self._articles.get(document.external_id)
        own = article.slug if article else ""
        if asked and asked != own and asked in self._taken:
            message = f"the slug “{asked}” is another article's"
            report.add(Kind.NOTE, document.path, message)
            slug = own or self._new(asked)
        else:
            slug = asked or own or self._new(document.slug_source)
        self._taken.add(slug)
        self._given[document.external_id] = slug

    def _new(self, source: str) -> str:
        taken = self._taken | self._redirected
        return unique_slug(source, lambda slug: slug in taken, "article")


def _asked(document: Document) -> str:
    """The last part of the slug that the file asks for; empty where it asks for none."""
    name = document.slug.rstrip("/").rpartition("/")[2]
    return slugify(name, allow_unicode=True).strip("-_")[:SLUG_LENGTH].strip("-_")


class Categories:
    """Categories by their path of names; a missing one is created when it is first needed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Category] = {}

    def find(self, path: tuple[str, ...]) -> Category | None:
        """The category at the end of `path`; None where it does not exist, or for no path."""
        if path and path not in self._known:
            parent = self.find(path[:-1])
            found = None if path[:-1] and parent is None else self._child(parent, path[-1])
            if found is None:
                return None
            self._known[path] = found
        return self._known.get(path)

    def get(self, path: tuple[str, ...]) -> Category | None:
        """The category at the end of `path`, created where it is missing; None for no path."""
        if path and self.find(path) is None:
            parent = self.get(path[:-1])
            self._known[path] = Category.objects.create(parent=parent, name=path[-1])
        return self._known.get(path)

    def forget(self) -> None:
        """Called when a transaction was rolled back: what it created is gone."""
        self._known.clear()

    @staticmethod
    def _child(parent: Category | None, name: str) -> Category | None:
        """By its slug first, which stays when somebody renames a category on the site."""
        inside = Category.objects.filter(parent=parent)
        slug = slugify(name, allow_unicode=True)
        return inside.filter(slug=slug).first() or inside.filter(name__iexact=name).first()


def existing_articles(documents: Iterable[Document]) -> dict[str, Article]:
    """The articles of earlier imports by external id."""
    ids = [document.external_id for document in documents]
    articles = Article.objects.filter(external_id__in=ids).select_related("live_revision")
    return {article.external_id: article for article in articles if article.external_id}


@transaction.atomic
def store(
    document: Document,
    body: str,
    slug: str,
    article: Article | None,
    categories: Categories,
    *,
    overwrite: bool,
) -> tuple[Outcome, int]:
    """Makes the article say what the document says; returns its id too.

    `body` has its links followed. A new article that could not be stored leaves no trace.
    """
    is_new = article is None
    article = article or Article(external_id=document.external_id)
    was_edited = not is_new and fingerprint(article) != article.imported_hash
    old_slug, old_status, before = article.slug, article.status, fingerprint(article)
    category = categories.find(document.category)
    _fill(article, document, body, category)
    article.slug, article.status = slug, document.status
    is_filed = category is not None or not document.category
    if not is_new and is_filed and fingerprint(article) == before:
        return _unchanged(article, was_edited), article.pk
    if was_edited and not overwrite:
        return Outcome.KEPT, article.pk
    article.category = categories.get(document.category)
    article.slug, article.status = old_slug or slug, old_status
    _save(article, document, slug)
    Article.objects.filter(pk=article.pk).update(imported_hash=fingerprint(article))
    return (Outcome.NEW if is_new else Outcome.UPDATED), article.pk


def _fill(article: Article, document: Document, body: str, category: Category | None) -> None:
    article.title = document.title
    article.summary = document.summary
    article.body = body
    article.language = document.language or settings.LANGUAGE_CODE
    article.category = category
    article.position = document.position
    article.visibility = document.visibility


def _unchanged(article: Article, was_edited: bool) -> Outcome:
    """File and article agree, perhaps because the same edit was made to both."""
    if was_edited:
        Article.objects.filter(pk=article.pk).update(imported_hash=fingerprint(article))
    return Outcome.UNCHANGED


def _save(article: Article, document: Document, slug: str) -> None:
    if article.slug != slug:
        publishing.change_slug(article, slug)
    if document.status == Status.PUBLISHED:
        article.published_at = article.published_at or document.date
        publishing.publish(article, index=False)
        return
    was_published = article.status == Status.PUBLISHED
    article.save()
    if was_published or article.status != document.status:
        publishing.withdraw(article, document.status)
