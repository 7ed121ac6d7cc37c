"""Pages of a list, newest change first: `next` and `previous` are addresses, or null.

By cursor, so that a page costs the same wherever it is in the list, and what changes while
somebody reads through neither repeats nor hides anything before it.
"""

from __future__ import annotations

from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination

PAGE_SIZE = 20
LARGEST_PAGE = 100


class Pages(CursorPagination):
    """Expects the rows' attribute `changed_at`. The view has checked `page_size`."""

    page_size = PAGE_SIZE
    page_size_query_param = "page_size"
    max_page_size = LARGEST_PAGE
    ordering = ("-changed_at", "-pk")
    invalid_cursor_message = _("Use the addresses in next and previous as they are.")  # type: ignore[assignment]

    def decode_cursor(self, request: Any) -> Any:
        """Raises `ValidationError` for one that no page gave out."""
        try:
            cursor = super().decode_cursor(request)
            position = cursor.position if cursor else None
            is_usable = position is None or parse_datetime(str(position)) is not None
        except (NotFound, ValueError):
            is_usable = False
        if not is_usable:
            raise ValidationError({"cursor": [self.invalid_cursor_message]})
        return cursor

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {
                "next": {**address, "example": _EXAMPLE},
                "previous": {**address, "example": None},
                "results": schema,
            },
        }


_EXAMPLE = "https://help.example.com/api/v1/articles/?cursor=cD0yMDI2LTExLTE3"
