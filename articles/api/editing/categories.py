"""Categories as their editors have them, empty ones too."""

from __future__ import annotations

from django.contrib.admin.models import ADDITION, CHANGE
from django.db import transaction
from django.db.models import ProtectedError, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api import examples
from articles.api.editing.preconditions import check_if_match
from articles.api.editing.views import IF_MATCH, Editing
from articles.api.editing.working_copies import CategoryChange, EditedCategory, NewCategory
from articles.api.errors import NotEmpty
from articles.models import Category
from articles.writing import editing


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


def _category(categories: QuerySet[Category], slug: str) -> Category:
    category = categories.select_related("parent").filter(slug=slug).first()
    if category is None:
        raise NotFound
    return category
