"""What the tools ask the database, each with one reader's rights at that moment.

Plain functions of a reader, run on a thread; what they return holds no lazy fields.
They raise `BadCallError` for what does not exist for this reader, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from articles import categories
from articles.access import Reader, answerable, readable
from articles.markup.inline_text import without_payloads
from articles.models import Passage, SlugRedirect
from articles.ranking import spelling
from articles.reading import shown_revision
from articles.search import PassageHit, Results, search
from assistant.article_facts import ArticleFacts, PassageRead
from assistant.fencing import neutral, on_one_line
from assistant.tools.arguments import BadCallError
from assistant.tools.confidence import MOST_PASSAGES, sure

SEARCH_ARTICLES = 6
PASSAGES_PER_ARTICLE = 3

PROMPT_ARTICLES = 12
PROMPT_PASSAGES = 5
"""Of each: what context mode chooses from."""

PAGE_SIZE = 30
CATEGORIES_NAMED = 40


@dataclass(frozen=True, slots=True)
class Found:
    """A search: the articles above the floors with their passages, and how it went.

    `suggestion`: the query with its unknown words replaced by the nearest known ones, where
    nothing good was found.
    """

    articles: list[ArticleFacts]
    mode: str
    fallback: str
    suggestion: str | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may go into a prompt. `strength` is comparable between queries."""

    facts: ArticleFacts
    passage: PassageRead
    strength: float


@dataclass(frozen=True, slots=True)
class Page:
    articles: list[ArticleFacts]
    total: int
    pages: int


def find(reader: Reader, language: str, query: str, category: str, cautious: bool) -> Found:
    """The articles that an answer to `reader` may rest on, best first.

    `cautious`: only what may be quoted without a model's judgement.
    """
    results = _search(reader, language, query, category, SEARCH_ARTICLES, PASSAGES_PER_ARTICLE)
    hits = sure(results, _passages(results)) if cautious else results.strong
    found = ArticleFacts.of_all((hit.article for hit in hits), reader)
    for facts, hit in zip(found, hits, strict=True):
        facts.passages = [_read(passage) for passage in hit.passages]
    return _found(found, results)


def find_passages(
    reader: Reader, language: str, query: str, category: str
) -> tuple[Found, list[Candidate]]:
    """How a search went, and passages of many articles, the strongest first, the weak ones too."""
    results = _search(reader, language, query, category, PROMPT_ARTICLES, PROMPT_PASSAGES)
    found = ArticleFacts.of_all((hit.article for hit in results.hits), reader)
    candidates = []
    for facts, hit in zip(found, results.hits, strict=True):
        candidates += [Candidate(facts, _read(part), part.strength) for part in hit.passages]
    candidates.sort(key=lambda candidate: -candidate.strength)
    return _found([], results), candidates


def still_there(reader: Reader, found: Sequence[ArticleFacts]) -> set[str]:
    """Which of these, by document id, this reader may have now, in the revision that was read."""
    revisions = {facts.article_id: facts.revision_id for facts in found}
    present = answerable(reader).filter(pk__in=revisions).values_list("pk", "live_revision")
    return {str(pk) for pk, revision in present if revisions[pk] == revision}


def _search(
    reader: Reader, language: str, query: str, category: str, articles: int, passages: int
) -> Results:
    branch = _branch(reader, category)
    return search(
        query,
        reader=reader,
        for_answers=True,
        language=language,
        category=branch.category if branch else None,
        limit=articles,
        passages_per_article=passages,
    )


def _read(passage: PassageHit) -> PassageRead:
    heading = " › ".join(passage.heading_path)
    return PassageRead(heading, passage.anchor, neutral(passage.text))


def _found(articles: list[ArticleFacts], results: Results) -> Found:
    suggestion = spelling.suggestion(results)
    return Found(articles, results.mode, results.fallback_reason or "", suggestion)


def _passages(results: Results) -> int:
    """How many passages there were to search in, counted as far as it matters."""
    searched = Passage.objects.filter(language__in=results.languages)
    return searched.order_by()[:MOST_PASSAGES].count()


def read(reader: Reader, article_id: str, slug: str) -> tuple[ArticleFacts, str]:
    """An article by its id or else its slug, old ones too, and its text as a model may have it."""
    articles = answerable(reader)
    if article_id:
        article = articles.filter(pk=article_id).first()
    else:
        slug = slug.split("#")[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        old = SlugRedirect.objects.filter(slug=slug).values("article")
        article = articles.filter(slug=slug).first() or articles.filter(pk__in=old).first()
    if article is None:
        raise BadCallError("There is no such article. Search for it, or list the articles.")
    body = neutral(without_payloads(shown_revision(article).body)).strip()
    if not body:
        raise BadCallError("This article has no text.")
    return ArticleFacts.of(article, reader), body


def list_categories(reader: Reader) -> list[dict[str, Any]]:
    """The categories in which `reader` may open something: slug, name with its path, count."""
    return [
        {
            "slug": branch.category.slug,
            "name": on_one_line(_path_name(branch)),
            "articles": branch.articles,
        }
        for branch in _branches(reader)
        if branch.articles
    ]


def list_articles(reader: Reader, category: str, page: int) -> Page:
    """A page of what `reader` may open, in the order of the help pages."""
    articles = readable(reader).defer("body", "live_revision__body")
    if branch := _branch(reader, category):
        articles = articles.filter(category__in=[node.category.pk for node in branch.walk()])
    total = articles.count()
    pages = max(1, ceil(total / PAGE_SIZE))
    if page > pages:
        raise BadCallError(f"There is no page {page}; the last one is {pages}.")
    ordered = articles.order_by(
        "category__position", "category__name", "position", "live_revision__title", "pk"
    )
    start = (page - 1) * PAGE_SIZE
    found = ArticleFacts.of_all(ordered[start : start + PAGE_SIZE], reader)
    return Page(found, total, pages)


def _branches(reader: Reader) -> list[categories.Branch]:
    return [branch for top in categories.tree(reader) for branch in top.walk()]


def _branch(reader: Reader, name: str) -> categories.Branch | None:
    """The category that is meant by a slug, a name or a name with its path; None for no name."""
    if not name:
        return None
    branches = _branches(reader)
    for branch in branches:
        names = (branch.category.slug, branch.category.name, _path_name(branch))
        if name.casefold() in [each.casefold() for each in names]:
            return branch
    known = ", ".join(branch.category.slug for branch in branches[:CATEGORIES_NAMED])
    raise BadCallError(f"There is no category {name[:60]!r}. The categories are: {known}.")


def _path_name(branch: categories.Branch) -> str:
    return " › ".join(category.name for category in [*branch.path, branch.category])
