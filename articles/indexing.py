"""Live revisions to passages in the index: a few articles at a time, by content.

A passage whose content did not change keeps its row and its vector, wherever it moved.
Everything here may run twice, at once and in any order: the article's own row, locked,
decides what is written. What an article lacks in the index is found by `stale`.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone
from pgvector import HalfVector

from articles import embeddings
from articles.models import Article, ArticleRevision, IndexEntry, IndexState, Passage, Status
from articles.searchable import Source, forms, sources
from articles.terms.analysis import base_language

logger = logging.getLogger(__name__)

BATCH = 64
BATCH_CHARACTERS = 400_000
"""Articles, and characters of their texts, that are indexed together."""

PER_STATEMENT = 200

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
    return index_articles([article_id])[article_id]


def index_articles(article_ids: Sequence[int]) -> dict[int, Outcome]:
    """Bring the index of these articles up to their live revisions, all or none of them.

    Their texts are embedded together and their rows written together, which takes a third
    of the time. `batches` says how many belong in one call.
    """
    outcomes = {article_id: Outcome("missing") for article_id in article_ids}
    wanted: dict[int, _Wanted] = {}
    for article in Article.objects.select_related("live_revision").filter(pk__in=article_ids):
        if article.status == Status.PUBLISHED and article.live_revision is not None:
            wanted[article.pk] = _Wanted(article.live_revision, *sources(article.live_revision))
        else:
            outcomes[article.pk] = withdraw(article.pk)
    vectors = _vectors(wanted)
    with transaction.atomic():
        live = _locked(wanted)
        written = _write(list(live.values()), wanted, vectors)
    superseded = {article_id: Outcome("superseded") for article_id in wanted}
    return outcomes | superseded | written


def batches(articles: QuerySet[Article]) -> Iterator[list[int]]:
    """The ids of these articles in their order, so many together as fit in memory."""
    sized = articles.annotate(size=Length("live_revision__body")).values_list("pk", "size")
    batch: list[int] = []
    characters = 0
    for article_id, size in list(sized):
        if batch and (len(batch) == BATCH or characters + (size or 0) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(article_id)
        characters += size or 0
    if batch:
        yield batch


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


@dataclass(frozen=True)
class _Wanted:
    """What the index is to hold of an article, in order, and what is to be said about the rest."""

    revision: ArticleRevision
    sources: list[Source]
    error: str

    @cached_property
    def digests(self) -> list[str]:
        return [source.content_hash() for source in self.sources]


@dataclass(frozen=True)
class _Vectors:
    """Vectors by content hash for what has none of the active model, its name, and an error."""

    by_digest: dict[str, list[float]]
    model: str
    error: str


def _vectors(wanted: Mapping[int, _Wanted]) -> _Vectors:
    """One call for what these articles lack: a passage that kept its content has its vector."""
    try:
        embedder = embeddings.active()
        if embedder is None:
            return _Vectors({}, "", "")
        known = set(
            Passage.objects.filter(article__in=wanted, embedding_model=embedder.name)
            .order_by()
            .values_list("article_id", "content_hash")
        )
        missing = {
            digest: source.embedding_text()
            for article_id, one in wanted.items()
            for digest, source in zip(one.digests, one.sources, strict=True)
            if (article_id, digest) not in known
        }
        made = embedder.embed(list(missing.values()), patient=True) if missing else []
        return _Vectors(dict(zip(missing, made, strict=True)), embedder.name, "")
    except embeddings.EmbeddingError as error:
        logger.warning("embedding_failed", extra={"articles": len(wanted), "reason": str(error)})
        return _Vectors({}, "", f"not found by meaning: {error}")


def _locked(wanted: Mapping[int, _Wanted]) -> dict[int, Article]:
    """Those of the articles that are still live in the revision that was read, locked."""
    rows = Article.objects.select_for_update().filter(pk__in=wanted, status=Status.PUBLISHED)
    fields = rows.only("category_id", "visibility", "live_revision_id").order_by("pk")
    return {row.pk: row for row in fields if row.live_revision_id == wanted[row.pk].revision.pk}


@dataclass
class _Rows:
    """What is to be written for one article: `placed` rows changed their place, `embedded`
    ones have a new vector."""

    new: list[Passage] = field(default_factory=list)
    kept: list[Passage] = field(default_factory=list)
    placed: list[Passage] = field(default_factory=list)
    embedded: list[Passage] = field(default_factory=list)
    leftover: list[int] = field(default_factory=list)

    def outcome(self, error: str, lacks_vectors: bool) -> Outcome:
        is_changed = self.new or self.placed or self.embedded or self.leftover
        return Outcome(
            "indexed" if is_changed else "unchanged",
            len(self.new),
            len(self.kept),
            len(self.leftover),
            error,
            lacks_vectors,
        )


def _write(
    articles: Sequence[Article], wanted: Mapping[int, _Wanted], vectors: _Vectors
) -> dict[int, Outcome]:
    """Make the rows of these articles what is wanted, using the rows there are."""
    there = _rows_there(articles)
    lengths = _average_lengths(wanted[article.pk] for article in articles)
    rows = {
        article.pk: _rows(article, wanted[article.pk], there[article.pk], vectors, lengths)
        for article in articles
    }
    _store(list(rows.values()))
    outcomes = {}
    entries = []
    for article_id, change in rows.items():
        one = wanted[article_id]
        problems = "; ".join(filter(None, [one.error, vectors.error]))[:300]
        entries.append(_entry(article_id, one.revision, vectors.model, problems))
        outcomes[article_id] = change.outcome(problems, bool(vectors.error))
    IndexEntry.objects.bulk_create(
        entries,
        update_conflicts=True,
        unique_fields=["article"],
        update_fields=["revision", "embedding_model", "error", "indexed_at"],
    )
    return outcomes


def _rows_there(articles: Sequence[Article]) -> dict[int, list[Passage]]:
    """The rows of each article in order, without their texts and vectors."""
    rows = Passage.objects.filter(article__in=articles).order_by("article", "position")
    found: dict[int, list[Passage]] = defaultdict(list)
    for row in rows.only(
        "article_id", "position", "revision_id", "content_hash", "embedding_model"
    ):
        found[row.article_id].append(row)
    return found


def _average_lengths(wanted: Iterable[_Wanted]) -> dict[str, float]:
    """The constant of each language of these articles."""
    languages = sorted({base_language(one.revision.language) for one in wanted})
    states = [IndexState.objects.get_or_create(language=language)[0] for language in languages]
    return {state.language: state.average_length for state in states}


def _rows(
    article: Article,
    wanted: _Wanted,
    there: Sequence[Passage],
    vectors: _Vectors,
    lengths: Mapping[str, float],
) -> _Rows:
    """What is to be written for one article: a row whose content stays is used again."""
    rows = _Rows()
    unused: dict[str, list[Passage]] = defaultdict(list)
    for row in there:
        unused[row.content_hash].append(row)
    for position, (digest, source) in enumerate(zip(wanted.digests, wanted.sources, strict=True)):
        if unused[digest]:
            row = unused[digest].pop(0)
            rows.kept.append(row)
            if (row.position, row.revision_id) != (position, wanted.revision.pk):
                rows.placed.append(row)
            if digest in vectors.by_digest and row.embedding_model != vectors.model:
                rows.embedded.append(row)
        else:
            row = _new_row(article, source, digest, lengths[source.language])
            rows.new.append(row)
        row.position, row.revision = position, wanted.revision
        if digest in vectors.by_digest and row.embedding_model != vectors.model:
            vector = HalfVector(vectors.by_digest[digest])
            row.embedding, row.embedding_model = vector, vectors.model
    rows.leftover = [row.pk for remaining in unused.values() for row in remaining]
    return rows


def _store(changes: Sequence[_Rows]) -> None:
    leftover = [pk for change in changes for pk in change.leftover]
    placed = [row for change in changes for row in change.placed]
    embedded = [row for change in changes for row in change.embedded]
    if leftover:
        Passage.objects.filter(pk__in=leftover).delete()
    Passage.objects.bulk_update(placed, ["position", "revision"], batch_size=PER_STATEMENT)
    Passage.objects.bulk_update(
        embedded, ["embedding", "embedding_model"], batch_size=PER_STATEMENT
    )
    _copy([row for change in changes for row in change.new])


def _copy(rows: Sequence[Passage]) -> None:
    """Insert rows by COPY: an INSERT of so many long values costs three times the CPU."""
    fields = [field for field in Passage._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    statement = f"COPY {Passage._meta.db_table} ({columns}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = (getattr(row, field.attname) for field in fields)
            copy.write_row(
                [
                    field.get_db_prep_save(value, connection)
                    for field, value in zip(fields, values, strict=True)
                ]
            )


def _new_row(article: Article, source: Source, digest: str, average_length: float) -> Passage:
    searchable = forms(source, average_length)
    return Passage(
        article=article,
        heading_path=list(source.heading_path),
        anchor=source.anchor,
        text=source.text,
        content_hash=digest,
        category_id=article.category_id,
        visibility=article.visibility,
        language=source.language,
        terms=searchable.terms,
        bm25=searchable.bm25,
    )


def _entry(article_id: int, revision: ArticleRevision, model: str, error: str) -> IndexEntry:
    return IndexEntry(
        article_id=article_id,
        revision=revision,
        embedding_model=model,
        error=error,
        indexed_at=timezone.now(),
    )
