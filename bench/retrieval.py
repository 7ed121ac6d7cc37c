"""How well search finds the right article, how soon, and when it knows that there is none.

    python bench/retrieval.py [--cache FOLDER] [--rebuild] [--try NAME=VALUE ...]

160 questions of users (../shared/retrieval) over the 173 articles that answer them, alone and
with two other products' help besides: 132 articles of ../shared/corpora and 2,560 of
Debian's libreoffice-help-en-us, which it fetches itself. Beside it `ts_rank` on the same
passages. Settings are chosen on every other question; both halves are printed. `--try`
compares another weight question by question. Databases are built once and kept in the
cache. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import corpora, databases  # noqa: E402

Ranking = list[str]

VERSION = "1"
FLOORS = [floor / 100 for floor in range(20, 52, 2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=corpora.CACHE)
    parser.add_argument("--rebuild", action="store_true", help="build the databases anew")
    parser.add_argument("--try", action="append", default=[], dest="changes")
    arguments = parser.parse_args()
    with databases.servers(arguments.cache):
        run(arguments.cache, arguments.rebuild, arguments.changes)


def run(cache: Path, rebuild: bool, changes: Sequence[str]) -> None:
    def use(name: str, articles: Callable[[], Iterable[corpora.Article]]) -> None:
        databases.use(name, VERSION, lambda: load(articles()), cache, anew=rebuild)

    wix = corpora.wixqa()
    others = [
        *corpora.plausible_articles(),
        *corpora.libreoffice_articles("en-us", cache),
    ]
    use("retrieval_own", lambda: wix.articles)
    report_rankings(f"their own {len(wix.articles)} articles", wix)
    report_trial(wix, changes)
    own = [top_of(*pair) for pair in zip(wix.questions, wix.relevant, strict=True)]
    use("retrieval_beside", lambda: [*wix.articles, *others])
    report_rankings(f"{len(others)} articles of two other products besides", wix)
    report_trial(wix, changes)
    use("retrieval_foreign", corpora.plausible_articles)
    report_floors(own, [top_of(question, set()) for question in wix.questions])


def load(articles: Iterable[corpora.Article]) -> dict[str, Any]:
    """Store these articles and make them searchable, as `reindex` would."""
    from django.core.management import call_command

    corpora.store(articles)
    call_command("reindex", verbosity=0, stdout=sys.stderr)
    return {}


def report_rankings(where: str, wix: corpora.QuestionSet) -> None:
    from articles import embeddings

    def words_alone(question: str) -> Ranking:
        with embeddings.without():
            return ours(question)

    rankings: dict[str, Callable[[str], Ranking]] = {
        "ours": ours,
        "ours, words alone": words_alone,
        "`ts_rank`, terms OR'ed": prepare_ts_rank(),
    }
    print(f"\n{len(wix.questions)} questions, {where}; {corpora.load_average()}\n")
    print("| ranking | nDCG@10 | chosen on | reported | MRR | recall@10 | first | ms, p50 | p95 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, rank in rankings.items():
        print(row(name, rank, wix))


def row(name: str, rank: Callable[[str], Ranking], wix: corpora.QuestionSet) -> str:
    from articles.ranking.evaluation import interval, score

    rank(wix.questions[0])
    scores, times = [], []
    for question, right in zip(wix.questions, wix.relevant, strict=True):
        began = time.perf_counter()
        found = rank(question)
        times.append((time.perf_counter() - began) * 1000)
        scores.append(score(found, right))
    ndcg = [one.ndcg for one in scores]
    columns = [ndcg, ndcg[::2], ndcg[1::2], [one.reciprocal_rank for one in scores]]
    columns += [[one.recall for one in scores], [one.first for one in scores]]
    cells = " | ".join(str(interval(values)) for values in columns)
    deciles = quantiles(times, n=20)
    return f"| {name} | {cells} | {deciles[9]:.1f} | {deciles[18]:.1f} |"


def report_trial(wix: corpora.QuestionSet, changes: Sequence[str]) -> None:
    """Another setting beside the one in use, question by question, on both halves."""
    from articles.ranking.evaluation import difference, trying

    for change in changes:
        name, _equals, value = change.partition("=")
        before = ndcg_of(wix)
        with trying({name: value}):
            after = ndcg_of(wix)
        halves = [difference(before[half::2], after[half::2]) for half in (0, 1)]
        print(f"\n{change}: nDCG@10 {difference(before, after)}, by half {halves[0]}, {halves[1]}")


def ndcg_of(wix: corpora.QuestionSet) -> list[float]:
    from articles.ranking.evaluation import score

    pairs = zip(wix.questions, wix.relevant, strict=True)
    return [score(ours(question), right).ndcg for question, right in pairs]


def ours(question: str) -> Ranking:
    from articles.access import ANONYMOUS
    from articles.search import search

    hits = search(question, reader=ANONYMOUS, limit=10).hits
    return [str(hit.article.external_id) for hit in hits]


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
