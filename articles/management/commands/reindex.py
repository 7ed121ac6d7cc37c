"""`manage.py reindex`: bring the whole index up to the articles and the settings.

Takes up what is missing or stale, so that an interrupted run is gone on with by
starting it again. Searches go on meanwhile.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from articles import embeddings, indexing, vector_index
from articles.models import Article, IndexEntry
from articles.ranking import outskirts, spelling
from articles.terms import frequencies, lengths


class Command(BaseCommand):
    help = "Indexes what search lacks, counts terms anew, and builds the vector index."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="Look at every article, not only at stale ones."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        embedder = self._embedder()
        for article_id in list(indexing.orphaned().values_list("pk", flat=True)):
            indexing.withdraw(article_id)
        if options["all"]:
            IndexEntry.objects.all().delete()
        problems = self._index_stale()
        for language in frequencies.recount():
            if lengths.fix(language):
                self.stdout.write(f"Weights of {language} made anew for a new average length.")
        spelling.collect()
        if embedder is not None:
            self._build(embedder)
        outskirts.measure()
        self._report(problems)

    def _embedder(self) -> embeddings.Embedder | None:
        """The embedder, tried out: what it cannot do must not be found after an hour."""
        try:
            embedder = embeddings.active()
            if embedder is not None:
                embedder.embed(["One text"], patient=True)
        except embeddings.EmbeddingError as error:
            raise CommandError(
                f"No embeddings can be made: {error}. Nothing was changed. "
                "EMBEDDING_BACKEND=off indexes words alone."
            ) from error
        return embedder

    def _index_stale(self) -> list[str]:
        total = indexing.stale().count()
        problems = []
        with tqdm(
            total=total, desc="Indexing", unit=" articles", file=sys.stderr, disable=None
        ) as bar:
            lengths.expect(indexing.stale())
            for batch in indexing.batches(indexing.stale()):
                for article_id, outcome in indexing.index_articles(batch).items():
                    if outcome.error:
                        title = Article.objects.values_list("title", flat=True).get(pk=article_id)
                        problems.append(f"{title}: {outcome.error}")
                bar.update(len(batch))
        self.stdout.write(f"{total} articles indexed.")
        return problems

    def _build(self, embedder: embeddings.Embedder) -> None:
        if vector_index.build(embedder):
            self.stdout.write(f"Vector index built for {embedder.name}.")
        if not indexing.stale().exists():
            vector_index.drop_others(embedder)

    def _report(self, problems: list[str]) -> None:
        if problems:
            raise CommandError(
                "\n".join([f"Not all of {len(problems)} articles is searchable:", *problems])
            )
