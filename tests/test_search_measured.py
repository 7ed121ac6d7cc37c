"""Search on real questions: what the manual says of its quality stays true."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from bench import retrieval

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def questions(shared_dir: Path) -> list[tuple[str, set[str]]]:
    """Questions of a help center's users, its articles indexed, and the right ones by id."""
    wix = json.loads((shared_dir / "retrieval/wixqa-sample.json").read_text())
    retrieval.load(wix["articles"])
    return [(item["question"], set(item["articles"])) for item in wix["questions"]]


def ndcg(rank: Any, questions: list[tuple[str, set[str]]]) -> float:
    return fmean(retrieval.metrics(rank(question), right)[0] for question, right in questions)


def test_the_right_articles_come_first(
    questions: list[tuple[str, set[str]]], settings: Any
) -> None:
    hybrid = ndcg(retrieval.ours, questions)
    settings.EMBEDDING_BACKEND = "off"
    words = ndcg(retrieval.ours, questions)

    assert hybrid >= 0.85
    assert words >= 0.81
    assert hybrid > words > ndcg(retrieval.prepare_ts_rank(), questions)


def test_the_floor_keeps_what_is_right_and_drops_much_of_what_is_not(
    questions: list[tuple[str, set[str]]],
) -> None:
    own = [retrieval.top_of(question, right) for question, right in questions]
    first = [above for _strength, is_right, above in own if is_right]
    assert fmean(first) >= 0.95

    retrieval.import_plausible()
    foreign = [retrieval.top_of(question, set()) for question, _right in questions]
    assert fmean(not above for _strength, _right, above in foreign) >= 0.6
