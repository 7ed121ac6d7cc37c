"""What can be done to several topics of the writers' queue at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import is_key, person
from assistant.gaps import queue
from assistant.models import GapTopic


class QueueActionForm(ActionForm):
    """The list's actions, and whom one of them is about."""

    person = forms.ModelChoiceField(
        User.objects.none(), label=_("Person:"), required=False, empty_label=_("choose")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["person"].queryset = queue.workers()  # type: ignore[attr-defined]


class QueueActions(admin.ModelAdmin[GapTopic]):
    """The bulk actions of the list."""

    action_form = QueueActionForm
    actions = [
        "claim",
        "assign",
        "release",
        "reopen",
        "mark_published",
        "merge",
        *(f"dismiss_{reason}" for reason in GapTopic.Reason.values),
    ]

    @admin.action(description=_("Claim for me"), permissions=["change"])
    def claim(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        chosen = list(queryset)
        claimed = queue.claim(chosen, person(request))
        self._say(request, claimed)
        stand = GapTopic.objects.filter(pk__in=[topic.pk for topic in chosen])
        for topic in stand.exclude(assignee=person(request).pk).select_related("assignee"):
            said = gettext("“%(name)s” stays as it is: %(who)s works on it.")
            who = topic.assignee.get_username() if topic.assignee else gettext("somebody")
            self.message_user(request, said % {"name": topic.name, "who": who}, messages.WARNING)

    @admin.action(description=_("Assign to the person"), permissions=["change"])
    def assign(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        chosen = request.POST.get("person", "")
        to = queue.workers().filter(pk=int(chosen)).first() if is_key(chosen) else None
        if to is None:
            said = gettext("Choose to whom. Nothing was changed.")
            self.message_user(request, said, messages.WARNING)
            return
        self._say(request, queue.assign(queryset, person(request), to))

    @admin.action(description=_("Release"), permissions=["change"])
    def release(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        changed = queue.change(
            queryset, person(request), status=GapTopic.Status.OPEN, assignee_id=None
        )
        self._say(request, changed)

    @admin.action(description=_("Reopen"), permissions=["change"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._say(request, queue.reopen(queryset, person(request)))

    @admin.action(description=_("Mark as published"), permissions=["change"])
    def mark_published(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        published = GapTopic.Status.PUBLISHED
        self._say(request, queue.change(queryset, person(request), status=published))

    @admin.action(description=_("Merge into the one with the most questions"),
                  permissions=["change"])  # fmt: skip
    def merge(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        into = queryset.order_by("-questions_count", "pk").first()
        if into is None:
            return
        others = list(queryset.exclude(pk=into.pk))
        if not others:
            said = gettext("Choose two topics or more. Nothing was changed.")
            self.message_user(request, said, messages.WARNING)
            return
        self._say(request, queue.merge(others, into, person(request)))
        if any(topic.kind != into.kind for topic in others):
            said = gettext("Only topics of one kind are merged: the others stay as they are.")
            self.message_user(request, said, messages.WARNING)

    @admin.action(description=_("Dismiss: out of scope"), permissions=["change"])
    def dismiss_out_of_scope(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._dismiss(request, queryset, GapTopic.Reason.OUT_OF_SCOPE)

    @admin.action(description=_("Dismiss: missing in the product"), permissions=["change"])
    def dismiss_product_gap(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._dismiss(request, queryset, GapTopic.Reason.PRODUCT_GAP)

    @admin.action(description=_("Dismiss: duplicate"), permissions=["change"])
    def dismiss_duplicate(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._dismiss(request, queryset, GapTopic.Reason.DUPLICATE)

    @admin.action(description=_("Dismiss: answered elsewhere"), permissions=["change"])
    def dismiss_answered_elsewhere(
        self, request: HttpRequest, queryset: QuerySet[GapTopic]
    ) -> None:
        self._dismiss(request, queryset, GapTopic.Reason.ANSWERED_ELSEWHERE)

    def _dismiss(self, request: HttpRequest, topics: QuerySet[GapTopic], reason: str) -> None:
        self._say(request, queue.dismiss(topics, person(request), reason))

    def _say(self, request: HttpRequest, changed: list[GapTopic]) -> None:
        for topic in changed:
            self.log_change(request, topic, gettext("Changed in the queue."))
        count = len(changed)
        said = ngettext("%d topic changed.", "%d topics changed.", count) % count
        self.message_user(request, said, messages.SUCCESS if count else messages.WARNING)
