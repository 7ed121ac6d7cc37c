"""What search, indexing and importing cost at 100,000 passages, beside what they may cost.

    python bench/scale.py [--cache FOLDER] [--rebuild] [--rounds N] [--passages N]

The passages are help of real products: the WixQA articles and the documentation in ../shared, and
Debian's LibreOffice help in as many languages as it takes, fetched by itself. The database
is built once and kept in the cache; what its build measured is printed with the load
that it was built under, and `--rebuild` measures it again. Searches go through the
product's own function as an anonymous reader's, in the language of the query: questions of
users and titles of pages. A query's time is the median of the rounds. Recall is
against comparing all passages, equal scores being equal. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import corpora, databases  # noqa: E402

VERSION = "2"
LANGUAGES = ("en-us", "de", "fr", "es", "it", "nl", "pl", "ru", "sv", "pt-br", "ja")
TITLES = 30
"""Queries in each language that are titles of its pages."""

ADDED = 300
"""Articles that are taken out and indexed anew while the index is full."""


class Query(NamedTuple):
    text: str
    language: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=corpora.CACHE)
    parser.add_argument("--rebuild", action="store_true", help="build the databases anew")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passages", type=int, default=100_000)
    arguments = parser.parse_args()
    with databases.servers(arguments.cache):
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    cache, passages = arguments.cache, arguments.passages
    built = databases.use(
        f"scale_{passages}",
        VERSION,
        lambda: build(cache, passages),
        cache,
        anew=arguments.rebuild,
    )
    print(f"\n{built['passages']} passages in {built['languages']} languages\n")
    print("| figure | target | measured | |")
    print("| --- | --- | --- | --- |")
    report_build(built)
    queries = sample(cache, built["sources"])
    for name, category in filters(built["passages"]).items():
        report_searches(name, category, queries, arguments.rounds)
    report_recall(queries)
    report_added()
    report_memory()
    report_import(cache, arguments.rebuild)


def line(figure: str, target: str, measured: str, note: str = "") -> None:
    print(f"| {figure} | {target} | {measured} | {note or corpora.load_average()} |", flush=True)


# Building


def build(cache: Path, passages: int) -> databases.Figures:
    """Index articles, language by language, until there are so many passages, and time each step
    of it."""
    from articles import embeddings, vector_index
    from articles.models import Passage
    from articles.terms import frequencies, lengths

    embedder = embeddings.active()
    assert embedder is not None
    embedder.embed(["Load the model before the clock runs."])
    figures: dict[str, float] = {"indexing": 0.0, "cpu": 0.0}
    sources: list[str] = []
    for name, articles in texts(cache):
        corpora.store(articles)
        sources.append(name)
        timed_indexing(figures)
        if Passage.objects.count() >= passages:
            break
    figures["counting"] = timed(frequencies.recount)
    languages = list(Passage.objects.order_by().values_list("language", flat=True).distinct())
    for language in languages:
        figures["counting"] += timed(lambda code=language: lengths.fix(code))
    figures["vector index"] = timed(lambda: vector_index.build(embedder))
    return {
        **figures,
        "passages": Passage.objects.count(),
        "languages": len(languages),
        "sources": sources,
    }


def texts(cache: Path) -> Iterator[tuple[str, list[corpora.Article]]]:
    """The articles of each language of LibreOffice's help, with all others there are in it."""
    others = [*corpora.wixqa().articles, *corpora.plausible_articles()]
    for language in LANGUAGES:
        yield language, [*others, *corpora.libreoffice_articles(language, cache)]
        others = []


def timed_indexing(figures: dict[str, float]) -> None:
    from articles import indexing
    from articles.terms import lengths

    began, cpu = time.perf_counter(), time.process_time()
    lengths.expect(indexing.stale())
    for batch in indexing.batches(indexing.stale()):
        indexing.index_articles(batch)
    figures["indexing"] += time.perf_counter() - began
    figures["cpu"] += time.process_time() - cpu


def timed(step: Any) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def report_build(built: databases.Figures) -> None:
    passages, note = built["passages"], f"built under {built['load']}"
    whole = built["indexing"] + built["counting"] + built["vector index"]
    line("indexing end to end, passages a second", "≥ 300", f"{passages / whole:.0f}", note)
    line("of it cutting, embedding, writing", "", f"{passages / built['indexing']:.0f}", note)
    line("CPU of the worker for it, ms a passage", "", f"{built['cpu'] / passages * 1e3:.2f}", note)
    line("counting terms, s", "", f"{built['counting']:.0f}", note)
    line("vector index, s", "", f"{built['vector index']:.0f}", note)


# Searching


def sample(cache: Path, sources: Sequence[str]) -> list[Query]:
    """Users' questions, and titles of pages in every language."""
    draw = random.Random(0)
    queries = [Query(question, "en") for question in corpora.wixqa().questions]
    for language in sources:
        pages = corpora.libreoffice_articles(language, cache)
        chosen = draw.sample(pages, TITLES)
        queries += [Query(page.title, page.language) for page in chosen]
    draw.shuffle(queries)
    return queries


def filters(passages: int) -> dict[str, Any]:
    """None, and the topics whose share of the passages is nearest to 10 % and to 1 %."""
    from django.db.models import Count

    from articles.models import Category, Passage

    rows = Passage.objects.exclude(category=None).order_by().values_list("category")
    counts = dict(rows.annotate(count=Count("pk")))

    def nearest(share: float) -> tuple[str, Category]:
        key = min(counts, key=lambda pk: abs(counts[pk] / passages - share))
        category = Category.objects.get(pk=key)
        return f"a topic of {counts[key] / passages:.1%}", category

    return {"no filter": None, **dict([nearest(0.1), nearest(0.01)])}


