"""What the writers' queue can be narrowed by."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import is_key, person
from assistant.models import GapTopic


class OpenFilter(admin.SimpleListFilter):
    """What is left to do is what one comes for; everything else is one click away."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("all", _("All")), *GapTopic.Status.choices]

    def choices(self, changelist: Any) -> Any:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": _("To do"),
        }
        yield from list(super().choices(changelist))[1:]

    def queryset(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> QuerySet[GapTopic]:
        if self.value() is None:
            done = [GapTopic.Status.VERIFIED, GapTopic.Status.DISMISSED]
            return queryset.exclude(status__in=done)
        return queryset if self.value() == "all" else queryset.filter(status=self.value())


class AssigneeFilter(admin.SimpleListFilter):
    """Colleagues only: the accounts of customers are nobody's business here."""

    title = _("assignee")
    parameter_name = "assignee"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        colleagues = User.objects.filter(is_staff=True).exclude(pk=person(request).pk)
        named = [(str(user.pk), user.get_username()) for user in colleagues.order_by("username")]
        return [("me", _("me")), ("nobody", _("nobody")), *named]

    def queryset(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> QuerySet[GapTopic]:
        value = self.value()
        if value == "me":
            return queryset.filter(assignee=person(request).pk)
        if value == "nobody":
            return queryset.filter(assignee=None)
        if value and is_key(value):
            return queryset.filter(assignee=int(value))
        return queryset
