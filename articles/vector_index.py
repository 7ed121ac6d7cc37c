"""The HNSW index over the vectors of one model.

The column takes vectors of any length; the index is one of expression and condition, on
what this model made. A change of model needs no migration: a second index is built
beside the first, and the first goes when nothing is searched by it any more.

Few vectors need none: comparing them one by one is exact and as quick. A bulk import and
the worker build it once there are many; an index that is there grows by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from articles.embeddings import Embedder
from articles.models import Passage

PREFIX = "passage_hnsw_"

MOST_DIMENSIONS = 4_000
"""The most that an index of `halfvec` can have."""


EXACT_ROWS = 5_000
"""Up to so many passages in scope, cosines are computed one by one."""

LOCK = 7_206_119
"""The advisory lock of who builds."""

_ROW_OVERHEAD = 600
"""Bytes of a vector's place in the graph, besides the vector, while it is built."""

_MEGABYTE = 1 << 20
_MEMORY = range(64, 1_025)
"""Megabytes that a build may take. One that does not fit its graph in takes ten times as long."""


def index_name(embedder: Embedder) -> str:
    return PREFIX + hashlib.blake2b(embedder.name.encode(), digest_size=6).hexdigest()


def indexes() -> dict[str, bool]:
    """The vector indexes there are, and whether each is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = 'articles_passage'::regclass AND starts_with(relname, %s)
            """,
            [PREFIX],
        )
        return dict(cursor.fetchall())


def build(embedder: Embedder) -> bool:
    """Build the index for this model, while searches go on; says whether it was missing.

    Not inside a transaction. What an interrupted build left behind is built anew; while
    another process builds, there is nothing to do.
    """
    with _alone() as is_alone:
        if not is_alone or indexes().get(index_name(embedder)):
            return False
        _create(embedder)
    return True


def is_due(embedder: Embedder) -> bool:
    """Whether so many passages have vectors of this model that searches need an index."""
    if indexes().get(index_name(embedder)):
        return False
    rows = Passage.objects.filter(embedding_model=embedder.name).order_by()
    return rows[EXACT_ROWS : EXACT_ROWS + 1].exists()


def _create(embedder: Embedder) -> None:
    name, size = index_name(embedder), int(embedder.dimensions)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {name}")
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [_memory(embedder)])
        try:
            cursor.execute(
                f"CREATE INDEX {_concurrently()} {name} ON articles_passage"
                f" USING hnsw ((embedding::halfvec({size})) halfvec_cosine_ops)"
                " WHERE embedding_model = %s",
                [embedder.name],
            )
        finally:
            if not transaction.get_connection().needs_rollback:
                cursor.execute("RESET maintenance_work_mem")


def _memory(embedder: Embedder) -> str:
    """What the graph of this model's vectors takes, within bounds, as PostgreSQL writes it."""
    rows = Passage.objects.filter(embedding_model=embedder.name).count()
    megabytes = rows * (2 * embedder.dimensions + _ROW_OVERHEAD) // _MEGABYTE + 1
    return f"{min(max(megabytes, _MEMORY[0]), _MEMORY[-1])}MB"


@contextmanager
def _alone() -> Iterator[bool]:
    """Inside, no other process builds. False where one does already."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        (is_alone,) = cursor.fetchone()
        try:
            yield bool(is_alone)
        finally:
            if is_alone and not transaction.get_connection().needs_rollback:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def drop_others(embedder: Embedder) -> list[str]:
    """Drop the indexes of other models. Returns their names."""
    others = [name for name in indexes() if name != index_name(embedder)]
    with connection.cursor() as cursor:
        for name in others:
            cursor.execute(f"DROP INDEX {_concurrently()} IF EXISTS {name}")
    return others


def _concurrently() -> str:
    """Tests run inside a transaction, where that is not possible."""
    return "" if transaction.get_connection().in_atomic_block else "CONCURRENTLY"
