"""The whole site's figures of a period, for the overview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import (
    Aggregate,
    Count,
    DateField,
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
from django.db.models.functions import TruncDay, TruncWeek

from articles.models import Rating
from assistant.conditions import BY_VISITORS, CITED
from assistant.figures.period import Period
from assistant.grounding import GAPS
from assistant.models import Answer, AnswerDocument, AnswerFeedback, GapTopic, Grounding

MOST_DAILY = 92
"""Days of a period that are shown one by one; a longer one is shown by weeks."""

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
class Step:
    """A day, or a week where the period is long. `groundings` has the answers by verdict. Seconds
    are null where there are no answers, the cost where none has a price."""

    period: Period
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
    steps: list[Step]
    consulted: list[ArticleCount]
    unused: list[ArticleCount]
    topics: list[GapTopic]
    escalated: int
    cost: Decimal | None
    first_word: float | None
    first_word_slowest: float | None

    @property
    def is_weekly(self) -> bool:
        return is_weekly(self.period)

    @property
    def groundings(self) -> Counter[str]:
        return sum((step.groundings for step in self.steps), Counter())

    @property
    def answers(self) -> int:
        return self.groundings.total()

    @property
    def share(self) -> float | None:
        return grounded_share(self.groundings)

    @property
    def positive(self) -> int:
        return sum(step.positive for step in self.steps)

    @property
    def negative(self) -> int:
        return sum(step.negative for step in self.steps)


def overview(period: Period) -> Overview:
    steps = _steps(period)
    _count_groundings(period, steps)
    _count_ratings(period, steps)
    _measure(period, steps)
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
        steps=list(steps.values()),
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


def is_weekly(period: Period) -> bool:
    return len(period.days) > MOST_DAILY


def _steps(period: Period) -> dict[date, Step]:
    """By the day that the database gives for them: the day itself, or the week's Monday. The
    first and the last week have only the days that belong to the period."""
    if not is_weekly(period):
        return {day: Step(Period(day, day)) for day in period.days}
    weeks: dict[date, list[date]] = {}
    for day in period.days:
        weeks.setdefault(day - timedelta(days=day.weekday()), []).append(day)
    return {monday: Step(Period(days[0], days[-1])) for monday, days in weeks.items()}


def _step_of(period: Period, moment: str) -> TruncDay | TruncWeek:
    """What groups rows into the steps of the period."""
    truncated = TruncWeek if is_weekly(period) else TruncDay
    return truncated(moment, output_field=DateField())


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


def _count_groundings(period: Period, steps: dict[date, Step]) -> None:
    counted = (
        answers_of(period).annotate(day=_step_of(period, "created_at")).values("day", "grounding")
    )
    for row in counted.annotate(count=Count("pk")):
        steps[row["day"]].groundings[row["grounding"]] += row["count"]


def _count_ratings(period: Period, steps: dict[date, Step]) -> None:
    """By the day of the question, so that each number opens the list that it counts."""
    rated = AnswerFeedback.objects.filter(answer__in=answers_of(period).values("pk"))
    counted = rated.annotate(day=_step_of(period, "answer__created_at")).values("day")
    positive, negative = (Count("pk", filter=Q(rating=one)) for one in Rating.values)
    for row in counted.annotate(positive=positive, negative=negative).order_by():
        step = steps[row["day"]]
        step.positive, step.negative = row["positive"], row["negative"]


def _measure(period: Period, steps: dict[date, Step]) -> None:
    by_day = answers_of(period).annotate(day=_step_of(period, "created_at")).values("day")
    rows: Iterable[Any] = by_day.annotate(paid=Sum("cost"), **_first_words())
    for row in rows:
        step = steps[row["day"]]
        step.cost = row["paid"]
        step.first_word = _seconds(row["first_word"])
        step.first_word_slowest = _seconds(row["slowest"])


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
