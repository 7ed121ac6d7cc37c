"""`manage.py evaluate_search`: does search find what it should? See "How search works"."""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from articles.access import ANONYMOUS
from articles.ranking.evaluation import (
    DEPTH,
    Interval,
    Question,
    Score,
    TrialError,
    difference,
    interval,
    measure,
    trying,
)
from assistant.known_answers import UnreadableError, from_csv, from_helpful_answers

COLUMNS = (f"nDCG@{DEPTH}", "MRR", f"recall@{DEPTH}", "right one first")
ALLOWED_LOSS = 0.02


class Command(BaseCommand):
    help = (
        "Measures search on questions whose right articles are known, compares two settings,"
        " and fails where it became worse than a baseline."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--questions", type=Path, metavar="CSV", help="columns question, articles (slugs)"
        )
        parser.add_argument(
            "--helpful",
            action="store_true",
            help="questions whose answer was voted helpful or judged right, with what it cites",
        )
        parser.add_argument(
            "--for-answers", action="store_true", help="search as the assistant does"
        )
        parser.add_argument(
            "--try",
            action="append",
            default=[],
            dest="changes",
            metavar="NAME=VALUE",
            help="compare with another setting: a weight (title=0.5) or embeddings=off",
        )
        parser.add_argument(
            "--baseline", type=Path, metavar="FILE", help="fail where search became worse than this"
        )
        parser.add_argument(
            "--save-baseline", type=Path, metavar="FILE", help="keep this result to compare with"
        )
        parser.add_argument(
            "--allowed-loss",
            type=float,
            default=ALLOWED_LOSS,
            metavar="LOSS",
            help=f"how much nDCG may be lost to the baseline; {ALLOWED_LOSS} by default",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        questions = self._questions(options["questions"], helpful=options["helpful"])
        baseline = _read(options["baseline"]) if options["baseline"] else None
        scores = measure(questions, ANONYMOUS, for_answers=options["for_answers"])
        self.stdout.write(f"{len(questions)} questions, means with 95 % intervals")
        self._print("as it is", scores)
        if options["changes"]:
            self._compare(questions, scores, options["changes"], options["for_answers"])
        if options["save_baseline"]:
            _save(options["save_baseline"], questions, scores)
        if baseline is not None:
            self._refuse_regression(questions, scores, baseline, options["allowed_loss"])

    def _questions(self, path: Path | None, *, helpful: bool) -> list[Question]:
        try:
            questions = from_csv(path) if path else []
        except UnreadableError as error:
            raise CommandError(str(error)) from error
        if helpful:
            questions += from_helpful_answers()
        if not questions:
            raise CommandError("There are no questions. Name a file (--questions) or --helpful.")
        return questions

    def _print(self, name: str, scores: Sequence[Score]) -> None:
        self.stdout.write(f"{name}:")
        columns = zip(*map(astuple, scores), strict=True)
        for label, values in zip(COLUMNS, columns, strict=True):
            self.stdout.write(f"  {label:16} {interval(values)}")

    def _compare(
        self,
        questions: Sequence[Question],
        before: Sequence[Score],
        changes: Sequence[str],
        for_answers: bool,
    ) -> None:
        """Search by other settings, and say how much better it is question by question."""
        pairs = [change.partition("=") for change in changes]
        try:
            with trying({name: value for name, _equals, value in pairs}):
                after = measure(questions, ANONYMOUS, for_answers=for_answers)
        except TrialError as error:
            raise CommandError(str(error)) from error
        self._print(", ".join(changes), after)
        change = difference([one.ndcg for one in before], [one.ndcg for one in after])
        self.stdout.write(f"Change of {COLUMNS[0]}: {change}, {_verdict(change)}")

    def _refuse_regression(
        self,
        questions: Sequence[Question],
        scores: Sequence[Score],
        baseline: dict[str, float],
        allowed: float,
    ) -> None:
        """Raises CommandError where search is worse than it was: a release must stop."""
        now = dict(zip(map(_name, questions), (one.ndcg for one in scores), strict=True))
        common = [name for name in now if name in baseline]
        if not common:
            raise CommandError("The baseline knows none of these questions.")
        change = difference([baseline[name] for name in common], [now[name] for name in common])
        self.stdout.write(
            f"Against the baseline, {len(common)} questions: {change}, {_verdict(change)}"
        )
        if change.mean < -allowed or change.high < 0:
            raise CommandError(f"Search became worse: {COLUMNS[0]} changed by {change}.")


def _verdict(change: Interval) -> str:
    if change.low > 0:
        return "better"
    return "worse" if change.high < 0 else "no difference that these questions can tell"


def _name(question: Question) -> str:
    """What a baseline knows a question by: not its text, which a visitor may have written."""
    return hashlib.sha256(f"{question.language}\0{question.text}".encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, float]:
    try:
        return {
            str(name): float(value) for name, value in json.loads(path.read_text())["ndcg"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{path} is no baseline: {error}") from error


def _save(path: Path, questions: Sequence[Question], scores: Sequence[Score]) -> None:
    values = {_name(question): one.ndcg for question, one in zip(questions, scores, strict=True)}
    path.write_text(json.dumps({"ndcg": values}, indent=1, sort_keys=True) + "\n")
