"""`/api/v1/manage/gaps/`: the queue of documentation gaps, for programs with a token.

What is changed goes through `assistant.gaps.queue` like what is done in the admin, as the act of
the token's user: with its history, and for them to undo there.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, NotFound, ParseError, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from articles.api.editing.views import Editing
from articles.api.fields import ChoiceField, StrictSerializer, TextField
from articles.api.views import View
from assistant.gaps import queue
from assistant.gaps.listing import TO_DO, row
from assistant.models import GapTopic

PAGE_SIZE = 100
STATUSES: dict[str, list[str]] = {
    "todo": [str(status) for status in TO_DO],
    "all": list(GapTopic.Status.values),
    **{value: [value] for value in GapTopic.Status.values},
}


Status = GapTopic.Status
SETTABLE = [Status.OPEN, Status.CLAIMED, Status.PUBLISHED, Status.DISMISSED]
"""What people decide. That it is drafted or verified, the site finds out."""

COMMENT_LENGTH = 4000


class AssigneeField(TextField):
    """A colleague who may work the queue, by their name."""

    default_error_messages = {
        "unknown": gettext_lazy("Nobody of this name may work the queue."),
    }

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        found = queue.workers().filter(username=name).first()
        if found is None:
            self.fail("unknown")
        return found


class GapChange(StrictSerializer):
    status = ChoiceField(choices=SETTABLE, required=False)
    dismissed_as = ChoiceField(choices=GapTopic.Reason.choices, required=False)
    assignee = AssigneeField(required=False, allow_null=True)
    due_on = serializers.DateField(required=False, allow_null=True)
    comment = TextField(required=False, max_length=COMMENT_LENGTH)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs.get("status") == Status.DISMISSED) != ("dismissed_as" in attrs):
            reason = _("Send it with the status dismissed, and only with that.")
            raise serializers.ValidationError({"dismissed_as": [reason]})
        return attrs


class GapView(Editing):
    """One topic. Needs the permission `assistant.change_gaptopic`."""

    @transaction.atomic
    def patch(self, request: Request, topic_id: int) -> Response:
        if not self.editor.has_perm("assistant.change_gaptopic"):
            raise PermissionDenied
        topics = GapTopic.objects.filter(merged_into=None).select_related("assignee")
        topic = topics.select_for_update(of=("self",)).filter(pk=topic_id).first()
        if topic is None:
            raise NotFound
        sent = self.checked(GapChange)
        if fields := _fields(topic, sent, self.editor):
            queue.change([topic], self.editor, **fields)
        if sent.get("comment"):
            queue.comment(topic, self.editor, sent["comment"])
        self.log("gap_changed", topic=topic.pk)
        return Response(row(topics.get(pk=topic.pk)))


def _fields(topic: GapTopic, sent: dict[str, Any], caller: User) -> dict[str, Any]:
    """What is set. Who claims a topic and names nobody, claims it for themselves; who hands an
    open one to somebody, has claimed it for them."""
    fields: dict[str, Any] = {name: sent[name] for name in ("status", "due_on") if name in sent}
    if "assignee" in sent:
        fields["assignee_id"] = sent["assignee"].pk if sent["assignee"] else None
        fields.setdefault("status", queue.status_with(topic, fields["assignee_id"]))
    elif sent.get("status") == Status.CLAIMED:
        fields["assignee_id"] = caller.pk
    if "status" in sent:
        fields["dismissed_as"] = sent.get("dismissed_as", "")
    return fields


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
