"""How far apart the articles themselves are: from where on a question is about something else.

A floor that fits one help center is too high or too low for another: one on bicycles alone
is all of one piece, a shop's is not. So each language has its own. The titles of its articles are
taken for questions whose own article is missing, and a question farther from every
passage than nine of ten titles are from the other articles is outside. Measured again
whenever terms are counted, stored with the index, and compared on the scale of its model only.
"""

from __future__ import annotations

import logging

from django.db import connection
from pgvector import HalfVector

from articles import embeddings
from articles.models import IndexState
from articles.ranking.calibration import scale_of

logger = logging.getLogger(__name__)

TELLING_PASSAGES = 100
"""Fewer do not tell what a site is about."""

TITLES = 200
"""That many titles are asked, spread over the articles; more change the floor by hundredths."""

SHARE = 0.1
"""Of the titles that are below the floor."""

NEIGHBOURS = 30
"""Passages among which the first of another article is looked for."""

_TITLES = """
SELECT article_id, title FROM (
    SELECT DISTINCT ON (p.article_id) p.article_id, r.title
    FROM articles_passage p JOIN articles_articlerevision r ON r.id = p.revision_id
    WHERE p.language = %s AND p.embedding_model = %s
) AS titles ORDER BY md5(article_id::text) LIMIT %s
"""

_FLOOR = "SELECT outskirts FROM articles_indexstate WHERE language = %s AND outskirts_model = %s"


def measure() -> dict[str, float]:
    """Measures and stores the floor of each language. Returns the floors.

    Where there are no vectors just now, what was stored stays as it is.
    """
    try:
        embedder = embeddings.active()
        floors = {
            state.language: _floor(embedder, state.language)
            for state in IndexState.objects.filter(passages__gte=TELLING_PASSAGES)
            if embedder is not None
        }
    except embeddings.EmbeddingError as error:
        logger.warning("outskirts_not_measured", extra={"reason": str(error)})
        return {}
    found = {language: floor for language, floor in floors.items() if floor is not None}
    IndexState.objects.exclude(language__in=found).update(outskirts=None, outskirts_model="")
    for language, floor in found.items():
        IndexState.objects.filter(pk=language).update(
            outskirts=floor, outskirts_model=embedder.name if embedder else ""
        )
    return found


def floor_of(language: str) -> float | None:
    """The cosine below which a question in `language` is outside; None where nothing tells."""
    embedder = embeddings.active()
    if embedder is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_FLOOR, [language, embedder.name])
        row = cursor.fetchone()
    return row[0] if row else None


def _floor(embedder: embeddings.Embedder, language: str) -> float | None:
    with connection.cursor() as cursor:
        cursor.execute(_TITLES, [language, embedder.name, TITLES])
        titles = cursor.fetchall()
    if not titles:
        return None
    vectors = embedder.embed([title for _article, title in titles], patient=True)
    scale = scale_of(embedder)
    cosines = sorted(
        scale.comparable(cosine)
        for (article_id, _title), vector in zip(titles, vectors, strict=True)
        if (cosine := _nearest_other(embedder.name, language, article_id, vector)) is not None
    )
    return cosines[int(len(cosines) * SHARE)] if cosines else None


def _nearest_other(model: str, language: str, article_id: int, vector: list[float]) -> float | None:
    """The best cosine of a passage of another article, among the nearest ones."""
    size = len(vector)
    sql = f"""
        SELECT article_id, 1 - distance FROM (
            SELECT article_id, (embedding::halfvec({size}) <=> %s::halfvec({size})) AS distance
            FROM articles_passage WHERE embedding_model = %s AND language = %s
            ORDER BY embedding::halfvec({size}) <=> %s::halfvec({size}) LIMIT {NEIGHBOURS}
        ) AS nearest ORDER BY distance
    """  # noqa: S608 - built of numbers
    point = HalfVector(vector).to_text()
    with connection.cursor() as cursor:
        cursor.execute(sql, [point, model, language, point])
        rows = cursor.fetchall()
    return next((cosine for other, cosine in rows if other != article_id), None)
