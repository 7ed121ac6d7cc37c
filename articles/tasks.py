"""Celery tasks that keep the index like the articles. Each is idempotent and takes ids.

`index_article` follows every publication. What a dead broker or a killed worker lost,
`index_stale` finds by comparing the index with the articles, every few minutes.
"""

from __future__ import annotations

import logging

from celery import shared_task
from django.core.cache import cache
from django.db.models import Sum

from articles import embeddings, indexing, search_log, vector_index
from articles.indexing import Outcome
from articles.models import IndexEntry, IndexState, Passage
from articles.ranking import outskirts, spelling
from articles.terms import frequencies, lengths
from helpcenter.celery import OUTLASTS_THE_DATABASE

logger = logging.getLogger(__name__)

PER_RUN = 500
"""Articles that one run of `index_stale` takes on; the next run goes on from there."""

GROWTH = 0.1
"""Share of new passages after which frequencies are counted anew before their time."""

PAUSE_SECONDS = 30


@shared_task(soft_time_limit=300, time_limit=330, **OUTLASTS_THE_DATABASE)
def index_article(article_id: int) -> str:
    """Index one article, or take it out where it is not live. A missing one is nothing to do."""
    outcome = indexing.index_article(article_id)
    logger.info(
        "article_indexed",
        extra={
            "article_id": article_id,
            "outcome": outcome.status,
            "written": outcome.written,
            "removed": outcome.removed,
            "problem": outcome.error,
        },
    )
    if outcome.status == "indexed":
        _recount_if_grown()
    return outcome.status


@shared_task(soft_time_limit=600, time_limit=630)
def index_stale() -> int:
    """Index what the index does not hold as it is, and take out what is not live any more.

    Returns how many articles it took on. One that fails does not keep the others waiting;
    a dead embedding endpoint does, until the next run.
    """
    for article_id in indexing.orphaned().values_list("pk", flat=True)[:PER_RUN]:
        indexing.withdraw(article_id)
    count = 0
    lengths.expect(indexing.stale())
    for batch in indexing.batches(indexing.stale()[:PER_RUN]):
        outcomes = _index_each(batch)
        count += len(batch)
        if any(outcome.lacks_vectors for outcome in outcomes):
            return count
    if count:
        _recount_if_grown()
    return count


def _index_each(batch: list[int]) -> list[Outcome]:
    """Index a batch; where one of it fails, the others one by one."""
    try:
        return list(indexing.index_articles(batch).values())
    except Exception:
        if len(batch) == 1:
            logger.exception("article_not_indexed", extra={"article_id": batch[0]})
            return []
    return [outcome for article_id in batch for outcome in _index_each([article_id])]


@shared_task(soft_time_limit=600, time_limit=630)
def recount_terms() -> dict[str, int]:
    """Count how common terms are and how far apart articles are, where the index changed
    since, and gather the words that a misspelt one may have meant."""
    if not _counts_are_old():
        return {}
    counts = frequencies.recount()
    spelling.collect()
    outskirts.measure()
    if _vector_index_is_due():
        build_vector_index.delay()
    return counts


@shared_task(soft_time_limit=300, time_limit=330)
def forget_searches() -> int:
    """Delete the records of searches that are older than they may get. Returns how many."""
    return search_log.forget()


@shared_task(soft_time_limit=3_600, time_limit=3_630)
def build_vector_index() -> bool:
    """Build the vector index of the model in use, if it is missing and another does not already."""
    embedder = embeddings.active()
    return embedder is not None and vector_index.build(embedder)


def _vector_index_is_due() -> bool:
    try:
        embedder = embeddings.active()
    except embeddings.EmbeddingError:
        return False
    return embedder is not None and vector_index.is_due(embedder)


def _counts_are_old() -> bool:
    counted = IndexState.objects.order_by("counted_at").values_list("counted_at", flat=True)
    oldest = counted.first()
    if oldest is None:
        return Passage.objects.exists()
    return IndexEntry.objects.filter(indexed_at__gt=oldest).exists()


def _recount_if_grown() -> None:
    """A young index must not wait for its frequencies: without them all words weigh the same."""
    counted = IndexState.objects.aggregate(total=Sum("passages"))["total"] or 0
    grown = Passage.objects.count() > counted * (1 + GROWTH)
    if grown and cache.add("articles.recount", True, PAUSE_SECONDS):
        recount_terms.apply_async(countdown=PAUSE_SECONDS)


@shared_task(soft_time_limit=300, time_limit=330)
def publish_due() -> int:
    """Publish what was scheduled for now or earlier; returns how many articles."""
    from articles.writing import scheduling  # which publishes, and so hands out the tasks above

    return scheduling.publish_due()
