"""What visitors' answers made of one article, and so what an edit of it would touch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Lower

from articles.models import Article, ArticleFeedback, Rating
from assistant.conditions import CITED, consulted
from assistant.figures.overview import answers_of, retrieved_unused
from assistant.figures.period import Period
from assistant.models import (
    Answer,
    AnswerDocument,
    AnswerFeedback,
    AnswerReview,
    CitationSupport,
    Grounding,
)

LATEST = 25


@dataclass(frozen=True)
class Section:
    """A part of the article and how many sentences of answers rest on it."""

    heading: str
    sentences: int
    last: datetime


@dataclass(frozen=True)
class Question:
    """A question that leads to the article, and how often it was asked in the same words."""

    text: str
    asked: int
    last: datetime


@dataclass(frozen=True)
class ArticleUse:
    """Counts are of answers, but for readers' votes on the article itself. `outdated`: those that
    read an earlier version than readers see now; `known`: right ones by a vote or a verdict,
    which an edit should keep right."""

    retrieved: int
    consulted: int
    cited: int
    unused: int
    positive: int
    negative: int
    readers_positive: int
    readers_negative: int
    outdated: int
    known: int
    answers: list[Answer]
    questions: list[Question]
    sections: list[Section]


def article_use(article: Article, period: Period) -> ArticleUse:
    """What was made of the article in the period."""
    answers = answers_of(period)
    documents = AnswerDocument.objects.filter(article=article, answer__in=answers.values("pk"))
    counts = documents.aggregate(
        in_retrieved=Count("pk"),
        in_consulted=Count("pk", filter=Q(consulted=True)),
        in_cited=Count("pk", filter=CITED),
        outdated=Count("pk", filter=Q(consulted=True) & ~Q(revision=article.live_revision_id)),
    )
    built = answers.filter(consulted(article=article.pk))
    votes = AnswerFeedback.objects.filter(answer__in=built.values("pk")).aggregate(
        positive=Count("pk", filter=Q(rating=Rating.POSITIVE)),
        negative=Count("pk", filter=Q(rating=Rating.NEGATIVE)),
    )
    of_readers = ArticleFeedback.objects.filter(
        article=article, updated_at__gte=period.start, updated_at__lt=period.end
    )
    readers = of_readers.aggregate(
        readers_positive=Count("pk", filter=Q(rating=Rating.POSITIVE)),
        readers_negative=Count("pk", filter=Q(rating=Rating.NEGATIVE)),
    )
    return ArticleUse(
        retrieved=counts["in_retrieved"],
        consulted=counts["in_consulted"],
        cited=counts["in_cited"],
        outdated=counts["outdated"],
        **votes,
        **readers,
        unused=answers.filter(retrieved_unused(article.pk)).count(),
        known=built.filter(known_to_be_right()).count(),
        answers=list(built.select_related("feedback", "review").order_by("-created_at")[:LATEST]),
        questions=_questions(built),
        sections=_sections(documents),
    )


def known_to_be_right() -> Q:
    """Grounded answers that a visitor voted helpful or a colleague judged right."""
    judged = Q(review__verdict=AnswerReview.Verdict.RIGHT)
    return Q(grounding=Grounding.GROUNDED) & (judged | Q(feedback__rating=Rating.POSITIVE))


def _questions(answers: QuerySet[Answer]) -> list[Question]:
    """Those asked most often, however their letters are written."""
    counted = (
        answers.annotate(lowered=Lower("question"))
        .values("lowered")
        .annotate(text=Max("question"), asked=Count("pk"), last=Max("created_at"))
    )
    rows = counted.order_by("-asked", "-last").values_list("text", "asked", "last")[:LATEST]
    return [Question(*row) for row in rows]


def _sections(documents: QuerySet[AnswerDocument]) -> list[Section]:
    """By the passage that supports a sentence best, the most used first."""
    judged = CitationSupport.objects.filter(document__in=documents.values("pk"))
    counted = judged.filter(passage__isnull=False).values("passage__heading").order_by()
    rows = counted.annotate(sentences=Count("pk"), last=Max("document__answer__created_at"))
    ordered = rows.order_by("-sentences", "passage__heading")
    return [Section(row["passage__heading"], row["sentences"], row["last"]) for row in ordered]
