"""Two writers, one article: notices that it was saved by another while a form was open.

A form carries the `fingerprint` of the article it was filled from. Where the article has
another one by the time the form comes back, nothing is saved, and `between` says what differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from articles.models import Article
from articles.writing.diffs import DiffLine, diff_lines

TEXTS = ("title", "summary", "body")
_SETTINGS = (
    *("slug", "language", "category_id", "position", "visibility", "author_id"),
    *("publish_at", "review_on"),
)


@dataclass(frozen=True)
class Difference:
    """A field that two versions fill differently, as a person reads its values."""

    label: str
    saved: str
    yours: str


@dataclass(frozen=True)
class Conflict:
    """`saved` is the article as it stands now; `differences` and `diff` lead from it to the form.

    `diff` is about the text alone, which `differences` leaves out.
    """

    saved: Article
    differences: list[Difference]
    diff: list[DiffLine]


def fingerprint(article: Article) -> str:
    """Names everything that a form of the article shows: equal fingerprints, equal forms."""
    values = (str(getattr(article, name)) for name in (*TEXTS, *_SETTINGS))
    return hashlib.sha256("\0".join(values).encode()).hexdigest()


def between(saved: Article, yours: Article, names: Iterable[str]) -> Conflict:
    """What saving `yours` over `saved` would change in the fields `names`."""
    differences = list(_differences(saved, yours, names))
    return Conflict(saved, differences, diff_lines(saved.body, yours.body))


def _differences(saved: Article, yours: Article, names: Iterable[str]) -> Iterator[Difference]:
    for name in names:
        field = Article._meta.get_field(name)
        before, after = _shown(saved, name), _shown(yours, name)
        if name != "body" and before != after:
            yield Difference(str(getattr(field, "verbose_name", name)), before, after)


def _shown(article: Article, name: str) -> str:
    label = getattr(article, f"get_{name}_display", None)
    value = label() if label else getattr(article, name)
    return "" if value is None else str(value)
