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
from django.db import DatabaseError, connection
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

# One statement looks for room in the hour and stores, since a page waits for it.
_RECORD = """
INSERT INTO articles_searchquery (searched_at, text, language, results, strong, mode,
    fallback_reason, suggestion, by_staff)
SELECT %(hour)s, %(text)s, %(language)s, %(results)s, %(strong)s, %(mode)s,
    %(fallback_reason)s, %(suggestion)s, %(by_staff)s
WHERE NOT EXISTS (SELECT FROM articles_searchquery WHERE searched_at = %(hour)s OFFSET %(room)s)
RETURNING id
"""


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


def record(seen: Seen) -> int | None:
    """Stores a search, in one query, and returns its key; None where none is to be stored, or
    cannot be: searching goes on."""
    if not settings.SEARCH_LOG_DAYS:
        return None
    try:
        key = _stored(seen)
    except DatabaseError as error:
        # The traceback is left out: it holds what was searched for.
        logger.error("search_not_recorded", extra={"error": type(error).__name__})
        return None
    if key is None:
        logger.warning("searches_not_recorded", extra={"limit": MOST_PER_HOUR})
    return key


def token_of(key: int | None) -> str:
    """What names a recorded search to `opened` and `is_of`; empty for None."""
    return "" if key is None else signing.dumps(key, salt=_SALT)


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
    key = record(Seen(named)) if isinstance(named, dict) else named
    search = None if key is None else SearchQuery.objects.filter(pk=key).first()
    if search is not None:
        defaults = {"title": title, "position": position}
        SearchClick.objects.get_or_create(search=search, article=article, defaults=defaults)
    return True


def forget() -> int:
    """Deletes what is older than `SEARCH_LOG_DAYS`. Returns how many searches."""
    until = timezone.now() - timedelta(days=settings.SEARCH_LOG_DAYS)
    _total, by_model = SearchQuery.objects.filter(searched_at__lt=until).delete()
    return by_model.get(SearchQuery._meta.label, 0)


def _stored(seen: Seen) -> int | None:
    """The key of the new row; None where its hour is full."""
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, {**seen.fields, "hour": hour, "room": MOST_PER_HOUR - 1})
        row = cursor.fetchone()
        return row[0] if row else None


def _masked(text: str) -> str:
    """Without personal data, and the same for the same words in another case."""
    return mask(" ".join(text.split())).lower()[:QUERY_LENGTH]


def _read(token: str) -> Any:
    try:
        return signing.loads(token, salt=_SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        return None
