"""Live revisions to passages in the index: one article at a time, by content.

A passage whose content did not change keeps its row and its vector, wherever it moved.
Everything here may run twice, at once and in any order: the article's own row, locked,
decides what is written. What an article lacks in the index is found by `stale`.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.db import transaction
from django.db.models import F, Q, QuerySet
from pgvector import HalfVector

from articles import embeddings
from articles.analysis import base_language
from articles.chunking import chunk
from articles.models import Article, ArticleRevision, IndexEntry, IndexState, Passage, Status
from articles.searchable import Source, forms

logger = logging.getLogger(__name__)

MOST_PASSAGES = 1_000
"""Passages of one article; about a megabyte of text. What is beyond is reported, not searched."""

CHANGING = ["position", "revision", "embedding", "embedding_model"]
"""What may change on a row whose content stays."""

OutcomeStatus = Literal["indexed", "unchanged", "withdrawn", "superseded", "missing"]


@dataclass(frozen=True)
class Outcome:
    """What indexing one article came to: its rows, and what of it is not searchable, and why."""

    status: OutcomeStatus
    written: int = 0
    kept: int = 0
    removed: int = 0
    error: str = ""
    lacks_vectors: bool = False


def index_article(article_id: int) -> Outcome:
    """Bring the index of one article up to its live revision."""
    article = Article.objects.select_related("live_revision").filter(pk=article_id).first()
    if article is None:
        return Outcome("missing")
    revision = article.live_revision
    if article.status != Status.PUBLISHED or revision is None:
        return withdraw(article_id)
    sources, error = _sources(revision)
    vectors, model, embedding_error = _vectors(article_id, sources)
    with transaction.atomic():
        if not _is_live(article_id, revision):
            return Outcome("superseded")
        outcome = _write(article_id, revision, sources, vectors, model)
        problems = "; ".join(filter(None, [error, embedding_error]))[:300]
        _note(article_id, revision, model, problems)
    return replace(outcome, error=problems, lacks_vectors=bool(embedding_error))


def withdraw(article_id: int) -> Outcome:
    """Take an article that is not live out of the index."""
    with transaction.atomic():
        live = Article.objects.select_for_update().filter(pk=article_id, status=Status.PUBLISHED)
        if live.exists():
            return Outcome("superseded")
        removed, _by_model = Passage.objects.filter(article_id=article_id).delete()
        IndexEntry.objects.filter(article_id=article_id).delete()
    return Outcome("withdrawn", removed=removed)


def stale() -> QuerySet[Article]:
    """The live articles that the index does not hold as they are: longest waiting first."""
    is_current = Q(index_entry__revision=F("live_revision"))
    model = active_model()
    if model is not None:
        is_current &= Q(index_entry__embedding_model=model)
    return (
        Article.objects.filter(status=Status.PUBLISHED, live_revision__isnull=False)
        .exclude(pk__in=Article.objects.filter(is_current).values("pk"))
        .order_by(F("index_entry__indexed_at").asc(nulls_first=True), "pk")
    )


def orphaned() -> QuerySet[Article]:
    """The articles that are not live and still have something in the index."""
    indexed = Q(passages__isnull=False) | Q(index_entry__isnull=False)
    return Article.objects.exclude(status=Status.PUBLISHED).filter(indexed).distinct()


def active_model() -> str | None:
    """The name of the model whose vectors are wanted: empty for none, None where the settings
    contradict each other and nothing can be wanted."""
    try:
        embedder = embeddings.active()
    except embeddings.EmbeddingError:
        return None
    return embedder.name if embedder else ""


def _sources(revision: ArticleRevision) -> tuple[list[Source], str]:
    """The passages of a revision, and what is to be said about those left out."""
    language = base_language(revision.language)
    found = [
        Source(revision.title, piece.heading_path, piece.anchor, piece.text, language)
        for piece in chunk(revision.body)
    ]
    if not found:
        found = [Source(revision.title, (), "", revision.summary, language)]
    if len(found) <= MOST_PASSAGES:
        return found, ""
    return found[:MOST_PASSAGES], f"cut after {MOST_PASSAGES} of {len(found)} passages"


def _vectors(article_id: int, sources: Sequence[Source]) -> tuple[dict[str, list[float]], str, str]:
    """Vectors by content hash for what has none of the active model, its name, and an error."""
    try:
        embedder = embeddings.active()
        if embedder is None:
            return {}, "", ""
        known = set(
            Passage.objects.filter(
                article_id=article_id, embedding_model=embedder.name
            ).values_list("content_hash", flat=True)
        )
        wanted = {source.content_hash(): source for source in sources}
        missing = [digest for digest in wanted if digest not in known]
        texts = [wanted[digest].embedding_text() for digest in missing]
        vectors = embedder.embed(texts, patient=True) if texts else []
        return dict(zip(missing, vectors, strict=True)), embedder.name, ""
    except embeddings.EmbeddingError as error:
        logger.warning("embedding_failed", extra={"article_id": article_id, "reason": str(error)})
        return {}, "", f"not found by meaning: {error}"


def _is_live(article_id: int, revision: ArticleRevision) -> bool:
    """Whether the article, locked, is still live in this revision."""
    rows = Article.objects.select_for_update().filter(
        pk=article_id, status=Status.PUBLISHED, live_revision=revision
    )
    return rows.exists()


def _write(
    article_id: int,
    revision: ArticleRevision,
    sources: Sequence[Source],
    vectors: dict[str, list[float]],
    model: str,
) -> Outcome:
    """Make the article's rows those of `sources`, using the rows there are."""
    article = Article.objects.only("category_id", "visibility").get(pk=article_id)
    state, _created = IndexState.objects.get_or_create(language=base_language(revision.language))
    unused: dict[str, list[Passage]] = defaultdict(list)
    for row in Passage.objects.filter(article_id=article_id).order_by("position"):
        unused[row.content_hash].append(row)
    new: list[Passage] = []
    kept: list[Passage] = []
    changed: list[Passage] = []
    for position, source in enumerate(sources):
        digest = source.content_hash()
        if unused[digest]:
            row = unused[digest].pop(0)
            kept.append(row)
            if (row.position, row.revision_id) != (position, revision.pk) or digest in vectors:
                changed.append(row)
        else:
            row = _new_row(article, source, state.average_length)
            new.append(row)
        row.position, row.revision = position, revision
        if digest in vectors:
            row.embedding, row.embedding_model = HalfVector(vectors[digest]), model
    leftover = [row.pk for rows in unused.values() for row in rows]
    Passage.objects.filter(pk__in=leftover).delete()
    Passage.objects.bulk_update(changed, CHANGING, batch_size=200)
    Passage.objects.bulk_create(new, batch_size=200)
    status: OutcomeStatus = "indexed" if new or changed or leftover else "unchanged"
    return Outcome(status, len(new), len(kept), len(leftover))


def _new_row(article: Article, source: Source, average_length: float) -> Passage:
    searchable = forms(source, average_length)
    return Passage(
        article=article,
        heading_path=list(source.heading_path),
        anchor=source.anchor,
        text=source.text,
        content_hash=source.content_hash(),
        category_id=article.category_id,
        visibility=article.visibility,
        language=source.language,
        terms=searchable.terms,
        bm25=searchable.bm25,
    )


def _note(article_id: int, revision: ArticleRevision, model: str, error: str) -> None:
    IndexEntry.objects.update_or_create(
        article_id=article_id,
        defaults={"revision": revision, "embedding_model": model, "error": error},
    )
