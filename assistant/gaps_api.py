"""`GET /api/v1/manage/gaps/`: the queue of documentation gaps, for programs with a token."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated, ParseError, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api.views import View
from assistant.gaps.listing import TO_DO, row
from assistant.models import GapTopic

PAGE_SIZE = 100
STATUSES: dict[str, list[str]] = {
    "todo": [str(status) for status in TO_DO],
    "all": list(GapTopic.Status.values),
    **{value: [value] for value in GapTopic.Status.values},
}


class GapsView(View):
    """Needs the permission `assistant.view_gaptopic`."""

    def get(self, request: Request) -> Response:
        if not request.user.is_authenticated:
            raise NotAuthenticated
        if not request.user.has_perm("assistant.view_gaptopic"):
            raise PermissionDenied
        asked = request.query_params
        statuses = STATUSES.get(asked.get("status", "todo"))
        kind = asked.get("kind", "")
        offset = asked.get("offset", "0")
        if statuses is None:
            raise ParseError([_("status is todo, all, or one of the queue's.")])
        if kind and kind not in GapTopic.Kind.values:
            raise ParseError([_("kind is gap, uncited or search.")])
        if not (offset.isascii() and offset.isdigit() and len(offset) < 10):
            raise ParseError([_("offset is a number, 0 or greater.")])
        topics = GapTopic.objects.filter(merged_into=None, status__in=statuses)
        if kind:
            topics = topics.filter(kind=kind)
        ordered = topics.select_related("assignee").defer("centroid").order_by("-impact", "pk")
        found = list(ordered[int(offset) : int(offset) + PAGE_SIZE + 1])
        return Response(
            {
                "gaps": [row(topic) for topic in found[:PAGE_SIZE]],
                "next_offset": int(offset) + PAGE_SIZE if len(found) > PAGE_SIZE else None,
            }
        )
