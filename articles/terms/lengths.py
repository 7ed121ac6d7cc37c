"""How long passages are, in terms: the constant that every BM25 vector of a language is made with.

A growing help center rewrites no passage for it. `expect` sets it before a language is indexed
for the first time, from a sample; `fix` makes it true, and the vectors anew, where it is
too far off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from django.db import connection, transaction
from django.db.models import QuerySet

from articles.models import Article, IndexState, Passage
from articles.searchable import Source, forms, sources
from articles.terms.analysis import base_language

TOLERANCE = 0.25
"""How far the true average may be from the constant. Scores differ little until then."""

SAMPLE = 200
"""Articles of a language that tell how long its passages will be."""

BATCH = 500

_AVERAGE = """
SELECT coalesce(avg(length), 0) FROM (
    SELECT (SELECT sum(cardinality(positions)) FROM unnest(terms)) AS length
    FROM articles_passage WHERE language = %s
) AS lengths
"""

_REMADE = "CREATE TEMP TABLE remade_passages (id bigint, bm25 sparsevec)"
_FILL = "COPY remade_passages (id, bm25) FROM STDIN"
_UPDATE = """
UPDATE articles_passage AS passage SET bm25 = remade.bm25
FROM remade_passages AS remade WHERE remade.id = passage.id
"""


def expect(articles: QuerySet[Article]) -> None:
    """Set the constant of each language that has none yet, by a sample of these articles.

    Call it before they are indexed: to correct it afterwards rewrites every passage.
    """
    held = set(IndexState.objects.values_list("language", flat=True))
    names = articles.order_by().values_list("live_revision__language", flat=True).distinct()
    new = {name: base_language(name) for name in names if base_language(name) not in held}
    ids: dict[str, list[int]] = defaultdict(list)
    rows = articles.filter(live_revision__language__in=new).order_by("pk")
    for article_id, name in rows.values_list("pk", "live_revision__language"):
        ids[new[name]].append(article_id)
    for language, found in ids.items():
        if sample := _lengths(found[:: -(-len(found) // SAMPLE)]):
            states = [IndexState(language=language, average_length=max(fmean(sample), 1.0))]
            IndexState.objects.bulk_create(states, ignore_conflicts=True)


def _lengths(article_ids: list[int]) -> list[int]:
    """Of the passages that these articles will have."""
    articles = Article.objects.select_related("live_revision").filter(pk__in=article_ids)
    revisions = [article.live_revision for article in articles]
    wanted = [source for one in revisions if one for source in sources(one)[0]]
    return [forms(source, 1.0).length for source in wanted]


def average_length(language: str) -> float:
    """The average length of a language's passages, in terms; 0 without passages."""
    with connection.cursor() as cursor:
        cursor.execute(_AVERAGE, [language])
        return float(cursor.fetchone()[0])


def fix(language: str) -> bool:
    """Set the constant to the true average and remake the vectors, if it is too far from it.

    Says whether it was. One transaction: searches see all old vectors or all new ones.
    """
    true = average_length(language)
    state, _created = IndexState.objects.get_or_create(language=language)
    if not true or abs(state.average_length / true - 1) <= TOLERANCE:
        return False
    with transaction.atomic():
        IndexState.objects.filter(pk=language).update(average_length=true)
        _remake(language, true)
    return True


def _remake(language: str, average: float) -> None:
    """By COPY and one UPDATE: as parameters of updates, so many long values cost twice as much."""
    with connection.cursor() as cursor:
        cursor.execute(_REMADE)
        for batch in _sources_of(language):
            with cursor.copy(_FILL) as copy:
                for key, source in batch:
                    copy.write_row([key, forms(source, average).bm25.to_text()])
        cursor.execute(_UPDATE)
        cursor.execute("DROP TABLE remade_passages")


def _sources_of(language: str) -> Iterator[list[tuple[int, Source]]]:
    """Batches, since nothing can be read while rows are copied."""
    rows = Passage.objects.filter(language=language).order_by("pk")
    columns = rows.values_list("pk", "revision__title", "heading_path", "anchor", "text")
    last = 0
    while batch := list(columns.filter(pk__gt=last)[:BATCH]):
        yield [
            (key, Source(title, headings, anchor, text, language))
            for key, title, headings, anchor, text in batch
        ]
        last = batch[-1][0]
