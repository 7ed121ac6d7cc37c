"""Search on real questions: what the manual says of its quality stays true."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from articles.models import Article
from articles.ranking.evaluation import score
from bench import corpora, retrieval

# The vector index is built as in a real site: outside any transaction.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def wix(shared_dir: Path) -> corpora.QuestionSet:
    """Questions of a help center's users, its articles indexed, and the right ones by id."""
    found = corpora.wixqa()
    retrieval.load(found.articles)
    return found


def ndcg(rank: Any, wix: corpora.QuestionSet) -> float:
    pairs = zip(wix.questions, wix.relevant, strict=True)
    return fmean(score(rank(question), right).ndcg for question, right in pairs)


def test_the_right_articles_come_first(wix: corpora.QuestionSet, settings: Any) -> None:
    hybrid = ndcg(retrieval.ours, wix)
    settings.EMBEDDING_BACKEND = "off"
    words = ndcg(retrieval.ours, wix)

    assert hybrid >= 0.85
    assert words >= 0.81
    assert hybrid > words > ndcg(retrieval.prepare_ts_rank(), wix)


def test_the_floor_keeps_what_is_right_and_drops_much_of_what_is_not(
    wix: corpora.QuestionSet,
) -> None:
    own = [retrieval.top_of(*pair) for pair in zip(wix.questions, wix.relevant, strict=True)]
    first = [above for _strength, is_right, above in own if is_right]
    assert fmean(first) >= 0.95

    Article.objects.update(live_revision=None, status="draft")
    retrieval.load(corpora.plausible_articles())
    foreign = [retrieval.top_of(question, set()) for question in wix.questions]
    assert fmean(not above for _strength, _right, above in foreign) >= 0.6
