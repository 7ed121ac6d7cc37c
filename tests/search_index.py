"""Articles put into the index at once, as the worker would."""

from __future__ import annotations

from typing import Any

from articles import indexing
from articles.access import ANONYMOUS
from articles.models import Article, Passage
from articles.ranking import spelling
from articles.search import search
from articles.terms import frequencies
from tests.factories import make_article


def index(*articles: Article) -> None:
    """Index these, or all that are stale, count terms and gather words."""
    stale = indexing.batches(indexing.stale())
    for batch in [[article.pk for article in articles]] if articles else stale:
        indexing.index_articles(batch)
    frequencies.recount()
    spelling.collect()


def make_indexed(title: str, body: str, **fields: Any) -> Article:
    article = make_article(title, body=body, **fields)
    index(article)
    return article


def found(query: str, **options: Any) -> list[str]:
    """The titles that a search finds, best first; an anonymous reader's by default."""
    options.setdefault("reader", ANONYMOUS)
    return [hit.article.title for hit in search(query, **options).hits]


def rows(article: Article) -> list[str]:
    """The texts of the article's rows in the index, in order."""
    passages = Passage.objects.filter(article=article).order_by("position")
    return list(passages.values_list("text", flat=True))
