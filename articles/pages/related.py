"""The articles that are about the same things, by the vectors that search uses.

An article's centre is the mean of its passages' vectors; related are the articles with the
passages nearest to it. One statement, served by the same index as search; readable articles
only, by their own rows. What an unindexed article or a site without vectors has, is none.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from django.db import connection

from articles import embeddings
from articles.access import Reader, readable
from articles.models import Article
from articles.ranking.calibration import scale_of
from articles.reading import Neighbour

logger = logging.getLogger(__name__)

MOST = 3
NEAREST_PASSAGES = 60
"""Passages looked at: several of them may be of one article."""

FLOOR = 0.45
"""The least cosine, on the scale of the local model. Between an article of the manual and the
others, whose median is 0.38, a quarter reach it: those that a reader of the one would open."""


def related(article: Article, reader: Reader, besides: Collection[str] = ()) -> list[Neighbour]:
    """At most `MOST` articles in the same language, nearest first.

    `besides` are slugs that the page links to already.
    """
    try:
        embedder = embeddings.active()
        rows = _nearest(article, reader, embedder) if embedder else []
        # Not measured before there is something to judge: that loads a model or calls one.
        scale = scale_of(embedder) if embedder and rows else None
    except embeddings.EmbeddingError as error:
        logger.warning("related_not_found", extra={"reason": str(error)})
        return []
    if scale is None:
        return []
    near = [row for row in rows if scale.comparable(row[2]) >= FLOOR and row[0] not in besides]
    return [Neighbour(slug, title) for slug, title, _cosine in near[:MOST]]


def _nearest(
    article: Article, reader: Reader, embedder: embeddings.Embedder
) -> list[tuple[str, str, float]]:
    """Slug, title and greatest cosine of the articles around this one. One query."""
    others = readable(reader).exclude(pk=article.pk).order_by()
    live_sql, parameters = others.values("live_revision").query.sql_with_params()
    size = int(embedder.dimensions)
    distance = f"p.embedding::halfvec({size}) <=> (SELECT centre FROM own)::halfvec({size})"  # noqa: S608
    sql = f"""
        WITH own AS (
            SELECT avg(o.embedding) AS centre, min(o.language) AS language
            FROM articles_passage o WHERE o.article_id = %s AND o.embedding_model = %s
        ), near AS (
            SELECT p.revision_id, {distance} AS distance FROM articles_passage p
            WHERE p.embedding_model = %s AND p.language = (SELECT language FROM own)
            AND p.revision_id IN ({live_sql})
            ORDER BY {distance} LIMIT {NEAREST_PASSAGES}
        )
        SELECT a.slug, r.title, 1 - min(near.distance)
        FROM near
        JOIN articles_articlerevision r ON r.id = near.revision_id
        JOIN articles_article a ON a.live_revision_id = r.id
        WHERE near.distance IS NOT NULL
        GROUP BY a.id, a.slug, r.title ORDER BY min(near.distance), a.id
    """  # noqa: S608 - built of constants; every value is a parameter
    with connection.cursor() as cursor:
        cursor.execute(sql, [article.pk, embedder.name, embedder.name, *parameters])
        return list(cursor.fetchall())
