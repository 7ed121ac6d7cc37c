"""One import from start to end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.urls import reverse

from articles import embeddings, indexing, vector_index
from articles.importing.documents import Document, Options, read_documents
from articles.importing.links import Follower, Pages
from articles.importing.media import Pictures
from articles.importing.report import Kind, Outcome, Report
from articles.importing.sources import Source, open_source
from articles.importing.storing import Categories, Slugs, existing_articles, store
from articles.models import Article, Status
from articles.ranking import outskirts, spelling
from articles.terms import frequencies, lengths

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called with what is being done (`read`, `store`, `index`, `build`), how far it is, and how far
it goes."""


def import_articles(
    path: Path, options: Options | None = None, progress: Progress | None = None
) -> Report:
    """Imports the folder or .zip at `path`; every problem stands in the report.

    With `dry_run` the report is the same and nothing is written. Raises
    `CannotImportError` when `path` itself cannot be read.
    """
    options = options or Options()
    source = open_source(path)
    try:
        return _Import(source, options, progress or (lambda stage, done, total: None)).run()
    finally:
        source.close()


class _Import:
    """One run: what was read, what is stored so far, and what is to be indexed."""

    def __init__(self, source: Source, options: Options, progress: Progress) -> None:
        self.source = source
        self.options = options
        self.progress = progress
        self.report = Report()
        self.to_index: dict[int, str] = {}

    def run(self) -> Report:
        for path, reason in sorted(self.source.refused.items()):
            self.report.add(Kind.REFUSED, path, f"refused: {reason}")
        documents = self._read()
        with transaction.atomic() if self.options.dry_run else nullcontext():
            self._store(documents)
            if self.options.dry_run:
                transaction.set_rollback(True)
        if not self.options.dry_run:
            self._index()
        return self.report

    def _read(self) -> list[Document]:
        """The documents of the source, the first of those that share an id."""
        documents: dict[str, Document] = {}
        total, done = len(self.source.paths), 0
        for found in read_documents(self.source, self.options, self.report):
            if isinstance(found, str):
                done += 1
                self.progress("read", done, total)
            elif found.external_id in documents:
                other = documents[found.external_id].path
                self.report.fail(found.path, f"has the same id as {other}")
            else:
                documents[found.external_id] = found
        return list(documents.values())

    def _store(self, documents: list[Document]) -> None:
        articles = existing_articles(documents)
        slugs = Slugs(articles)
        for document in documents:
            slugs.give(document, self.report)
        pictures = Pictures(self.source, dry_run=self.options.dry_run)
        follower = Follower(
            Pages(documents, self.options.site),
            pictures,
            lambda document: reverse("articles:article", args=[slugs.of(document)]),
            self.report,
        )
        categories = Categories()
        for number, document in enumerate(documents, start=1):
            body = follower.body(document)
            article = articles.get(document.external_id)
            self._store_one(document, body, slugs.of(document), article, categories)
            self.progress("store", number, len(documents))
        self.report.images = pictures.copied

    def _store_one(
        self,
        document: Document,
        body: str,
        slug: str,
        article: Article | None,
        categories: Categories,
    ) -> None:
        try:
            outcome, article_id = store(
                document, body, slug, article, categories, overwrite=self.options.overwrite
            )
        except (DatabaseError, ValidationError) as error:
            categories.forget()
            logger.warning("import_failed", extra={"path": document.path}, exc_info=True)
            self.report.fail(document.path, f"the database refused it: {type(error).__name__}")
            return
        self.report.outcomes[document.path] = outcome
        if outcome == Outcome.KEPT:
            self.report.add(Kind.KEPT, document.path, "edited on the site since, so it is kept")
        elif outcome != Outcome.UNCHANGED and document.status == Status.PUBLISHED:
            self.to_index[article_id] = document.path

    def _index(self) -> None:
        """What was published is searchable when the import ends."""
        done = 0
        articles = Article.objects.filter(pk__in=self.to_index).order_by("pk")
        lengths.expect(articles)
        for batch in indexing.batches(articles):
            for article_id, outcome in indexing.index_articles(batch).items():
                self.report.passages += outcome.written + outcome.kept
                if outcome.error:
                    self.report.add(Kind.NOTE, self.to_index[article_id], outcome.error)
            done += len(batch)
            self.progress("index", done, len(self.to_index))
        if self.to_index:
            frequencies.recount()
            outskirts.measure()
            spelling.collect()
            self._build_vector_index()

    def _build_vector_index(self) -> None:
        """A bulk import ends with the vector index that searches among so many passages need."""
        with suppress(embeddings.EmbeddingError):
            embedder = embeddings.active()
            if embedder is not None and vector_index.is_due(embedder):
                self.progress("build", 0, 1)
                vector_index.build(embedder)
                self.progress("build", 1, 1)
