"""System checks and the readiness check of the index.

The embedding settings are checked without a database; what the index holds is checked
where Django checks the database: `manage.py check --database default`, and `migrate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core import checks
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from articles import embeddings, vector_index
from articles.models import Article, IndexEntry, Passage, Status
from articles.vector_index import EXACT_ROWS

PATIENCE = timedelta(minutes=15)
"""How long the first articles may take to appear in the index."""


@checks.register(checks.Tags.compatibility)
def check_embedding_settings(**kwargs: Any) -> list[checks.CheckMessage]:
    """The settings name an embedder that can exist."""
    try:
        embeddings.active()
    except embeddings.EmbeddingError as error:
        return [
            checks.Error(
                f"No embeddings can be made: {error}.",
                hint="Set EMBEDDING_DIMENSIONS to what the model makes. "
                "Until then articles are searched by their words alone.",
                id="articles.E001",
            )
        ]
    return []


@checks.register(checks.Tags.database)
def check_index(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """What the index holds is what the settings search by."""
    if not databases or "default" not in databases or not _is_migrated():
        return []
    try:
        embedder = embeddings.active()
    except embeddings.EmbeddingError:
        return []
    if embedder is None:
        return []
    by_model = dict(
        Passage.objects.order_by().values_list("embedding_model").annotate(count=Count("pk"))
    )
    current = by_model.pop(embedder.name, 0)
    return [*_other_vectors(embedder.name, by_model), *_slow_vectors(embedder, current)]


def _other_vectors(model: str, others: dict[str, int]) -> list[checks.CheckMessage]:
    if not others:
        return []
    named = ", ".join(f"{count} of {name or 'no model'}" for name, count in sorted(others.items()))
    return [
        checks.Warning(
            f"Not every passage has a vector of the embedding model in use, {model}: {named}. "
            "Search finds these by their words alone.",
            hint="Run manage.py reindex, or wait for the worker.",
            id="articles.W001",
        )
    ]


def _slow_vectors(embedder: embeddings.Embedder, count: int) -> list[checks.CheckMessage]:
    if count <= EXACT_ROWS or vector_index.indexes().get(vector_index.index_name(embedder)):
        return []
    return [
        checks.Warning(
            f"{count} passages are compared one by one in every search.",
            hint="Run manage.py reindex: it builds the index for this.",
            id="articles.W002",
        )
    ]


def _is_migrated() -> bool:
    return Passage._meta.db_table in connection.introspection.table_names()


def check_readiness() -> str | None:
    """For `helpcenter.health`: the index can be read, and is not empty for good."""
    if IndexEntry.objects.exists():
        return None
    waiting = Article.objects.filter(
        status=Status.PUBLISHED, live_revision__created_at__lt=timezone.now() - PATIENCE
    )
    return "no article is indexed" if waiting.exists() else None
