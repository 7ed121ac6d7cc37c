"""The one gate to articles: what a reader may open, and what may go into their answers.

Every page, route, search and tool starts from these querysets, and the database
decides. An index may be stale; this is never.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import QuerySet

from articles.models import Article, Status, Visibility

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser


@dataclass(frozen=True)
class Reader:
    """Who reads, as far as rights go. Built once per request or turn, with `Reader.of`."""

    user_id: int | None = None
    is_authenticated: bool = False
    is_staff: bool = False

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser) -> Reader:
        """The rights of a signed-in, active user; everyone else reads as anonymous."""
        if not user.is_authenticated or not user.is_active:
            return ANONYMOUS
        return cls(
            user_id=user.pk, is_authenticated=True, is_staff=bool(getattr(user, "is_staff", False))
        )

    def visibilities(self) -> list[Visibility]:
        """What this reader may open."""
        allowed = [Visibility.PUBLIC]
        if self.is_authenticated:
            allowed.append(Visibility.SIGNED_IN)
        if self.is_staff:
            allowed.append(Visibility.STAFF)
        return allowed


ANONYMOUS = Reader()


def readable(reader: Reader) -> QuerySet[Article]:
    """The published articles that `reader` may open, with their live revision."""
    return _published(reader.visibilities())


def answerable(reader: Reader) -> QuerySet[Article]:
    """The published articles that answers to `reader` may use: `answers_only` ones too."""
    return _published([*reader.visibilities(), Visibility.ANSWERS_ONLY])


def gone(reader: Reader) -> QuerySet[Article]:
    """The archived articles that `reader` could open before: their addresses may say so.

    Of a draft, or of what was never for this reader, nobody learns that it exists.
    """
    return Article.objects.filter(
        status=Status.ARCHIVED,
        live_revision__isnull=False,
        visibility__in=reader.visibilities(),
    )


def may_open(article: Article, reader: Reader) -> bool:
    """Whether `reader` may open this article, by the row at hand."""
    return article.status == Status.PUBLISHED and article.visibility in reader.visibilities()


def may_use(article: Article, reader: Reader) -> bool:
    """Whether answers to `reader` may use this article, by the row at hand."""
    usable = [*reader.visibilities(), Visibility.ANSWERS_ONLY]
    return article.status == Status.PUBLISHED and article.visibility in usable


def may_see_picture(address: str, reader: Reader) -> bool:
    """Whether an article that answers to `reader` may use shows the picture at this address, which
    is as `ArticleLink.path` has it."""
    return answerable(reader).filter(links__path=address).exists()


def _published(visibilities: list[Visibility]) -> QuerySet[Article]:
    return Article.objects.filter(
        status=Status.PUBLISHED, live_revision__isnull=False, visibility__in=visibilities
    ).select_related("live_revision", "category")
