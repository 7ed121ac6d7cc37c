"""`manage.py evaluate_search` and the measures under it."""

from __future__ import annotations

import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from articles import embeddings
from articles.models import Article, Rating
from articles.publishing import change_slug
from articles.ranking import relevance
from articles.ranking.evaluation import TrialError, difference, interval, score, trying
from assistant.known_answers import from_helpful_answers
from assistant.models import Answer, AnswerDocument, AnswerFeedback, Conversation, Grounding
from tests.search_index import make_indexed


def evaluate(*arguments: str) -> str:
    out = StringIO()
    call_command("evaluate_search", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def articles(db: None, settings: Any) -> dict[str, Article]:
    settings.EMBEDDING_BACKEND = "hashed"
    return {
        "reset": make_indexed("Reset your password", "Choose a new password.", slug="reset"),
        "invoices": make_indexed("Invoices", "Download your invoices as PDF.", slug="invoices"),
    }


@pytest.fixture
def questions(tmp_path: Path, articles: dict[str, Article]) -> Path:
    file = tmp_path / "questions.csv"
    file.write_text(
        "question,articles,language\nreset my password,reset,en\n"
        "download invoices,invoices reset,\n"
    )
    return file


# The measures


def test_a_ranking_is_measured_by_the_places_of_the_right_ones() -> None:
    perfect = score(["a", "b", "c"], {"a", "b"})
    assert (perfect.ndcg, perfect.reciprocal_rank, perfect.recall, perfect.first) == (1, 1, 1, 1)

    second = score(["x", "a", "y"], {"a", "b"})
    ideal = 1 + 1 / math.log2(3)
    assert second.ndcg == pytest.approx((1 / math.log2(3)) / ideal)
    assert (second.reciprocal_rank, second.recall, second.first) == (0.5, 0.5, 0.0)

    assert score([], {"a"}).ndcg == 0.0
    assert score(["x"] * 10 + ["a"], {"a"}).recall == 0.0


def test_an_interval_holds_its_mean_and_narrows_with_more_questions() -> None:
    few, many = interval([0.0, 1.0] * 5), interval([0.0, 1.0] * 200)
    assert few.low < few.mean == 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    assert interval([0.5]) == interval([0.5])


def test_a_difference_is_taken_question_by_question() -> None:
    hard_and_easy = [0.1, 0.9] * 20
    change = difference(hard_and_easy, [value + 0.05 for value in hard_and_easy])
    assert change.low == pytest.approx(change.high) == pytest.approx(0.05)


def test_what_is_tried_ends_with_the_trial(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "hashed"
    before = dict(relevance.WEIGHTS)
    with trying({"title": "0.9", "embeddings": "off"}):
        assert relevance.WEIGHTS["title"] == 0.9
        assert embeddings.active() is None
    assert before == relevance.WEIGHTS
    assert embeddings.active() is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [("title", "much"), ("title", "-1"), ("title", "inf"), ("embeddings", "on"), ("colour", "1")],
)
def test_what_cannot_be_tried_is_named(name: str, value: str) -> None:
    with pytest.raises(TrialError, match=f"{name}={value}"), trying({name: value}):
        pytest.fail("nothing should have been tried")


# The command


def test_it_prints_every_measure_with_its_interval(questions: Path) -> None:
    printed = evaluate("--questions", str(questions))
    assert "2 questions" in printed
    for measure in ("nDCG@10", "MRR", "recall@10", "right one first"):
        assert measure in printed
    assert "right one first  1.000 (1.000 to 1.000)" in printed


def test_two_settings_are_compared_on_the_same_questions(questions: Path) -> None:
    printed = evaluate("--questions", str(questions), "--try", "embeddings=off", "--for-answers")
    assert "embeddings=off:" in printed
    assert "Change of nDCG@10:" in printed
    assert "no difference that these questions can tell" in printed
    with pytest.raises(CommandError, match="colour=1 cannot be tried; what can is: cosine"):
        evaluate("--questions", str(questions), "--try", "colour=1")


def test_a_regression_against_the_baseline_fails(
    questions: Path, tmp_path: Path, articles: dict[str, Article]
) -> None:
    baseline = tmp_path / "baseline.json"
    evaluate("--questions", str(questions), "--save-baseline", str(baseline))
    assert "password" not in baseline.read_text()
    printed = evaluate("--questions", str(questions), "--baseline", str(baseline))
    assert "Against the baseline, 2 questions: 0.000 (0.000 to 0.000), no difference" in printed

    Article.objects.filter(pk=articles["reset"].pk).update(status="draft")
    with pytest.raises(CommandError, match="Search became worse"):
        evaluate("--questions", str(questions), "--baseline", str(baseline))
    evaluate("--questions", str(questions), "--save-baseline", str(baseline))
    Article.objects.filter(pk=articles["reset"].pk).update(status="published")
    printed = evaluate("--questions", str(questions), "--baseline", str(baseline))
    assert "Against the baseline, 2 questions: 0.500 (0.000 to 1.000)" in printed


def test_a_baseline_that_says_nothing_is_no_pass(questions: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    with pytest.raises(CommandError, match="no baseline"):
        evaluate("--questions", str(questions), "--baseline", str(baseline))
    baseline.write_text(json.dumps({"ndcg": {"other": 1.0}}))
    with pytest.raises(CommandError, match="knows none of these questions"):
        evaluate("--questions", str(questions), "--baseline", str(baseline))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("question\nhello\n", "has no column articles"),
        ("question,articles\nhello,nowhere\n", "line 2: no article “nowhere”"),
        ("question,articles\n,reset\n", "line 2: no question"),
        ("question,articles\nhello,\n", "line 2: no article “”"),
        ("question,articles\n", "There are no questions"),
    ],
)
def test_questions_that_cannot_be_used_are_named(
    tmp_path: Path, articles: dict[str, Article], text: str, named: str
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(CommandError, match=named):
        evaluate("--questions", str(file))


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path, db: None) -> None:
    with pytest.raises(CommandError, match=r"gone\.csv"):
        evaluate("--questions", str(tmp_path / "gone.csv"))
    (tmp_path / "b.csv").write_bytes(b"question,articles\n\xff\xfe,x\n")
    with pytest.raises(CommandError, match=r"b\.csv"):
        evaluate("--questions", str(tmp_path / "b.csv"))


