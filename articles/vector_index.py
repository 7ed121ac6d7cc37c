"""The HNSW index over the vectors of one model.

The column takes vectors of any length; the index is one of expression and condition, on
what this model made. A change of model needs no migration: a second index is built
beside the first, and the first goes when nothing is searched by it any more.
"""

from __future__ import annotations

import hashlib

from django.db import connection, transaction

from articles.embeddings import Embedder

PREFIX = "passage_hnsw_"

MOST_DIMENSIONS = 4_000
"""The most that an index of `halfvec` can have."""


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

    Not inside a transaction. What an interrupted build left behind is built anew.
    """
    name = index_name(embedder)
    if indexes().get(name):
        return False
    size = int(embedder.dimensions)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {name}")
        cursor.execute(
            f"CREATE INDEX {_concurrently()} {name} ON articles_passage"
            f" USING hnsw ((embedding::halfvec({size})) halfvec_cosine_ops)"
            " WHERE embedding_model = %s",
            [embedder.name],
        )
    return True


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
