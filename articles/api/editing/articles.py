"""Working copies: listed, written, changed, deleted."""

from __future__ import annotations

from typing import ClassVar

from django.db import transaction
from django.db.models import F
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api import examples
from articles.api.editing.preconditions import check_if_match
from articles.api.editing.rows import found, locked, rows
from articles.api.editing.views import IF_MATCH, Editing
from articles.api.editing.working_copies import ArticleChange, NewArticle, WorkingCopy
from articles.api.pagination import Pages
from articles.api.reading import PageQuery, checked
from articles.models import Status
from articles.writing import editing


class ManagedQuery(PageQuery):
    status = serializers.ChoiceField(choices=Status.choices, required=False)


class ManagedArticles(Editing):
    pagination_class: ClassVar[type[Pages]] = Pages

    @extend_schema(
        operation_id="list_working_copies",
        tags=["Editing articles"],
        summary="List working copies",
        description="All articles, drafts and archived ones too, the latest change first. "
        "Needs the permission to view or to change articles.",
        parameters=[ManagedQuery],
        responses=WorkingCopy(many=True),
    )
    def get(self, request: Request) -> Response:
        self.may("view_article", "change_article")
        query = checked(ManagedQuery, request)
        articles = rows().annotate(changed_at=F("updated_at"))
        if status := query.get("status"):
            articles = articles.filter(status=status)
        pages = Pages()
        page = pages.paginate_queryset(articles, request, self) or []
        return pages.get_paginated_response([self.shown(article) for article in page])

    @extend_schema(
        operation_id="create_article",
        tags=["Editing articles"],
        summary="Create an article",
        description="A draft, unless `publish` is true. Needs the permission to add articles, and "
        "to publish them for `publish`.",
        request=NewArticle,
        responses={201: WorkingCopy},
        examples=[examples.NEW_ARTICLE, examples.WORKING_COPY],
    )
    @transaction.atomic
    def post(self, request: Request) -> Response:
        self.may("add_article")
        values = self.checked(NewArticle)
        live = values.pop("publish")
        if live:
            self.may("publish_article")
        article = editing.create(values, self.editor, self.via)
        if live:
            self.publish(article)
        self.log("article_created", article=article.pk)
        return self.told(article, 201)


class ManagedArticle(Editing):
    @extend_schema(
        operation_id="get_working_copy",
        tags=["Editing articles"],
        summary="Get a working copy",
        description="With its `ETag`, which a change has to name.",
        responses=WorkingCopy,
        examples=[examples.WORKING_COPY],
    )
    def get(self, request: Request, article_id: int) -> Response:
        self.may("view_article", "change_article")
        return self.told(found(rows(), pk=article_id))

    @extend_schema(
        operation_id="change_article",
        tags=["Editing articles"],
        summary="Change an article",
        description="Changes the fields that are sent. The text of a published article stays as "
        "it is on the site until it is published again; its slug, category, place and visibility "
        "change at once. Needs the permission to change articles.",
        parameters=[IF_MATCH],
        request=ArticleChange,
        responses=WorkingCopy,
        examples=[examples.ARTICLE_CHANGE, examples.WORKING_COPY],
    )
    @transaction.atomic
    def patch(self, request: Request, article_id: int) -> Response:
        self.may("change_article")
        article = found(locked(), pk=article_id)
        check_if_match(request, self.shown(article), required=True)
        values = self.checked(ArticleChange, instance=article)
        if editing.change(article, values, self.editor, self.via):
            self.log("article_changed", article=article.pk)
        return self.told(article)

    @extend_schema(
        operation_id="delete_article",
        tags=["Editing articles"],
        summary="Delete an article",
        description="Deletes it for good, its revisions too. Archive it to keep them. Needs the "
        "permission to delete articles.",
        parameters=[IF_MATCH],
        responses={204: None},
    )
    @transaction.atomic
    def delete(self, request: Request, article_id: int) -> Response:
        self.may("delete_article")
        article = found(locked(), pk=article_id)
        check_if_match(request, self.shown(article), required=True)
        editing.delete(article, self.editor, self.via)
        self.log("article_deleted", article=article_id)
        return Response(status=204)
