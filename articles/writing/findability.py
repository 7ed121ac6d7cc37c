"""Which questions find an article: run through the search that its readers use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from articles.access import ANONYMOUS, Reader
from articles.markup.outline import sections
from articles.models import Article, SearchQuery, Visibility
from articles.search import Hit, search

MOST_QUESTIONS = 20
LONGEST_QUESTION = 400
DEPTH = 20
"""Results of a question that are looked at."""


@dataclass(frozen=True)
class Found:
    """What a question finds. `rank` counts from 1, and is None where the article is not among
    the first `DEPTH`; `best` is the first result when that is another article."""

    question: str
    rank: int | None
    heading: str
    is_strong: bool
    best: Article | None


def try_questions(article: Article, questions: Iterable[str]) -> list[Found]:
    """Each question as a reader of this article would search; an `answers_only` one as answers."""
    return [_found(article, question) for question in cleaned(questions)]


def cleaned(questions: Iterable[str]) -> list[str]:
    """Without empty and repeated ones, and not endless."""
    texts = (" ".join(question.replace("\0", "").split()) for question in questions)
    return [text[:LONGEST_QUESTION] for text in dict.fromkeys(texts) if text][:MOST_QUESTIONS]


def suggestions(article: Article) -> list[str]:
    """Questions to begin with: what visitors searched for, the title, and the headings."""
    live = article.live_revision
    title, body = (live.title, live.body) if live else (article.title, article.body)
    return cleaned([*_past(article), title, *(section.title for section in sections(body))])


def _past(article: Article) -> list[str]:
    """The searches from which visitors opened it, the most frequent first."""
    opened = SearchQuery.objects.filter(clicks__article=article, by_staff=False)
    counted = opened.order_by().values("text").annotate(count=Count("pk"))
    texts = counted.order_by("-count", "text").values_list("text", flat=True)
    return list(texts[: MOST_QUESTIONS // 2])


def _found(article: Article, question: str) -> Found:
    hits = search(
        question,
        reader=_reader_of(article),
        for_answers=article.visibility == Visibility.ANSWERS_ONLY,
        language=article.language,
        limit=DEPTH,
    ).hits
    rank = next((at for at, hit in enumerate(hits, 1) if hit.article.pk == article.pk), None)
    hit = hits[rank - 1] if rank else None
    best = hits[0].article if hits and rank != 1 else None
    return Found(question, rank, _heading(hit), hit is not None and hit.above_floor, best)


def _heading(hit: Hit | None) -> str:
    return " › ".join(hit.passages[0].heading_path) if hit and hit.passages else ""


def _reader_of(article: Article) -> Reader:
    """The least that lets somebody open the article: its own audience."""
    readers = {
        Visibility.SIGNED_IN: Reader(is_authenticated=True),
        Visibility.STAFF: Reader(is_authenticated=True, is_staff=True),
    }
    return readers.get(Visibility(article.visibility), ANONYMOUS)
