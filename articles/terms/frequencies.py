"""How common terms are: document frequencies, by language. Only queries use them, so counting
anew changes no passage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone

from articles.models import IndexState, Passage, Term
from articles.terms import synonyms

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

# Every search asks these two: as text, since building them anew took longer than the answer.
_HELD = f"SELECT language, passages, {synonyms.STAMP} FROM articles_indexstate"  # noqa: S608
_KNOWN = "SELECT text, passages FROM articles_term WHERE language = %s AND text = ANY(%s)"


@dataclass(frozen=True)
class Held:
    """A language in the index: its passages, and the state of the synonyms just now."""

    passages: int
    synonyms: str


def held() -> dict[str, Held]:
    """The languages that the index holds, in the order of their codes."""
    with connection.cursor() as cursor:
        cursor.execute(_HELD)
        return {row[0]: Held(*row[1:]) for row in sorted(cursor.fetchall())}


def known(terms: Iterable[str], language: str) -> dict[str, int]:
    """In how many passages each of these terms stands, by the last count; 0 is left out."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, [language, list(terms)])
        return dict(cursor.fetchall())


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
        # What was written lately waits in a list that every search reads through: up to two
        # milliseconds of it, until this or a vacuum.
        cursor.execute("SELECT gin_clean_pending_list('passage_terms')")
        # An index that grew at once is planned for as if it were empty, until this or a vacuum.
        cursor.execute("ANALYZE articles_passage, articles_article, articles_term")
    return counts
