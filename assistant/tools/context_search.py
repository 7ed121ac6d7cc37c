"""The one search for a model without tools: which passages go into its prompt.

In this order: the score threshold, reranking where the site has a reranker, the cap per
article, the budget in tokens. What is left is given to the model, so all of it counts as
retrieved, and nothing else does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from django.conf import settings

from articles.access import Reader
from assistant import reranking, tokens
from assistant.article_facts import ArticleFacts
from assistant.tools import queries
from assistant.tools.queries import Candidate, Found

T = TypeVar("T")


class Database(Protocol):
    """Runs a function that asks the database; see `assistant.database.db`."""

    def __call__(self, step: Callable[..., T], /, *args: Any) -> Awaitable[T]: ...


async def find(db: Database, reader: Reader, language: str, query: str, category: str) -> Found:
    """The articles with the passages to give, the best first. Raises what `find_passages` does."""
    found, candidates = await db(queries.find_passages, reader, language, query, category)
    threshold = settings.ASSISTANT_CONTEXT_MIN_SCORE / 100
    candidates = [candidate for candidate in candidates if candidate.strength >= threshold]
    rerank = reranking.active()
    if rerank is not None and len(candidates) > 1:
        candidates = await reranking.reranked(rerank, query, candidates)
        # Reranking takes its time, in which an article may go.
        facts = [candidate.facts for candidate in candidates]
        present = await db(queries.still_there, reader, facts)
        candidates = [each for each in candidates if each.facts.document_id in present]
    chosen = choose(
        candidates,
        per_article=settings.ASSISTANT_CONTEXT_PER_ARTICLE,
        budget=settings.ASSISTANT_CONTEXT_PASSAGE_TOKENS,
    )
    return replace(found, articles=by_article(chosen))


def choose(candidates: Iterable[Candidate], *, per_article: int, budget: int) -> list[Candidate]:
    """The first passages, at most so many of each article, that fit into so many tokens.

    The best one goes in whatever it costs: a budget is no reason to say nothing.
    """
    taken: Counter[str] = Counter()
    chosen: list[Candidate] = []
    for candidate in candidates:
        cost = tokens.estimate(candidate.passage.text)
        article = candidate.facts.document_id
        if taken[article] < per_article and (cost <= budget or not chosen):
            taken[article] += 1
            budget -= cost
            chosen.append(candidate)
    return chosen


def by_article(chosen: Sequence[Candidate]) -> list[ArticleFacts]:
    """The articles in the order of their best passages, each with its own in their order."""
    articles = {candidate.facts.document_id: candidate.facts for candidate in chosen}
    for document_id, facts in articles.items():
        facts.passages = [
            candidate.passage for candidate in chosen if candidate.facts.document_id == document_id
        ]
    return list(articles.values())
