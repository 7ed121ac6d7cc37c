"""What every view for editors shares: a token, permissions, versions and the log."""

from __future__ import annotations

import logging
from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as ModelError
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response

from articles import publishing
from articles.api.authentication import TokenAuthentication
from articles.api.editing.preconditions import etag
from articles.api.editing.working_copies import EditedCategory, WorkingCopy
from articles.api.views import View
from articles.models import Article, Category
from articles.writing import editing
from helpcenter.models import ApiToken

logger = logging.getLogger(__name__)

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
        found = serializer(data=self.body(), context={"request": self.request}, **options)
        found.is_valid(raise_exception=True)
        return dict(found.validated_data)

    def publish(self, article: Article) -> bool:
        """Whether it changed anything. Raises `ValidationError` where there is no text."""
        try:
            publishing.refuse_empty(article)
        except ModelError as error:
            raise serializers.ValidationError({"markdown": error.messages}) from None
        return editing.publish(article, self.editor, self.via)

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
