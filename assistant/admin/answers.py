"""The audit's list of answers and the page of one with its ledger, read-only.

Everything a page shows is read in a fixed number of queries, however many
documents and tool calls there are.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.forms.widgets import Script
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.access import Reader
from assistant.admin.access_log import RecordedAdmin
from assistant.admin.audit import audit
from assistant.admin.exporting import ExportPages
from assistant.admin.figures import FigurePages
from assistant.admin.filters import (
    AssigneeFilter,
    CategoryFilter,
    CostFilter,
    DurationFilter,
    EndedFilter,
    FlagsFilter,
    LanguageFilter,
    ModelFilter,
    RatingFilter,
    SourcesFilter,
    SupportFilter,
    VerdictFilter,
)
from assistant.admin.reviews import ReviewPages
from assistant.admin.typed_filters import (
    ArticleFilter,
    AskedFilter,
    CitedFilter,
    UnusedFilter,
)
from assistant.admin.usage import UsagePages
from assistant.answers import with_ledger
from assistant.conditions import SLOW, has_dropped, took, weakly_supported
from assistant.grounding import GAPS
from assistant.models import Answer, AnswerDocument
from assistant.reference_numbers import ids_meant, ids_of, reference_number
from helpcenter.moments import ago


@admin.register(Answer)
class AnswerAdmin(RecordedAdmin):
    fields = ()
    change_form_template = "admin/assistant/answer/change_form.html"
    list_display = [
        "asked",
        "verdict",
        "sources",
        "rating",
        "judged",
        "seconds",
        "cost_shown",
        "when",
    ]
    list_display_links = ["asked"]
    list_filter = [
        AskedFilter,
        "grounding",
        RatingFilter,
        VerdictFilter,
        AssigneeFilter,
        SourcesFilter,
        SupportFilter,
        FlagsFilter,
        "status",
        DurationFilter,
        CostFilter,
        ArticleFilter,
        UnusedFilter,
        CitedFilter,
        CategoryFilter,
        LanguageFilter,
        ModelFilter,
        "origin",
        EndedFilter,
    ]
    search_fields = ["question"]
    search_help_text = _("Words of the question, a reference number, or an id")
    ordering = ["-created_at"]
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        consulted = AnswerDocument.objects.filter(consulted=True).only("answer_id", "title")
        answers: QuerySet[Answer] = super().get_queryset(request)
        return (
            answers.defer("text", "model_text")
            .select_related("feedback", "review", "escalation")
            .annotate(is_weak=weakly_supported(), has_dropped=has_dropped())
            .prefetch_related(Prefetch("documents", queryset=consulted, to_attr="consulted"))
        )

    @admin.display(description=_("question"), ordering="question")
    def asked(self, answer: Answer) -> str:
        return answer.question if len(answer.question) <= 90 else f"{answer.question[:89]}…"

    @admin.display(description=_("grounding"), ordering="grounding")
    def verdict(self, answer: Answer) -> str:
        """The verdict, then what else is worth a look: flags, and an end that is no usual one."""
        raised = [label for label, is_raised in _flags(answer) if is_raised]
        if answer.status != Answer.Status.COMPLETED and not answer.error_code:
            raised.insert(0, answer.get_status_display())
        shown = dict.fromkeys(raised, "flag flag-gap")
        if answer.grounding:
            is_bad = answer.grounding in GAPS or answer.status == Answer.Status.FAILED
            label = answer.get_grounding_display()
            shown = {label: "flag flag-gap" if is_bad else "flag", **shown}
        flags = ((css, label) for label, css in shown.items())
        return format_html_join(" ", '<span class="{}">{}</span>', flags) or "–"

    @admin.display(description=_("sources"))
    def sources(self, answer: Answer) -> str:
        documents: list[AnswerDocument] = getattr(answer, "consulted", [])
        return ", ".join(document.title for document in documents) or "–"

    @admin.display(description=_("rating"), ordering="feedback__rating")
    def rating(self, answer: Answer) -> str:
        feedback = getattr(answer, "feedback", None)
        return feedback.get_rating_display() if feedback else "–"

    @admin.display(description=_("verdict of staff"), ordering="review__verdict")
    def judged(self, answer: Answer) -> str:
        review = getattr(answer, "review", None)
        return review.get_verdict_display() if review and review.verdict else "–"

    @admin.display(description=_("seconds"), ordering=took)
    def seconds(self, answer: Answer) -> str:
        if answer.finished_at is None:
            return "–"
        return f"{(answer.finished_at - answer.created_at).total_seconds():.1f}"

    @admin.display(description=_("cost"), ordering="cost")
    def cost_shown(self, answer: Answer) -> str:
        return "–" if answer.cost is None else f"{answer.cost:.4f}"

    @admin.display(description=_("asked"), ordering="created_at")
    def when(self, answer: Answer) -> str:
        return ago(answer.created_at)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Answer], search_term: str
    ) -> tuple[QuerySet[Answer], bool]:
        """A reference number or an id finds its answer; all else is looked for in questions."""
        ids = ids_meant(search_term)
        if ids is not None:
            meant = queryset.filter(pk__range=(ids.first, ids.last))
            if meant.exists():
                return meant, False
        return super().get_search_results(request, queryset, search_term)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.by_reference)
        return [
            path("reference/<str:number>/", view, name="assistant_answer_by_reference"),
            *ReviewPages(self).urls(),
            *ExportPages(self).urls(),
            *FigurePages(self).urls(),
            *UsagePages(self).urls(),
            *super().get_urls(),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        may_export = ExportPages(self).may_export(request)
        context = {**(extra_context or {}), "may_export": may_export}
        return super().changelist_view(request, context)

    def by_reference(self, request: HttpRequest, number: str) -> HttpResponse:
        """The deep link of support tickets: to the answer, or to a list where two share it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        ids = ids_of(number)
        if ids is None:
            raise Http404
        found = Answer.objects.filter(pk__range=(ids.first, ids.last)).values_list("pk", flat=True)
        answers = list(found[:2])
        if not answers:
            raise Http404
        if len(answers) == 1:
            return HttpResponseRedirect(reverse("admin:assistant_answer_change", args=answers))
        address = reverse("admin:assistant_answer_changelist")
        return HttpResponseRedirect(f"{address}?q={reference_number(answers[0])}")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        reader = Reader.of(request.user)
        found = self.get_object(request, object_id) if object_id else None
        answer = with_ledger(Answer.objects.filter(pk=found.pk)).get() if found else None
        context = {**(extra_context or {})}
        if answer:
            context |= {**audit(answer, reader), **ReviewPages(self).panel(request, answer)}
        return super().changeform_view(request, object_id, form_url, context)

    class Media:
        js = [Script("js/admin/review.js", type="module")]


def _flags(answer: Answer) -> list[tuple[str, bool]]:
    """The flags of a row of the list, and which are raised."""
    duration = (answer.finished_at or answer.created_at) - answer.created_at
    return [
        (answer.error_code, bool(answer.error_code)),
        (gettext("handed to support"), getattr(answer, "escalation", None) is not None),
        (gettext("weak support"), getattr(answer, "is_weak", False)),
        (gettext("dropped"), getattr(answer, "has_dropped", False)),
        (gettext("cut short"), bool(answer.truncated_by)),
        (gettext("search fell back"), bool(answer.search_fallback)),
        (gettext("slow"), duration >= SLOW),
    ]
