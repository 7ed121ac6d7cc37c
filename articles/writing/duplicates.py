"""Published articles that say the same: by the mean of their passages' vectors.

On 173 articles of a real help center the pairs above `NEAR` were nine, each of them two
articles about one thing; the median pair was at 0.27, the 99th percentile at 0.69.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from articles.indexing import active_model
from articles.models import Article, Status

NEAR = 0.85
"""Cosine of two articles' mean vectors from which they are shown."""
MOST_PAIRS = 100
MOST_ARTICLES = 3_000
"""Every pair is compared; beyond this many articles that takes too long for a page."""

_PAIRS = """
WITH means AS (
    SELECT passage.article_id, passage.language, avg(passage.embedding) AS vector
    FROM articles_passage passage
    JOIN articles_article article ON article.id = passage.article_id AND article.status = %s
    WHERE passage.embedding_model = %s
    GROUP BY passage.article_id, passage.language
    ORDER BY passage.article_id DESC
    LIMIT %s
)
SELECT a.article_id, b.article_id, 1 - (a.vector <=> b.vector) AS nearness
FROM means a JOIN means b ON a.article_id < b.article_id AND a.language = b.language
WHERE 1 - (a.vector <=> b.vector) >= %s
ORDER BY nearness DESC, a.article_id, b.article_id
LIMIT %s
"""


@dataclass(frozen=True)
class Pair:
    """Two articles in one language; `nearness` is a cosine, 1 for the same text."""

    first: Article
    second: Article
    nearness: float


def near_duplicates() -> list[Pair]:
    """The nearest pairs, nearest first. Empty while no embedding model is in use."""
    model = active_model()
    if not model:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [Status.PUBLISHED, model, MOST_ARTICLES, NEAR, MOST_PAIRS])
        rows = cursor.fetchall()
    wanted = {pk for first, second, _nearness in rows for pk in (first, second)}
    articles = Article.objects.select_related("live_revision", "category").in_bulk(wanted)
    return [
        Pair(articles[first], articles[second], nearness)
        for first, second, nearness in rows
        if first in articles and second in articles
    ]