def report_searches(name: str, category: Any, queries: Sequence[Query], rounds: int) -> None:
    from articles.access import ANONYMOUS
    from articles.search import search

    backend = backend_id()
    walls: dict[Query, list[float]] = {query: [] for query in queries}
    own: dict[Query, list[float]] = {query: [] for query in queries}
    database: dict[Query, list[float]] = {query: [] for query in queries}
    for _round in range(rounds + 1):
        for query in queries:
            began, cpu, there = time.perf_counter(), time.process_time(), seconds_of(backend)
            search(query.text, reader=ANONYMOUS, language=query.language, category=category)
            walls[query].append((time.perf_counter() - began) * 1000)
            own[query].append((time.process_time() - cpu) * 1000)
            database[query].append((seconds_of(backend) - there) * 1000)
    # The first round warms caches and connections.
    times, mine, its = (
        [median(taken[1:]) for taken in figures.values()] for figures in (walls, own, database)
    )
    steps = quantiles(times, n=20)
    line(f"hybrid search, {name}: p50, ms", "≤ 12", f"{steps[9]:.1f}")
    line(f"hybrid search, {name}: p95, ms", "≤ 25", f"{steps[18]:.1f}")
    # What it takes on an idle machine: the two processes work one after the other.
    both = quantiles([one + other for one, other in zip(mine, its, strict=True)], n=20)
    split = f"p50 {median(mine):.1f} in the web process, {median(its):.1f} in the database"
    line(f"processor time of it, {name}: p50, ms", "", f"{both[9]:.1f}", split)
    line(f"processor time of it, {name}: p95, ms", "", f"{both[18]:.1f}")


def backend_id() -> int:
    """The process of the database that serves this connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def seconds_of(process: int) -> float:
    """Seconds that a process has had a processor."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def report_recall(queries: Sequence[Query]) -> None:
    """Of both legs, with and without filters, against comparing everything in scope."""
    from articles import embeddings
    from articles.access import ANONYMOUS, readable
    from articles.models import Passage
    from articles.ranking import candidates
    from articles.ranking.calibration import scale_of
    from articles.ranking.queries import analyse
    from articles.terms import frequencies

    held = frequencies.held()
    embedder = embeddings.active()
    assert embedder is not None
    everything = Passage.objects.count() + 1
    for name, category in filters(everything).items():
        words, meanings = [], []
        for query in queries:
            categories = (category.pk,) if category else None
            scope = candidates.Scope(readable(ANONYMOUS), query.language, categories)
            analysed = analyse(
                query.text, query.language, held.get(query.language), narrowed=category is not None
            )
            values = tuple(embedder.embed([query.text])[0])
            vector = candidates.QueryVector(values, embedder.name, scale_of(embedder))
            if analysed.words:
                exact = candidates.by_words(analysed, scope, everything)
                words.append(recall(candidates.by_words(analysed, scope), exact))
            exact = candidates.by_meaning(vector, scope, is_large=False)
            meanings.append(recall(candidates.by_meaning(vector, scope, is_large=True), exact))
        line(f"recall@10 of the lexical leg, {name}", "≥ 0.95", f"{fmean(words):.3f}")
        line(f"recall@10 of the dense leg, {name}", "≥ 0.95", f"{fmean(meanings):.3f}")


def recall(found: tuple[str, list[Any]], exact: tuple[str, list[Any]]) -> float:
    """The share of the first ten places filled as well as comparing everything fills them."""
    wanted, got = distances(exact), distances(found)
    if not wanted:
        return 1.0
    good = sum(distance <= wanted[-1] + 1e-6 for distance in got)
    return min(good, len(wanted)) / len(wanted)


def distances(statement: tuple[str, list[Any]]) -> list[float]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(*statement)
        return [row[1] for row in cursor.fetchall()][:10]


# Indexing and importing


def report_added() -> None:
    """Indexing into a full index, its vector index kept: dearer than filling an empty one."""
    from articles.models import Article, IndexEntry, Passage

    keys = list(Article.objects.order_by("pk").values_list("pk", flat=True))
    chosen = random.Random(0).sample(keys, ADDED)
    Passage.objects.filter(article__in=chosen).delete()
    IndexEntry.objects.filter(article__in=chosen).delete()
    figures = {"indexing": 0.0, "cpu": 0.0}
    timed_indexing(figures)
    count = Passage.objects.filter(article__in=chosen).count()
    line("added to the full index, passages a second", "", f"{count / figures['indexing']:.0f}")


def report_memory() -> None:
    """Of a process that reindexes, at its highest, and of this one, which searches."""
    from articles.models import IndexEntry

    keys = list(IndexEntry.objects.values_list("pk", flat=True)[:ADDED])
    IndexEntry.objects.filter(pk__in=keys).delete()
    environment = databases.environment()
    subprocess.run(
        [sys.executable, "manage.py", "reindex"], cwd=PROJECT, env=environment, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    highest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line("memory of a worker that indexes, at most, MB", "≤ 700", f"{highest:.0f}")


def report_import(cache: Path, rebuild: bool) -> None:
    from articles.importing import import_articles

    pages = corpora.libreoffice("en-us", cache)

    def first() -> databases.Figures:
        return {"articles": len(import_articles(pages).outcomes)}

    built = databases.use("scale_import", VERSION, first, cache, anew=rebuild)
    seconds = timed(lambda: import_articles(pages))
    rate = built["articles"] / seconds * 60
    line("HTML import again, nothing changed, articles a minute", "≥ 1000", f"{rate:.0f}")
    rate = built["articles"] / built["seconds"] * 60
    note = f"measured under {built['load']}"
    line("the first time, indexing included, articles a minute", "", f"{rate:.0f}", note)


if __name__ == "__main__":
    main()
