"""The record of searches: what was asked, how it went, and what was opened. Not by whom.

A search of the results page is recorded by itself. What is asked while somebody types is
not; it is recorded when one of the suggestions is opened. A later request proves which
search it belongs to by a signed token, so that nobody can write into other searches.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import DatabaseError
from django.utils import timezone

from articles.access import Reader
from articles.models import Article, SearchClick, SearchQuery
from articles.models.search_log import QUERY_LENGTH
from articles.search import Results
from helpcenter.masking import mask

logger = logging.getLogger(__name__)

MOST_PER_HOUR = 10_000
"""Searches recorded in an hour of the clock: a flood must not fill the disk."""

TOKEN_SECONDS = 24 * 3600

_SALT = "articles.search_log"


@dataclass(frozen=True)
class Seen:
    """A search as it will be recorded: the fields of a `SearchQuery`, masked."""

    fields: dict[str, Any]

    @classmethod
    def of(cls, results: Results, shown: int, reader: Reader, suggestion: str | None) -> Seen:
        """`shown` results of `results`, for `reader`."""
        return cls(
            {
                "text": _masked(results.query),
                "language": results.languages[0] if results.languages else "",
                "results": shown,
                "strong": min(shown, len(results.strong)),
                "mode": results.mode,
                "fallback_reason": results.fallback_reason or "",
                "suggestion": _masked(suggestion or ""),
                "by_staff": reader.is_staff,
            }
        )

    def token(self) -> str:
        """What records this search when a suggestion is opened."""
        return signing.dumps(self.fields, salt=_SALT, compress=True)


def record(seen: Seen) -> SearchQuery | None:
    """Stores a search; None where none is to be stored, or cannot be: searching goes on."""
    if not settings.SEARCH_LOG_DAYS:
        return None
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    in_hour = SearchQuery.objects.filter(searched_at=hour).order_by().values("pk")
    try:
        if in_hour[MOST_PER_HOUR - 1 : MOST_PER_HOUR].exists():
            logger.warning("searches_not_recorded", extra={"limit": MOST_PER_HOUR})
            return None
        return SearchQuery.objects.create(searched_at=hour, **seen.fields)
    except DatabaseError as error:
        # The traceback is left out: it holds what was searched for.
        logger.error("search_not_recorded", extra={"error": type(error).__name__})
        return None


def token_of(search: SearchQuery | None) -> str:
    """What names a recorded search to `opened` and `is_of`; empty for None."""
    return signing.dumps(search.pk, salt=_SALT) if search else ""


def is_of(token: str, query: str) -> bool:
    """Whether `token` names a recorded search of `query`: then it is not another one."""
    key = _read(token)
    return isinstance(key, int) and SearchQuery.objects.filter(pk=key, text=_masked(query)).exists()


def opened(token: str, article: Article, title: str, position: int) -> bool:
    """Records that `article` was opened from a search; False where `token` names none.

    A token of suggestions records its search first, once for each time it is sent.
    """
    named = _read(token)
    if named is None:
        return False
    search = (
        record(Seen(named))
        if isinstance(named, dict)
        else SearchQuery.objects.filter(pk=named).first()
    )
    if search is not None:
        defaults = {"title": title, "position": position}
        SearchClick.objects.get_or_create(search=search, article=article, defaults=defaults)
    return True


def forget() -> int:
    """Deletes what is older than `SEARCH_LOG_DAYS`. Returns how many searches."""
    until = timezone.now() - timedelta(days=settings.SEARCH_LOG_DAYS)
    _total, by_model = SearchQuery.objects.filter(searched_at__lt=until).delete()
    return by_model.get(SearchQuery._meta.label, 0)


def _masked(text: str) -> str:
    """Without personal data, and the same for the same words in another case."""
    return mask(" ".join(text.split())).lower()[:QUERY_LENGTH]


def _read(token: str) -> Any:
    try:
        return signing.loads(token, salt=_SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        return None
