"""A search and what each of its steps came to, language by language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from articles.access import Reader
from articles.explaining.rows import AskedWord, Row, asked_words, rows
from articles.explaining.verdicts import Verdict, verdict
from articles.models import Article, Category
from articles.search import Mode, Results, Stage, run
from articles.terms.synonyms import also_searched


@dataclass(frozen=True)
class LanguageSteps:
    """A search in one language. `synonyms` are those that were looked for, as writers typed
    them; `rows` are the candidates in fused order."""

    language: str
    mode: Mode
    words: tuple[AskedWord, ...]
    synonyms: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def lexical(self) -> list[Row]:
        """The candidates that words found, best first."""
        return _ranked(self.rows, lambda row: row.candidate.lexical_rank)

    @property
    def dense(self) -> list[Row]:
        """The candidates that meaning found, best first."""
        return _ranked(self.rows, lambda row: row.candidate.dense_rank)

    @property
    def weighed(self) -> list[Row]:
        """What the second stage kept, strongest first; equally strong ones in fused order."""
        kept = ((row.weighed.judgement.strength, row) for row in self.rows if row.weighed)
        return [row for _strength, row in sorted(kept, key=lambda pair: -pair[0])]

    @property
    def too_far(self) -> list[Row]:
        """What the second stage left out: no word of the question, and a meaning too far."""
        return [row for row in self.rows if not row.weighed and not row.is_beyond_weighing]

    @property
    def beyond_weighing(self) -> list[Row]:
        """The candidates that the second stage did not look at any more."""
        return [row for row in self.rows if row.is_beyond_weighing]


@dataclass(frozen=True)
class Explanation:
    """`results` are what the search gives; `verdict` is about the article asked for."""

    results: Results
    languages: tuple[LanguageSteps, ...]
    verdict: Verdict | None


def explain(
    query: str,
    *,
    reader: Reader,
    for_answers: bool = False,
    language: str | None = None,
    category: Category | None = None,
    limit: int = 10,
    expected: Article | None = None,
) -> Explanation:
    """What `articles.search.search` with these arguments did, and why `expected` did not win."""
    done = run(
        query,
        reader=reader,
        for_answers=for_answers,
        language=language,
        category=category,
        limit=limit,
    )
    return Explanation(
        done.results,
        tuple(_steps(done.text, stage) for stage in done.stages),
        verdict(done, expected) if expected else None,
    )


def _steps(text: str, stage: Stage) -> LanguageSteps:
    places = {one.passage_id: place for place, one in enumerate(stage.candidates, start=1)}
    return LanguageSteps(
        stage.language,
        stage.mode,
        asked_words(stage.query),
        tuple(also_searched(text, [stage.language])),
        rows(stage.query, stage.candidates, stage.weighed, places),
    )


def _ranked(found: tuple[Row, ...], rank: Callable[[Row], int | None]) -> list[Row]:
    ranked = ((place, row) for row in found if (place := rank(row)) is not None)
    return [row for _place, row in sorted(ranked, key=lambda pair: pair[0])]
