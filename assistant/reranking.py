"""Reranking: a second look at what a search found, by a model that reads query and passage.

A site names its reranker in `ASSISTANT_RERANKER`, a dotted path to a callable
`(query: str, passages: list[str]) -> list[float]`: a score per passage, the higher the
better. `assistant.reranking.endpoint` is one; it asks a server for `POST …/rerank` as
Cohere, Jina, vLLM and others have it. Without the setting the order of the search stays,
and so it does where a reranker fails: that is logged, and costs no answer.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, cast

import httpx2
from django.conf import settings
from django.utils.module_loading import import_string

from assistant.tools.queries import Candidate

Reranker = Callable[[str, list[str]], Sequence[float]]

SECONDS = 5.0
"""How long an answer waits for a reranker."""

logger = logging.getLogger(__name__)


class RerankingError(Exception):
    """A reranker's scores cannot be used."""


def active() -> Reranker | None:
    """The site's reranker, None where it has none. `ImportError` where the path leads nowhere."""
    path = settings.ASSISTANT_RERANKER
    return _named(path) if path else None


@lru_cache(maxsize=4)
def _named(path: str) -> Reranker:
    return cast(Reranker, import_string(path))


async def reranked(
    rerank: Reranker, query: str, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates by the reranker's scores; as they were where it fails or is too slow."""
    texts = [_as_text(candidate) for candidate in candidates]
    try:
        async with asyncio.timeout(SECONDS):
            scores = _usable(await asyncio.to_thread(rerank, query, texts), len(texts))
    except Exception as error:
        # It may be anybody's code. Without its message, which may hold what was asked.
        logger.warning("reranker_failed", extra={"error": type(error).__name__})
        return list(candidates)
    order = sorted(range(len(texts)), key=lambda at: -scores[at])
    return [candidates[at] for at in order]


def endpoint(query: str, passages: list[str]) -> list[float]:
    """Scores by the server at `RERANKER_URL`. Raises `httpx2.HTTPError`, `RerankingError`."""
    key = settings.RERANKER_API_KEY
    response = httpx2.post(
        settings.RERANKER_URL,
        json={"model": settings.RERANKER_MODEL, "query": query, "documents": passages},
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=SECONDS,
    )
    response.raise_for_status()
    try:
        found = {row["index"]: row["relevance_score"] for row in response.json()["results"]}
        return [float(found[at]) for at in range(len(passages))]
    except (ValueError, LookupError, TypeError) as error:
        raise RerankingError("the answer does not have a score for each passage") from error


def _as_text(candidate: Candidate) -> str:
    heading = candidate.passage.heading
    name = f"{candidate.facts.title} › {heading}" if heading else candidate.facts.title
    return f"{name}\n{candidate.passage.text}"


def _usable(scores: Any, count: int) -> list[float]:
    values = [float(score) for score in scores]
    if len(values) != count or not all(map(math.isfinite, values)):
        raise RerankingError(f"{len(values)} scores for {count} passages")
    return values
