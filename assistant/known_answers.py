"""Questions whose right articles are known, for the evaluation of search.

Where they come from is a function that gives `Question`s: a CSV that somebody wrote, or
conversations that ended well. Another source is another function here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from django.db.models import Q

from articles.models import Article, Rating, SlugRedirect
from articles.ranking.evaluation import Question
from assistant.models import Answer, AnswerDocument, AnswerReview, Grounding, Origin

COLUMNS = ("question", "articles")
"""Of a CSV; `language` may stand beside them."""


class UnreadableError(Exception):
    """Questions that cannot be read. The message is for whoever wrote them."""


def from_csv(path: Path) -> list[Question]:
    """The questions of a file with the columns `question`, `articles` and perhaps `language`.

    `articles` are the slugs of those that answer, with spaces between; an old slug leads to
    its article. Raises UnreadableError, with the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                raise UnreadableError(f"{path}: has no column {' and no column '.join(missing)}")
            return list(_questions(path, rows))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableError(f"{path}: {error}") from error


def _questions(path: Path, rows: csv.DictReader[str]) -> Iterator[Question]:
    by_slug = dict(SlugRedirect.objects.values_list("slug", "article"))
    by_slug |= dict(Article.objects.values_list("slug", "pk"))
    for row in rows:
        text = (row["question"] or "").strip()
        slugs = re.split(r"[\s,;]+", (row["articles"] or "").strip())
        unknown = [slug for slug in slugs if slug not in by_slug]
        if not text or unknown:
            what = f"no article “{unknown[0]}”" if text else "no question"
            raise UnreadableError(f"{path}, line {rows.line_num}: {what}")
        right = frozenset(by_slug[slug] for slug in slugs)
        yield Question(text, right, (row.get("language") or "").strip() or None)


def from_helpful_answers() -> list[Question]:
    """The first questions of visitors' conversations whose answer ended well, with the articles
    that answer. A later question leans on what was said before it.

    An answer that visitors voted helpful, or colleagues judged right, gives what it cites; one
    for which a colleague named the article that should have answered gives that. A colleague's
    verdict weighs more than a vote: what they judged otherwise is no example.
    """
    answers = (
        Answer.objects.filter(_ended_well() | Q(review__article__isnull=False))
        .filter(turn=1, origin=Origin.VISITOR)
        .select_related("review")
        .order_by("created_at")
    )
    cited: dict[object, set[int]] = {}
    documents = AnswerDocument.objects.filter(answer__in=answers, cited=True, article__isnull=False)
    for answer_id, article_id in documents.values_list("answer", "article"):
        cited.setdefault(answer_id, set()).add(article_id)
    found = ((answer, _named(answer) or cited.get(answer.pk)) for answer in answers)
    return [
        Question(answer.question, frozenset(right), answer.language or None)
        for answer, right in found
        if right
    ]


def _ended_well() -> Q:
    unjudged = Q(review=None) | Q(review__verdict="")
    helpful = Q(grounding=Grounding.GROUNDED, feedback__rating=Rating.POSITIVE) & unjudged
    return helpful | Q(grounding=Grounding.GROUNDED, review__verdict=AnswerReview.Verdict.RIGHT)


def _named(answer: Answer) -> set[int]:
    """The article that a colleague named in place of what the answer rests on."""
    review = getattr(answer, "review", None)
    return {review.article_id} if review and review.article_id else set()
