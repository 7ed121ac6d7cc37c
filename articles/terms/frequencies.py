"""How common terms are, and how long passages are: what BM25 knows about a language.

`recount` refreshes document frequencies, which only queries use. `fix_average_length`
changes the constant that every BM25 vector was made with, and makes them anew.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone

from articles.models import IndexState, Passage, Term
from articles.searchable import Source, forms

TOLERANCE = 0.25
"""How far the true average may be from the constant. Scores differ little until then."""

BATCH = 500

_LOCK = 7_206_118

_RECOUNT = """
WITH counted AS MATERIALIZED (
    SELECT word, ndoc
    FROM ts_stat(format('SELECT terms FROM articles_passage WHERE language = %%L', %(language)s))
), gone AS (
    DELETE FROM articles_term AS term
    WHERE language = %(language)s
      AND NOT EXISTS (SELECT FROM counted WHERE word = term.text)
)
INSERT INTO articles_term AS term (language, text, passages)
SELECT %(language)s, word, ndoc FROM counted
ON CONFLICT (language, text) DO UPDATE SET passages = excluded.passages
WHERE term.passages <> excluded.passages
"""

_AVERAGE = """
SELECT coalesce(avg(length), 0) FROM (
    SELECT (SELECT sum(cardinality(positions)) FROM unnest(terms)) AS length
    FROM articles_passage WHERE language = %s
) AS lengths
"""


def recount() -> dict[str, int]:
    """Count terms and passages of every language anew. Returns the passages by language."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Two counts at once would wait for each other's rows.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        counts = dict(
            Passage.objects.order_by().values_list("language").annotate(count=Count("pk"))
        )
        for language, passages in counts.items():
            cursor.execute(_RECOUNT, {"language": language})
            IndexState.objects.update_or_create(
                language=language,
                defaults={"passages": passages, "counted_at": timezone.now()},
            )
        Term.objects.exclude(language__in=counts).delete()
        IndexState.objects.exclude(language__in=counts).delete()
        # An index that grew at once is planned for as if it were empty, until this or a vacuum.
        cursor.execute("ANALYZE articles_passage, articles_article, articles_term")
    return counts


def average_length(language: str) -> float:
    """The average length of a language's passages, in terms; 0 without passages."""
    with connection.cursor() as cursor:
        cursor.execute(_AVERAGE, [language])
        return float(cursor.fetchone()[0])


def fix_average_length(language: str) -> bool:
    """Set the constant to the true average and remake the vectors, if it is too far from it.

    Says whether it was. One transaction: searches see all old vectors or all new ones.
    """
    true = average_length(language)
    state, _created = IndexState.objects.get_or_create(language=language)
    if not true or abs(state.average_length / true - 1) <= TOLERANCE:
        return False
    with transaction.atomic():
        IndexState.objects.filter(pk=language).update(average_length=true)
        passages = Passage.objects.filter(language=language).select_related("revision")
        _remake(passages.iterator(chunk_size=500), true)
    return True


def _remake(passages: Iterable[Passage], average: float) -> None:
    batch: list[Passage] = []
    for passage in passages:
        source = Source(
            passage.revision.title,
            passage.heading_path,
            passage.anchor,
            passage.text,
            passage.language,
        )
        passage.bm25 = forms(source, average).bm25
        batch.append(passage)
        if len(batch) == BATCH:
            Passage.objects.bulk_update(batch, ["bm25"])
            batch = []
    Passage.objects.bulk_update(batch, ["bm25"])
