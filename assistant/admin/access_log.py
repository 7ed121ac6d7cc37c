"""Looking at conversations in the admin leaves a record, and the records themselves."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import person
from assistant.admin.paging import KeyPaginator
from assistant.admin.readonly import ReadOnlyAdmin
from assistant.audit import access_log
from assistant.models import AccessRecord, Answer, Conversation


class RecordedAdmin(ReadOnlyAdmin):
    """Whatever page shows one row, or a list of them, is recorded: an opened row once for each
    request, through `get_object`, which every page of a row goes through."""

    def get_paginator(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        per_page: int,
        *args: Any,
        **kwargs: Any,
    ) -> Paginator[Any]:
        if queryset.model is not self.model:  # a row's history
            return super().get_paginator(request, queryset, per_page, *args, **kwargs)
        return KeyPaginator(queryset, per_page, *args, rows=self.get_queryset(request), **kwargs)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Model | None:
        found = super().get_object(request, object_id, from_field)
        is_shown = found is not None and self.has_view_permission(request, found)
        if is_shown and isinstance(found, Answer | Conversation) and not self._is_recorded(request):
            access_log.opened(person(request), found, f"{self.opts.model_name}.page")
        return found

    def _is_recorded(self, request: HttpRequest) -> bool:
        """Whether this request was recorded already. From now on it is."""
        was, request.is_recorded = getattr(request, "is_recorded", False), True  # type: ignore[attr-defined]
        return was

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response: Any = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", None) or {}
        if "cl" in shown:
            count = len(shown["cl"].result_list)
            access_log.listed(person(request), count, f"{self.opts.model_name}.list")
        elif "deletable_objects" in shown:
            count = shown["queryset"].count()
            access_log.listed(person(request), count, f"{self.opts.model_name}.delete")
        return response  # type: ignore[no-any-return]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        match = request.resolver_match
        if match and match.url_name == "autocomplete" and not self._is_recorded(request):
            access_log.listed(person(request), 0, f"{self.opts.model_name}.choices")
        return super().get_search_results(request, queryset, search_term)


PAGES = {
    "answer.page": _("an answer"),
    "answer.again": _("an answer beside what was asked again"),
    "answer.list": _("the list of answers"),
    "answer.delete": _("answers about to be deleted"),
    "answer.choices": _("answers to choose from"),
    "answers.csv": _("answers as CSV"),
    "answers.jsonl": _("answers as JSON Lines"),
    "article.answers": _("answers built on an article"),
    "conversation.page": _("a conversation"),
    "conversation.list": _("the list of conversations"),
    "conversation.delete": _("conversations about to be deleted"),
    "conversation.choices": _("conversations to choose from"),
}
"""What a record's `detail` says to people; one that has no words here is shown as it is."""


@admin.register(AccessRecord)
class AccessRecordAdmin(ReadOnlyAdmin):
    list_display = ["at", "username", "action", "page", "count", "seen"]
    list_filter = ["action", "at"]
    search_fields = ["username", "=conversation_id", "=answer_id"]
    fields = ["at", "username", "user_id", "action", "page", "count", "seen"]
    readonly_fields = ["page", "seen"]
    show_full_result_count = False
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("page"), ordering="detail")
    def page(self, record: AccessRecord) -> str:
        return str(PAGES.get(record.detail, record.detail)) or "–"

    @admin.display(description=_("answer or conversation"))
    def seen(self, record: AccessRecord) -> str:
        """Its id, as a link: where it leads to was possibly erased since."""
        name, pk = ("answer", record.answer_id)
        if pk is None:
            name, pk = "conversation", record.conversation_id
        if pk is None:
            return "–"
        url = reverse(f"admin:assistant_{name}_change", args=[pk])
        return format_html('<a href="{}"><code>{}</code></a>', url, pk)
