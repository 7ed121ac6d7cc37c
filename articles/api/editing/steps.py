"""The steps in an article's life: it goes live, or is taken off the site."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api.editing.preconditions import check_if_match
from articles.api.editing.rows import found, locked
from articles.api.editing.views import MAYBE_IF_MATCH, Editing
from articles.api.editing.working_copies import WorkingCopy
from articles.models import Article, Status
from articles.writing import editing

Handler = TypeVar("Handler", bound=Callable[..., Response])


def _described(operation_id: str, summary: str, description: str) -> Callable[[Handler], Handler]:
    described: Callable[[Handler], Handler] = extend_schema(
        operation_id=operation_id,
        tags=["Editing articles"],
        summary=summary,
        description=f"{description} Doing it again changes nothing. Needs the permission to "
        "publish articles.",
        parameters=[MAYBE_IF_MATCH],
        request=None,
        responses=WorkingCopy,
    )
    return described


class _Step(Editing):
    """A step in an article's life."""

    @transaction.atomic
    def take(self, article_id: int, event: str, step: Callable[[Article], bool]) -> Response:
        """`step` tells whether it changed anything."""
        self.may("publish_article")
        article = found(locked(), pk=article_id)
        check_if_match(self.request, self.shown(article), required=False)
        if step(article):
            self.log(event, article=article.pk)
        return self.told(article)

    def withdraw(self, article: Article, status: Status) -> bool:
        return editing.withdraw(article, status, self.editor, self.via)


class Publish(_Step):
    @_described(
        "publish_article", "Publish", "Makes the working copy live. Refused where it has no text."
    )
    def post(self, request: Request, article_id: int) -> Response:
        return self.take(article_id, "article_published", self.publish)


class Unpublish(_Step):
    @_described("unpublish_article", "Unpublish", "Takes the article off the site, as a draft.")
    def post(self, request: Request, article_id: int) -> Response:
        return self.take(
            article_id, "article_unpublished", lambda one: self.withdraw(one, Status.DRAFT)
        )


class Archive(_Step):
    @_described("archive_article", "Archive", "Takes the article off the site, for good.")
    def post(self, request: Request, article_id: int) -> Response:
        return self.take(
            article_id, "article_archived", lambda one: self.withdraw(one, Status.ARCHIVED)
        )
