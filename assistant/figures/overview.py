"""The whole site's figures of a period, for the overview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import (
    Aggregate,
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.functions import TruncDate

from articles.models import Rating
from assistant.conditions import BY_VISITORS, CITED
from assistant.figures.period import Period
from assistant.grounding import GAPS
from assistant.models import Answer, AnswerDocument, AnswerFeedback, GapTopic, Grounding

MOST = 10
"""Articles and topics of each list."""

TO_BE_GROUNDED = frozenset({Grounding.GROUNDED, Grounding.UNCITED, *GAPS})
"""Verdicts on questions that an article should have answered: of these a share is grounded.
Listings, small talk, what is out of scope or unclear, and failures are none."""


class Percentile(Aggregate):
    """A value that this share of the values does not exceed; nulls are left out."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: Any, share: float) -> None:
        super().__init__(expression, share=share, output_field=DurationField())


@dataclass
class Day:
    """`groundings` has the answers by verdict. Seconds are null on days without answers, the cost
    on days without an answer that has a price."""

    date: date
    groundings: Counter[str] = field(default_factory=Counter)
    positive: int = 0
    negative: int = 0
    cost: Decimal | None = None
    first_word: float | None = None
    first_word_slowest: float | None = None

    @property
    def answers(self) -> int:
        return self.groundings.total()

    @property
    def share(self) -> float | None:
        return grounded_share(self.groundings)


@dataclass(frozen=True)
class ArticleCount:
    """An article by its title then, and in how many answers it was; `article_id` is null for
    one that is gone."""

    article_id: int | None
    title: str
    answers: int


@dataclass(frozen=True)
class Overview:
    period: Period
    days: list[Day]
    consulted: list[ArticleCount]
    unused: list[ArticleCount]
    topics: list[GapTopic]
    escalated: int
    cost: Decimal | None
    first_word: float | None
    first_word_slowest: float | None

    @property
    def groundings(self) -> Counter[str]:
        return sum((day.groundings for day in self.days), Counter())

    @property
    def answers(self) -> int:
        return self.groundings.total()

    @property
    def share(self) -> float | None:
        return grounded_share(self.groundings)

    @property
    def positive(self) -> int:
        return sum(day.positive for day in self.days)

    @property
    def negative(self) -> int:
        return sum(day.negative for day in self.days)


def overview(period: Period) -> Overview:
    days = {day: Day(day) for day in period.days}
    _count_groundings(period, days)
    _count_ratings(period, days)
    _measure(period, days)
    handed_on = Count("escalation")
    whole: Any = answers_of(period).aggregate(
        handed_on=handed_on, paid=Sum("cost"), **_first_words()
    )
    documents = AnswerDocument.objects.filter(
        answer__in=answers_of(period).values("pk"),
    )
    consulted = documents.filter(consulted=True)
    return Overview(
        period=period,
        days=list(days.values()),
        consulted=_most(consulted),
        unused=_most(documents.filter(consulted=False).exclude(CITED)),
        topics=list(_topics()[:MOST]),
        escalated=whole["handed_on"],
        cost=whole["paid"],
        first_word=_seconds(whole["first_word"]),
        first_word_slowest=_seconds(whole["slowest"]),
    )


def answers_of(period: Period) -> QuerySet[Answer]:
    """Visitors' answers that were asked in the period and have ended."""
    asked = Q(created_at__gte=period.start, created_at__lt=period.end)
    return (
        Answer.objects.filter(BY_VISITORS, asked).exclude(status=Answer.Status.RUNNING).order_by()
    )


def _topics() -> QuerySet[GapTopic]:
    """What is left to do in the writers' queue, by impact."""
    done = [GapTopic.Status.VERIFIED, GapTopic.Status.DISMISSED]
    return GapTopic.objects.filter(merged_into=None).exclude(status__in=done)


def grounded_share(groundings: Counter[str]) -> float | None:
    """The grounded ones among those that an article should have answered; None for none."""
    whole = sum(groundings[verdict] for verdict in TO_BE_GROUNDED)
    return groundings[Grounding.GROUNDED] / whole if whole else None


def retrieved_unused(article_id: int) -> Exists:
    """Whether an answer was given this article and neither consulted nor cited it."""
    documents = AnswerDocument.objects.filter(answer=OuterRef("pk"), article=article_id)
    return Exists(documents.filter(consulted=False).exclude(CITED))


def _count_groundings(period: Period, days: dict[date, Day]) -> None:
    counted = answers_of(period).annotate(day=TruncDate("created_at")).values("day", "grounding")
    for row in counted.annotate(count=Count("pk")):
        days[row["day"]].groundings[row["grounding"]] += row["count"]


def _count_ratings(period: Period, days: dict[date, Day]) -> None:
    """By the day of the question, so that each number opens the list that it counts."""
    rated = AnswerFeedback.objects.filter(answer__in=answers_of(period).values("pk"))
    counted = rated.annotate(day=TruncDate("answer__created_at")).values("day")
    positive, negative = (Count("pk", filter=Q(rating=one)) for one in Rating.values)
    for row in counted.annotate(positive=positive, negative=negative).order_by():
        days[row["day"]].positive, days[row["day"]].negative = row["positive"], row["negative"]


def _measure(period: Period, days: dict[date, Day]) -> None:
    by_day = answers_of(period).annotate(day=TruncDate("created_at")).values("day")
    rows: Iterable[Any] = by_day.annotate(paid=Sum("cost"), **_first_words())
    for row in rows:
        day = days[row["day"]]
        day.cost = row["paid"]
        day.first_word = _seconds(row["first_word"])
        day.first_word_slowest = _seconds(row["slowest"])


def _first_words() -> dict[str, Percentile]:
    waited = ExpressionWrapper(F("first_token_at") - F("created_at"), output_field=DurationField())
    return {"first_word": Percentile(waited, 0.5), "slowest": Percentile(waited, 0.95)}


def _most(documents: QuerySet[AnswerDocument]) -> list[ArticleCount]:
    """The documents that stand in most answers. One is in an answer at most once."""
    counted = (
        documents.order_by()
        .values("document_id")
        .annotate(answers=Count("pk"), title=Max("title"), article=Max("article"))
    )
    rows: Iterable[Any] = counted.order_by("-answers", "document_id")[:MOST]
    return [ArticleCount(row["article"], row["title"], row["answers"]) for row in rows]


def _seconds(duration: Any) -> float | None:
    return None if duration is None else float(duration.total_seconds())