def test_an_old_slug_leads_to_its_article(tmp_path: Path, articles: dict[str, Article]) -> None:
    change_slug(articles["reset"], "new-password")
    file = tmp_path / "old.csv"
    file.write_text("question,articles\nreset password,reset\n")
    assert "1 questions" in evaluate("--questions", str(file))


def test_answers_that_were_voted_helpful_are_questions(articles: dict[str, Article]) -> None:
    conversation = Conversation.objects.create(visitor_id="0b7a4d3c-6f0f-4c53-9a54-0d5f3d3c2f10")

    def answered(turn: int, rating: str, cited: bool = True) -> None:
        answer = Answer.objects.create(
            conversation=conversation, turn=turn, owner="visitor:1", key=str(turn),
            question="reset password", language="en", grounding=Grounding.GROUNDED,
            status=Answer.Status.COMPLETED, finished_at=timezone.now(),
        )  # fmt: skip
        AnswerFeedback.objects.create(answer=answer, rating=rating)
        AnswerDocument.objects.create(
            answer=answer, ref=1, article=articles["reset"], document_id="1", title="Reset",
            slug="reset", exposure="full", via="tool", cited=cited, position=0,
        )  # fmt: skip

    answered(1, Rating.POSITIVE)
    answered(2, Rating.POSITIVE)
    (question,) = from_helpful_answers()
    assert (question.text, question.right) == ("reset password", frozenset({articles["reset"].pk}))
    assert "1 questions" in evaluate("--helpful")

    Answer.objects.filter(turn=1).delete()
    answered(1, Rating.NEGATIVE)
    assert from_helpful_answers() == []
