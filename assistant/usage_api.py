"""`GET /api/v1/manage/usage/`: usage by citation, for programs with a token."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated, ParseError, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api.views import View
from assistant.figures.usage import MOST_MONTHS, By, Usage, months_of, usage

KINDS: dict[str, By] = {"article": "article", "category": "category"}


class UsageView(View):
    """Needs the permission `assistant.view_usage`."""

    def get(self, request: Request) -> Response:
        if not request.user.is_authenticated:
            raise NotAuthenticated
        if not request.user.has_perm("assistant.view_usage"):
            raise PermissionDenied
        asked = request.query_params
        months = months_of(asked.get("from", ""), asked.get("to", ""))
        by = KINDS.get(asked.get("by", "article"))
        if months is None:
            message = _("from and to are months such as 2026-01, at most %(count)d of them.")
            raise ParseError([message % {"count": MOST_MONTHS}])
        if by is None:
            raise ParseError([_("by is article or category.")])
        return Response(
            {
                "from": f"{months.first:%Y-%m}",
                "to": f"{months.last:%Y-%m}",
                "by": by,
                "usage": [_payload(row, by) for row in usage(months, by)],
            }
        )


def _payload(row: Usage, by: By) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "month": f"{row.month:%Y-%m}",
        "id": row.key,
        "title": row.title,
        "answers": row.answers,
    }
    if by == "article":
        payload |= {"slug": row.slug or None, "category": row.category or None}
    return payload
