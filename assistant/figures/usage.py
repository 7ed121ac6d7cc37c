"""How many visitors' answers cited an article, or anything of a category, by month.

The basis for billing or for paying authors, so it is exact and does not shrink: what is
erased is added to `ErasedUsage` in the transaction that erases it. Months are those of
the site's time zone, by when the question was asked. An answer that cites three articles of
a category counts once for each article, and once for the category. A category is the one
that the article is in now; what was erased, the one that it was in then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from django.db.models import Count, F, Max, QuerySet
from django.db.models.functions import TruncMonth
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from articles.models import Article, Category
from assistant.conditions import CITED
from assistant.figures.period import midnight
from assistant.models import Answer, AnswerDocument, ErasedUsage, Origin

By = Literal["article", "category"]
MOST_MONTHS = 24


@dataclass(frozen=True)
class Months:
    """From the month of `first` to that of `last`, both the first days of their months."""

    first: date
    last: date

    @property
    def list(self) -> list[date]:
        count = (self.last.year - self.first.year) * 12 + self.last.month - self.first.month + 1
        return [add_months(self.first, number) for number in range(count)]


@dataclass(frozen=True)
class Usage:
    """`answers` in `month` cited what has this key. `title` is its present one, or its last;
    `slug` and `category` are empty for categories and for articles that are gone."""

    month: date
    key: str
    title: str
    answers: int
    slug: str = ""
    category: str = ""


def months_of(first: str, last: str) -> Months | None:
    """What `2026-01` and `2026-03` name; the last twelve months without them. None where they are
    no months, run backwards or are more than `MOST_MONTHS`."""
    this = timezone.localdate().replace(day=1)
    end = _month(last) if last else this
    begin = _month(first) if first else end and add_months(end, -11)
    if begin is None or end is None:
        return None
    months = Months(begin, end)
    return months if begin <= end and len(months.list) <= MOST_MONTHS else None


def usage(months: Months, by: By) -> list[Usage]:
    """Month by month, the most cited first."""
    after = add_months(months.last, 1)
    cited = _cited().filter(
        answer__created_at__gte=midnight(months.first), answer__created_at__lt=midnight(after)
    )
    found = {(row.month, row.key): row for row in _counted(cited, by)}
    erased = ErasedUsage.objects.filter(kind=by, month__gte=months.first, month__lt=after)
    for gone in erased:
        key = (gone.month, gone.key)
        before = found.get(key)
        answers = gone.answers + (before.answers if before else 0)
        title = before.title if before else gone.title
        found[key] = Usage(gone.month, gone.key, title, answers)
    named = _named(found.values(), by)
    return sorted(named, key=lambda row: (row.month, -row.answers, row.title, row.key))


def _cited() -> QuerySet[AnswerDocument]:
    """The citations that count: in visitors' answers."""
    return AnswerDocument.objects.filter(CITED, answer__origin=Origin.VISITOR).order_by()


def _counted(cited: QuerySet[AnswerDocument], by: By) -> Iterable[Usage]:
    monthly = cited.annotate(month=TruncMonth("answer__created_at"))
    if by == "article":
        # An article is in an answer once; of a category, several may be.
        rows: Any = monthly.values("month", "document_id").annotate(
            answers=Count("pk"), title=Max("title")
        )
        return [
            Usage(row["month"].date(), row["document_id"], row["title"], row["answers"])
            for row in rows
        ]
    rows = (
        monthly.filter(article__category__isnull=False)
        .values("month", "article__category")
        .annotate(answers=Count("answer", distinct=True), title=Max("article__category__name"))
    )
    return [
        Usage(row["month"].date(), str(row["article__category"]), row["title"], row["answers"])
        for row in rows
    ]


def _named(rows: Iterable[Usage], by: By) -> list[Usage]:
    """With the present titles of what is still there."""
    rows = list(rows)
    keys = {int(row.key) for row in rows if row.key.isdecimal()}
    if by == "category":
        names = dict(Category.objects.filter(pk__in=keys).values_list("pk", "name"))
        return [
            Usage(row.month, row.key, names.get(_number(row.key), row.title), row.answers)
            for row in rows
        ]
    articles = Article.objects.filter(pk__in=keys).select_related("live_revision", "category")
    known = {article.pk: article for article in articles.defer("body", "live_revision__body")}
    return [_as_now(row, known.get(_number(row.key))) for row in rows]


def _as_now(row: Usage, article: Article | None) -> Usage:
    if article is None:
        return row
    live = article.live_revision
    return Usage(
        row.month,
        row.key,
        live.title if live else article.title,
        row.answers,
        article.slug,
        article.category.name if article.category else "",
    )


@receiver(pre_delete, sender=Answer)
def keep_usage(sender: type[Answer], instance: Answer, **_arguments: Any) -> None:
    """An answer is about to be erased: what it counts for stays. Its ledger is still there."""
    own = _cited().filter(answer=instance)
    for kind in ErasedUsage.Kind:
        by: By = "article" if kind == ErasedUsage.Kind.ARTICLE else "category"
        for row in _counted(own, by):
            kept, is_new = ErasedUsage.objects.get_or_create(
                month=row.month,
                kind=kind,
                key=row.key,
                defaults={"title": row.title, "answers": row.answers},
            )
            if not is_new:
                ErasedUsage.objects.filter(pk=kept.pk).update(answers=F("answers") + row.answers)


def add_months(day: date, count: int) -> date:
    months = day.year * 12 + day.month - 1 + count
    return date(months // 12, months % 12 + 1, 1)


def _month(text: str) -> date | None:
    year, dash, month = text.partition("-")
    is_month = dash and len(year) == 4 and len(month) == 2 and f"{year}{month}".isascii()
    if not is_month or not f"{year}{month}".isdecimal():
        return None
    is_known = "1970" <= year < "9999" and "01" <= month <= "12"
    return date(int(year), int(month), 1) if is_known else None


def _number(key: str) -> int:
    return int(key) if key.isdecimal() else -1
