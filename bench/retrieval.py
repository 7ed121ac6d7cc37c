"""How well search finds the right article, how soon, and when it knows that there is none.

    python bench/retrieval.py

Needs the question set in ../shared (retrieval/, corpora/). Starts servers of its own in
a temporary folder; touches no other database. Prints Markdown tables.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"
sys.path.insert(0, str(PROJECT))

from tests.servers import TestServers  # noqa: E402

Ranking = list[str]
Document = dict[str, Any]

FLOORS = [floor / 100 for floor in range(20, 52, 2)]


def main() -> None:
    if not SHARED.is_dir():
        sys.exit(f"needs the question set in {SHARED}")
    servers = TestServers.start()
    try:
        run()
    finally:
        servers.stop()


def set_up() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def run() -> None:
    set_up()
    wix = json.loads((SHARED / "retrieval/wixqa-sample.json").read_text())
    questions, relevant = zip(
        *((item["question"], set(item["articles"])) for item in wix["questions"]), strict=True
    )
    load(wix["articles"])
    print(f"\n{len(questions)} questions, their own {len(wix['articles'])} articles\n")
    report_rankings(questions, relevant)
    own = [top_of(question, right) for question, right in zip(questions, relevant, strict=True)]
    import_plausible()
    foreign = [top_of(question, set()) for question in questions]
    report_floors(own, foreign)


def load(documents: Sequence[Document]) -> None:
    """Make these the only articles, published and indexed."""
    from articles import frequencies, indexing, publishing
    from articles.models import Article

    clear()
    for document in documents:
        article = Article(
            title=document["title"], body=document["text"], external_id=document["id"]
        )
        publishing.publish(article)
    began = time.perf_counter()
    for article_id in list(indexing.stale().values_list("pk", flat=True)):
        indexing.index_article(article_id)
    seconds = time.perf_counter() - began
    frequencies.recount()
    frequencies.fix_average_length("en")
    print(f"indexed {len(documents)} articles in {seconds:.1f} s")


def import_plausible() -> None:
    """Make the documentation of another product the only articles, as an import brings it in."""
    from articles import frequencies
    from articles.importing import import_articles

    clear()
    began = time.perf_counter()
    report = import_articles(SHARED / "corpora/plausible-docs/docs")
    seconds = time.perf_counter() - began
    frequencies.fix_average_length("en")
    print(f"\nimported {len(report.outcomes)} articles in {seconds:.1f} s")


def clear() -> None:
    from articles.models import Article

    Article.objects.update(live_revision=None, status="draft")
    Article.objects.all().delete()


def report_rankings(questions: Sequence[str], relevant: Sequence[set[str]]) -> None:
    rankings: dict[str, Callable[[str], Ranking]] = {
        "ours": ours,
        "ours, words alone": without_vectors(ours),
        "`ts_rank`, terms OR'ed": prepare_ts_rank(),
    }
    print("| ranking | nDCG@10 | hit@1 | hit@5 | recall@10 | ms, p50 | p95 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rank in rankings.items():
        rank(questions[0])
        scores, times = [], []
        for question, right in zip(questions, relevant, strict=True):
            began = time.perf_counter()
            found = rank(question)
            times.append((time.perf_counter() - began) * 1000)
            scores.append(metrics(found, right))
        cells = [with_interval([score[column] for score in scores]) for column in range(4)]
        deciles = quantiles(times, n=20)
        print(f"| {name} | {' | '.join(cells)} | {deciles[9]:.1f} | {deciles[18]:.1f} |")


def ours(question: str) -> Ranking:
    from articles.access import ANONYMOUS
    from articles.search import search

    hits = search(question, reader=ANONYMOUS, limit=10).hits
    return [str(hit.article.external_id) for hit in hits]


def without_vectors(rank: Callable[[str], Ranking]) -> Callable[[str], Ranking]:
    from django.test import override_settings

    return override_settings(EMBEDDING_BACKEND="off")(rank)


def prepare_ts_rank() -> Callable[[str], Ranking]:
    """Postgres' own ranking of the same passages, in its English configuration."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("""
            DROP TABLE IF EXISTS bench_passages;
            CREATE TABLE bench_passages AS
            SELECT external_id, to_tsvector('english', title || ' ' || text) AS words
            FROM articles_passage JOIN articles_article a ON a.id = article_id;
            CREATE INDEX ON bench_passages USING gin (words); ANALYZE bench_passages
        """)

    def rank(question: str) -> Ranking:
        with connection.cursor() as cursor:
            cursor.execute(
                """
                WITH q AS (SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery
                           AS query)
                SELECT external_id FROM bench_passages, q WHERE words @@ query
                GROUP BY 1 ORDER BY max(ts_rank(words, query)) DESC LIMIT 10
                """,
                [question],
            )
            return [row[0] for row in cursor.fetchall()]

    return rank


def metrics(found: Ranking, right: set[str]) -> tuple[float, float, float, float]:
    """nDCG@10, hit@1, hit@5, recall@10."""
    gained = sum(1 / math.log2(place + 2) for place, one in enumerate(found[:10]) if one in right)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(right))))
    return (
        gained / ideal,
        float(bool(right.intersection(found[:1]))),
        float(bool(right.intersection(found[:5]))),
        len(right.intersection(found[:10])) / len(right),
    )


def with_interval(values: Sequence[float]) -> str:
    """The mean and its 95 % bootstrap interval over questions."""
    draw = random.Random(0)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(2000))
    return f"{fmean(values):.3f} ({means[50]:.2f}–{means[1949]:.2f})"


def top_of(question: str, right: set[str]) -> tuple[float, bool, bool]:
    """The strength of the first hit, whether it is right, and whether it is above the floor."""
    from articles.access import ANONYMOUS
    from articles.search import search

    hits = search(question, reader=ANONYMOUS, for_answers=True, limit=1).hits
    if not hits:
        return 0.0, False, False
    return hits[0].score, hits[0].article.external_id in right, hits[0].above_floor


def report_floors(
    own: Sequence[tuple[float, bool, bool]], foreign: Sequence[tuple[float, bool, bool]]
) -> None:
    print("\n| floor | right article opened, own articles | declined, another product's |")
    print("| --- | --- | --- |")
    for floor in FLOORS:
        opened = fmean(right and strength >= floor for strength, right, _above in own)
        declined = fmean(strength < floor for strength, _right, _above in foreign)
        print(f"| {floor:.2f} | {opened:.3f} | {declined:.3f} |")
    opened = fmean(right and above for _strength, right, above in own)
    declined = fmean(not above for _strength, _right, above in foreign)
    print(f"| as set | {opened:.3f} | {declined:.3f} |")


if __name__ == "__main__":
    main()
