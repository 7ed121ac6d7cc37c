"""Questions whose right articles are known, for the evaluation of search.

Where they come from is a function that gives `Question`s: a CSV that somebody wrote, or
conversations that ended well. Another source is another function here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from articles.models import Article, Rating, SlugRedirect
from articles.ranking.evaluation import Question
from assistant.models import Answer, AnswerDocument, Grounding, Origin

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
    """The first questions of visitors' conversations whose answer they voted helpful, with the
    articles it cites. A later question leans on what was said before it."""
    answers = Answer.objects.filter(
        turn=1,
        origin=Origin.VISITOR,
        grounding=Grounding.GROUNDED,
        feedback__rating=Rating.POSITIVE,
    ).order_by("created_at")
    cited: dict[object, set[int]] = {}
    documents = AnswerDocument.objects.filter(answer__in=answers, cited=True, article__isnull=False)
    for answer_id, article_id in documents.values_list("answer", "article"):
        cited.setdefault(answer_id, set()).add(article_id)
    return [
        Question(answer.question, frozenset(cited[answer.pk]), answer.language or None)
        for answer in answers
        if answer.pk in cited
    ]
