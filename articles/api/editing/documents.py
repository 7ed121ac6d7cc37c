"""Documents of another system, put by its own ids."""

from __future__ import annotations

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api import examples
from articles.api.editing.preconditions import check_if_match
from articles.api.editing.rows import found, locked, rows
from articles.api.editing.views import MAYBE_IF_MATCH, Editing
from articles.api.editing.working_copies import EXTERNAL_ID_LENGTH, SyncedArticle, WorkingCopy
from articles.writing import editing


class ArticleByExternalId(Editing):
    @extend_schema(
        operation_id="get_synced_article",
        tags=["Syncing documents"],
        summary="Get an article by its external id",
        responses=WorkingCopy,
        examples=[examples.WORKING_COPY],
    )
    def get(self, request: Request, external_id: str) -> Response:
        self.may("view_article", "change_article")
        return self.told(found(rows(), external_id=external_id))

    @extend_schema(
        operation_id="sync_article",
        tags=["Syncing documents"],
        summary="Put a document",
        description="Creates the article with this external id, or brings it to what is sent. "
        "Putting the same again changes nothing. What is left out stays as it is. Needs the "
        "permissions to add and to change articles, and to publish them for `publish`.",
        parameters=[MAYBE_IF_MATCH],
        request=SyncedArticle,
        responses={200: WorkingCopy, 201: WorkingCopy},
        examples=[examples.SYNCED_ARTICLE, examples.WORKING_COPY],
    )
    @transaction.atomic
    def put(self, request: Request, external_id: str) -> Response:
        self.may("change_article")
        article = locked().filter(external_id=external_id).first()
        if article is not None:
            check_if_match(request, self.shown(article), required=False)
        values = self.checked(SyncedArticle, instance=article)
        live = values.pop("publish")
        if live:
            self.may("publish_article")
        is_new = article is None
        if article is None:
            self.may("add_article")
            values["external_id"] = _usable(external_id)
            article = editing.create(values, self.editor, self.via)
            self.log("article_created", article=article.pk)
        elif editing.change(article, values, self.editor, self.via):
            self.log("article_changed", article=article.pk)
        if live and self.publish(article):
            self.log("article_published", article=article.pk)
        return self.told(article, 201 if is_new else 200)


def _usable(external_id: str) -> str:
    """Raises `ValidationError` for one that is too long."""
    if len(external_id) > EXTERNAL_ID_LENGTH:
        message = f"At most {EXTERNAL_ID_LENGTH} characters."
        raise serializers.ValidationError({"external_id": [message]})
    return external_id
