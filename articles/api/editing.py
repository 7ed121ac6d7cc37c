"""Working copies over HTTP, under `/api/v1/manage/`: for tokens whose user may edit.

A change names the version it was made from (`If-Match`), so that nobody's work is
overwritten unseen. A documentation pipeline needs none: it puts its documents by their ids.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

from django.contrib.admin.models import ADDITION, CHANGE
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, ProtectedError, QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from articles import editing
from articles.api import examples
from articles.api.authentication import TokenAuthentication
from articles.api.errors import NotEmpty
from articles.api.pagination import Pages
from articles.api.preconditions import check_if_match, etag
from articles.api.reading import PageQuery, checked
from articles.api.views import View
from articles.api.working_copies import (
    EXTERNAL_ID_LENGTH,
    ArticleChange,
    CategoryChange,
    EditedCategory,
    NewArticle,
    NewCategory,
    SyncedArticle,
    WorkingCopy,
)
from articles.models import Article, Category, Status
from helpcenter.models import ApiToken

logger = logging.getLogger(__name__)

Handler = TypeVar("Handler", bound=Callable[..., Response])

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="The `ETag` of the version that the change was made from; `*` for any.",
)
MAYBE_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of a version: refused where it is not the present one.",
)


class Editing(View):
    """A view for tokens. `self.may` raises `PermissionDenied` where the user may not."""

    authentication_classes = [TokenAuthentication]
    permission_classes = [IsAuthenticated]

    @property
    def editor(self) -> User:
        return cast(User, self.request.user)

    @cached_property
    def via(self) -> str:
        """How the admin's history names the caller."""
        return f"API, {cast(ApiToken, self.request.auth).name}"

    def may(self, *permissions: str) -> None:
        """Any one of these permissions of the app will do."""
        if not any(self.editor.has_perm(f"articles.{name}") for name in permissions):
            raise PermissionDenied

    def checked(self, serializer: type[serializers.Serializer[Any]], **options: Any) -> Any:
        """The values of the body, or a `ValidationError`."""
        found = serializer(data=self.request.data, context={"request": self.request}, **options)
        found.is_valid(raise_exception=True)
        return dict(found.validated_data)

    def shown(self, row: Article | Category) -> dict[str, Any]:
        context = {"request": self.request}
        if isinstance(row, Article):
            return dict(WorkingCopy(row, context=context).data)
        return dict(EditedCategory(row, context=context).data)

    def told(self, row: Article | Category, status: int = 200) -> Response:
        shown = self.shown(row)
        return Response(shown, status=status, headers={"ETag": etag(shown)})

    def log(self, event: str, **ids: int) -> None:
        logger.info(event, extra={**ids, "user": self.editor.pk, "token": self.request.auth.pk})


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
        articles = _rows().annotate(changed_at=F("updated_at"))
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
            editing.publish(article, self.editor, self.via)
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
        return self.told(_article(_rows(), pk=article_id))

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
        article = _article(_locked(), pk=article_id)
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
        article = _article(_locked(), pk=article_id)
        check_if_match(request, self.shown(article), required=True)
        editing.delete(article, self.editor, self.via)
        self.log("article_deleted", article=article_id)
        return Response(status=204)


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
        article = _article(_locked(), pk=article_id)
        check_if_match(self.request, self.shown(article), required=False)
        if step(article):
            self.log(event, article=article.pk)
        return self.told(article)

    def withdraw(self, article: Article, status: Status) -> bool:
        return editing.withdraw(article, status, self.editor, self.via)


class Publish(_Step):
    @_described("publish_article", "Publish", "Makes the working copy live.")
    def post(self, request: Request, article_id: int) -> Response:
        return self.take(
            article_id, "article_published", lambda one: editing.publish(one, self.editor, self.via)
        )


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
        return self.told(_article(_rows(), external_id=external_id))

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
        article = _locked().filter(external_id=external_id).first()
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
        if live and editing.publish(article, self.editor, self.via):
            self.log("article_published", article=article.pk)
        return self.told(article, 201 if is_new else 200)


class ManagedCategories(Editing):
    @extend_schema(
        operation_id="create_category",
        tags=["Editing categories"],
        summary="Create a category",
        description="Needs the permission to add categories.",
        request=NewCategory,
        responses={201: EditedCategory},
        examples=[examples.NEW_CATEGORY, examples.EDITED_CATEGORY],
    )
    @transaction.atomic
    def post(self, request: Request) -> Response:
        self.may("add_category")
        category = Category(**self.checked(NewCategory))
        category.save()
        editing.note(category, self.editor, ADDITION, self.via)
        self.log("category_created", category=category.pk)
        return self.told(category, 201)


class ManagedCategory(Editing):
    @extend_schema(
        operation_id="get_edited_category",
        tags=["Editing categories"],
        summary="Get a category to edit",
        description="Empty ones too, with the `ETag` that a change has to name.",
        responses=EditedCategory,
        examples=[examples.EDITED_CATEGORY],
    )
    def get(self, request: Request, slug: str) -> Response:
        self.may("view_category", "change_category")
        return self.told(_category(Category.objects.all(), slug))

    @extend_schema(
        operation_id="change_category",
        tags=["Editing categories"],
        summary="Change a category",
        description="Needs the permission to change categories.",
        parameters=[IF_MATCH],
        request=CategoryChange,
        responses=EditedCategory,
        examples=[examples.CATEGORY_CHANGE, examples.EDITED_CATEGORY],
    )
    @transaction.atomic
    def patch(self, request: Request, slug: str) -> Response:
        self.may("change_category")
        category = _category(Category.objects.select_for_update(of=("self",)), slug)
        check_if_match(request, self.shown(category), required=True)
        for name, value in self.checked(CategoryChange, instance=category).items():
            setattr(category, name, value)
        category.clean()
        category.save()
        editing.note(category, self.editor, CHANGE, self.via)
        self.log("category_changed", category=category.pk)
        return self.told(category)

    @extend_schema(
        operation_id="delete_category",
        tags=["Editing categories"],
        summary="Delete a category",
        description="One that holds nothing. Needs the permission to delete categories.",
        parameters=[IF_MATCH],
        responses={204: None},
    )
    @transaction.atomic
    def delete(self, request: Request, slug: str) -> Response:
        self.may("delete_category")
        category = _category(Category.objects.select_for_update(of=("self",)), slug)
        check_if_match(request, self.shown(category), required=True)
        category_id = category.pk
        try:
            category.delete()
        except ProtectedError:
            raise NotEmpty from None
        self.log("category_deleted", category=category_id)
        return Response(status=204)


def _rows() -> QuerySet[Article]:
    return Article.objects.select_related("live_revision", "category")


def _locked() -> QuerySet[Article]:
    """Until the transaction ends nobody else changes what is read here."""
    return _rows().select_for_update(of=("self",))


def _article(articles: QuerySet[Article], **condition: Any) -> Article:
    article = articles.filter(**condition).first()
    if article is None:
        raise NotFound
    return article


def _category(categories: QuerySet[Category], slug: str) -> Category:
    category = categories.select_related("parent").filter(slug=slug).first()
    if category is None:
        raise NotFound
    return category


def _usable(external_id: str) -> str:
    """Raises `ValidationError` for one that is too long."""
    if len(external_id) > EXTERNAL_ID_LENGTH:
        message = f"At most {EXTERNAL_ID_LENGTH} characters."
        raise serializers.ValidationError({"external_id": [message]})
    return external_id
