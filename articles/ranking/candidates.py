"""The one statement of search: which passages may answer a query, by words and by meaning.

Words: the GIN index finds passages with any of the query's rarer terms, the inner
product of BM25 vectors orders them. Meaning: the cosine of embeddings; exact in a small
scope, by the HNSW index and its iterative scan in a large one. Both look only where this
reader may, by the articles' own rows, and only at passages of live revisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from pgvector import HalfVector, SparseVector

from articles.models import Article
from articles.ranking import estimates, fusion
from articles.ranking.calibration import Scale
from articles.ranking.queries import Analysed, any_of, picking
from articles.terms import bm25
from articles.vector_index import EXACT_ROWS

PER_LIST = 60
"""Passages that each of the two lists contributes: as many as are weighed."""

EVERY_ROW = 2**62
"""For `PER_LIST` and `queries.COMMON_ROWS`: nothing is left out."""


Sql = tuple[str, list[Any]]


@dataclass(frozen=True)
class Scope:
    """Where to look: articles by the gate of `articles.access`, a language, categories."""

    articles: QuerySet[Article]
    language: str
    categories: tuple[int, ...] | None = None

    def filters(self) -> Sql:
        """SQL on a passage `p`: language and categories. The gate is not in it: whoever reads
        rows by it joins `gate`, or takes `condition`."""
        if self.categories is None:
            return "p.language = %s", [self.language]
        return "p.language = %s AND p.category_id = ANY(%s)", [self.language, list(self.categories)]

    def condition(self) -> Sql:
        """SQL on a passage `p`, the gate included."""
        filters, values = self.filters()
        live, parameters = self.live
        return f"{filters} AND p.revision_id IN ({live})", [*values, *parameters]

    @cached_property
    def live(self) -> Sql:
        """SQL that gives the live revisions of the articles the gate lets through."""
        live = self.articles.order_by().values("live_revision")
        sql, parameters = live.query.sql_with_params()
        return sql, list(parameters)

    def gate(self, passage: str) -> Sql:
        """SQL of a join that keeps those rows of `passage` that the gate lets through.

        Row by row, as they are asked for: a list ends after its first few dozen, and reading
        all articles to look those up took longer than the rest of the search.
        """
        sql, parameters = self.live
        join = f"""
            CROSS JOIN LATERAL (
                SELECT FROM ({sql}) AS live (revision)
                WHERE live.revision = {passage}.revision_id LIMIT 1
            ) AS gate
        """
        return join, parameters


@dataclass(frozen=True)
class QueryVector:
    """A query as a point in the space of an embedding model, and that model's scale."""

    values: tuple[float, ...]
    model: str
    scale: Scale

    @cached_property
    def text(self) -> str:
        """As PostgreSQL reads it. A search says it several times."""
        return HalfVector(list(self.values)).to_text()


@dataclass(frozen=True)
class Candidate:
    """A passage that may answer. Ranks count from 1, None where that list lacks it; `cosine`
    is on the scale of the local model."""

    passage_id: int
    lexical_rank: int | None
    dense_rank: int | None
    cosine: float | None
    bm25: float


def find(query: Analysed, vector: QueryVector | None, scope: Scope) -> list[Candidate]:
    """The candidates in fused order. Without a `vector`, by words alone."""
    lexical = by_words(query, scope) if query.words else _NOTHING
    dense = by_meaning(vector, scope, is_large=query.passages > EXACT_ROWS) if vector else _NOTHING
    both: Sql = ("lexical FULL JOIN dense USING (id) JOIN articles_passage p USING (id)", [])
    return _in_fused_order(_candidates(query, vector, lexical, dense, both))


def standing(
    query: Analysed, vector: QueryVector | None, scope: Scope, article_id: int
) -> list[Candidate]:
    """Every live passage of an article in scope, at its exact ranks among all that are: also of
    those that `find` leaves out. In fused order, then those in neither list.

    Slow: compares everything in scope. For people who ask about one article.
    """
    lexical = by_words(query, scope, EVERY_ROW, EVERY_ROW) if query.words else _NOTHING
    dense = by_meaning(vector, scope, is_large=False, most=EVERY_ROW) if vector else _NOTHING
    live, parameters = scope.live
    own = f"""
        articles_passage p LEFT JOIN lexical USING (id) LEFT JOIN dense USING (id)
        WHERE p.article_id = %s AND p.revision_id IN ({live})
    """
    found = _candidates(query, vector, lexical, dense, (own, [article_id, *parameters]))
    fused = _in_fused_order(found)
    return [*fused, *(found[key] for key in sorted({*found} - {one.passage_id for one in fused}))]


