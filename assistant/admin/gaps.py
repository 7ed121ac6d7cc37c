"""The writers' queue of documentation gaps."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from assistant import gaps
from assistant.admin.readonly import ReadOnlyAdmin
from assistant.models import GapQuestion, GapRun, GapTopic

SAMPLES = 3


class QuestionInline(admin.TabularInline[GapQuestion, GapTopic]):
    model = GapQuestion
    verbose_name_plural = _("questions")
    fields = ("text", "grounding", "asked_at", "evidence")
    readonly_fields = ("text", "grounding", "asked_at", "evidence")
    extra = 0
    can_delete = False
    max_num = 0

    @admin.display(description=_("answer or search"))
    def evidence(self, question: GapQuestion) -> str:
        if question.search_id is not None:
            url = reverse("admin:articles_searchquery_change", args=[question.search_id])
        elif question.answer_id is not None:
            url = reverse("admin:assistant_answer_change", args=[question.answer_id])
        else:
            return gettext("erased")
        return format_html_join("", '<a href="{}">{}</a>', [(url, gettext("Open"))])


@admin.register(GapTopic)
class GapTopicAdmin(admin.ModelAdmin[GapTopic]):
    change_list_template = "admin/assistant/gaptopic/change_list.html"
    list_display = ["name", "questions_count", "samples", "status", "assignee", "last_seen"]
    list_filter = ["status", "kind", "language", "assignee", "last_seen"]
    list_select_related = ["assignee"]
    search_fields = ["name", "questions__text"]
    raw_id_fields = ["assignee"]
    fields = ["name", "kind", "status", "assignee", "questions_count", "first_seen", "last_seen"]
    readonly_fields = ["kind", "questions_count", "first_seen", "last_seen"]
    inlines = [QuestionInline]
    actions = ["claim", "mark_done", "dismiss", "reopen"]
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[GapTopic]:
        newest = GapQuestion.objects.exclude(text="").order_by("-asked_at")[:SAMPLES]
        return (
            super()
            .get_queryset(request)
            .filter(merged_into=None)
            .prefetch_related(Prefetch("questions", queryset=newest, to_attr="newest"))
        )

    @admin.display(description=_("asked as"))
    def samples(self, topic: GapTopic) -> str:
        questions: list[GapQuestion] = getattr(topic, "newest", [])
        texts = dict.fromkeys(question.text for question in questions)
        return format_html_join("", "<div>{}</div>", ((text[:120],) for text in texts))

    @admin.action(description=_("Claim for me"), permissions=["change"])
    def claim(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._move(request, queryset, GapTopic.Status.CLAIMED, gettext("Claimed."))
        queryset.update(assignee=request.user.pk)

    @admin.action(description=_("Mark as done"), permissions=["change"])
    def mark_done(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._move(request, queryset, GapTopic.Status.DONE, gettext("Marked as done."))

    @admin.action(description=_("Dismiss"), permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._move(request, queryset, GapTopic.Status.DISMISSED, gettext("Dismissed."))

    @admin.action(description=_("Reopen"), permissions=["change"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[GapTopic]) -> None:
        self._move(request, queryset, GapTopic.Status.OPEN, gettext("Reopened."))

    def _move(
        self,
        request: HttpRequest,
        queryset: QuerySet[GapTopic],
        status: GapTopic.Status,
        message: str,
    ) -> None:
        topics = list(queryset)
        queryset.update(status=status, held=True)
        for topic in topics:
            self.log_change(request, topic, message)
        count = len(topics)
        self.message_user(
            request,
            ngettext("%d topic changed.", "%d topics changed.", count) % count,
            messages.SUCCESS,
        )

    def get_urls(self) -> list[URLPattern]:
        update = self.admin_site.admin_view(require_POST(self.update_view))
        return [
            path("update/", update, name="assistant_gaptopic_update"),
            *super().get_urls(),
        ]

    def update_view(self, request: HttpRequest) -> HttpResponse:
        """Runs the report now, over what came since its last run."""
        if not self.has_change_permission(request):
            return TemplateResponse(request, "403.html", status=403)
        run = gaps.update_report()
        if run is None:
            self.message_user(
                request, gettext("The report is being updated already."), messages.WARNING
            )
        else:
            count = run.questions_added
            text = ngettext(
                "%d new question in the report.", "%d new questions in the report.", count
            )
            self.message_user(request, text % count, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:assistant_gaptopic_changelist"))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        last = GapRun.objects.first()
        return super().changelist_view(request, {**(extra_context or {}), "last_run": last})

    class Media:
        css = {"all": ["css/admin-extra.css"]}


@admin.register(GapRun)
class GapRunAdmin(ReadOnlyAdmin):
    list_display = ["period_end", "period_start", "questions_added", "finished_at"]