def _candidates(
    query: Analysed, vector: QueryVector | None, lexical: Sql, dense: Sql, joined: Sql
) -> dict[int, Candidate]:
    """The passages `p` of `joined` by id, which joins them with the two lists."""
    cosine = _cosine(vector) if vector else ("NULL::float8", [])
    statement = f"""
        WITH lexical AS ({lexical[0]}), dense AS ({dense[0]})
        SELECT p.id, lexical.rank, dense.rank, {cosine[0]}, -(p.bm25 <#> %s)
        FROM {joined[0]}
    """  # noqa: S608 - built of constants; every value is a parameter
    values = [*lexical[1], *dense[1], *cosine[1], _sparse(query), *joined[1]]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return {row[0]: _candidate(row, vector) for row in cursor.fetchall()}


def _in_fused_order(found: dict[int, Candidate]) -> list[Candidate]:
    fused = fusion.fuse([_ranked(found, "lexical_rank"), _ranked(found, "dense_rank")])
    return [found[passage_id] for passage_id in fused]


def _candidate(row: tuple[Any, ...], vector: QueryVector | None) -> Candidate:
    passage_id, lexical_rank, dense_rank, cosine, score = row
    if cosine is not None and vector is not None:
        cosine = vector.scale.comparable(cosine)
    return Candidate(passage_id, lexical_rank, dense_rank, cosine, score)


_NOTHING: Sql = ("SELECT NULL::bigint AS id, NULL::bigint AS rank WHERE false", [])


def by_words(
    query: Analysed, scope: Scope, most_rows: int | None = None, most: int | None = None
) -> Sql:
    """SQL of the `most` passages with the highest BM25 score: id, distance, rank. Exact where
    `most_rows`, by default `common_rows`, is more than there are."""
    chosen = " | ".join(map(any_of, picking(query, most_rows)))
    wanted: Sql = ("p.terms @@ %s::tsquery", [chosen])
    return _nearest(("p.bm25 <#> %s", [_sparse(query)]), wanted, scope, most or PER_LIST)


def by_meaning(
    vector: QueryVector, scope: Scope, *, is_large: bool, most: int | None = None
) -> Sql:
    """SQL of the `most` passages with the nearest vectors: id, distance, rank. Exact where the
    index, or the scope, is not large."""
    distance, has_vector = _distance(vector), ("p.embedding_model = %s", [vector.model])
    if is_large and not _is_small(vector.model, scope):
        return _nearest_by_index(distance, has_vector, scope, most or PER_LIST)
    return _nearest(distance, has_vector, scope, most or PER_LIST)


def _nearest(distance: Sql, wanted: Sql, scope: Scope, most: int) -> Sql:
    """The passages at the least distance: all that are wanted are compared."""
    filters, values = scope.filters()
    gate, parameters = scope.gate("compared")
    # Adding nothing keeps the planner from an approximate index where exact is quick.
    compared = f"""
        SELECT p.id, p.revision_id, ({distance[0]}) + 0 AS distance FROM articles_passage p
        WHERE {wanted[0]} AND {filters} ORDER BY distance, p.id
    """  # noqa: S608
    sql = f"""
        SELECT compared.id, compared.distance FROM ({compared}) AS compared {gate}
        ORDER BY compared.distance, compared.id LIMIT {most}
    """  # noqa: S608
    return _numbered((sql, [*distance[1], *wanted[1], *values, *parameters]))


def _nearest_by_index(distance: Sql, wanted: Sql, scope: Scope, most: int) -> Sql:
    """The passages at the least distance, as the vector index gives them: nearly in order,
    until there are enough."""
    filters, values = scope.filters()
    gate, parameters = scope.gate("p")
    sql = f"""
        SELECT p.id, {distance[0]} AS distance FROM articles_passage p {gate}
        WHERE {wanted[0]} AND {filters} ORDER BY distance LIMIT {most}
    """  # noqa: S608
    return _numbered((sql, [*distance[1], *parameters, *wanted[1], *values]))


def _numbered(nearest: Sql) -> Sql:
    sql, values = nearest
    rank = "row_number() OVER (ORDER BY distance, id) AS rank"
    return f"SELECT id, distance, {rank} FROM ({sql}) AS nearest", values  # noqa: S608


def _is_small(model: str, scope: Scope) -> bool:
    """Whether so few passages are in scope that all their cosines can be computed."""
    condition, values = scope.condition()
    sql = f"SELECT FROM articles_passage p WHERE p.embedding_model = %s AND {condition}"
    return estimates.rows(sql, [model, *values]) <= EXACT_ROWS


def _distance(vector: QueryVector) -> Sql:
    size = len(vector.values)
    sql = f"(p.embedding::halfvec({size}) <=> %s::halfvec({size}))"
    return sql, [vector.text]


def _cosine(vector: QueryVector) -> Sql:
    distance, point = _distance(vector)
    return f"CASE WHEN p.embedding_model = %s THEN 1 - {distance} END", [vector.model, *point]


def _sparse(query: Analysed) -> str:
    weights = bm25.query_weights(query.idfs)
    return SparseVector(weights, bm25.DIMENSIONS).to_text()


def _ranked(found: dict[int, Candidate], rank: str) -> list[int]:
    ranks = {key: getattr(candidate, rank) for key, candidate in found.items()}
    return sorted((key for key in ranks if ranks[key] is not None), key=lambda key: ranks[key])
