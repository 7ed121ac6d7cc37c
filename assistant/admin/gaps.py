"""The writers' queue of documentation gaps: its list and the page of a topic.

The questions shown are masked texts. The answers behind them are conversations: they are linked
for those who may view answers.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import PermissionDenied
from django.db.models import Field, Prefetch, QuerySet
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from articles.admin.pages import person
from assistant.admin.gap_actions import QueueActions
from assistant.admin.gap_filters import AssigneeFilter, OpenFilter
from assistant.admin.readonly import ReadOnlyAdmin
from assistant.admin.topic import TopicForm, TopicPages
from assistant.gaps import colliding, listing, progress, queue
from assistant.models import GapQuestion, GapRun, GapTopic
from assistant.tasks import update_gap_report
from helpcenter.moments import ago

SAMPLES = 3

LIST = "admin:assistant_gaptopic_changelist"


@admin.register(GapTopic)
class GapTopicAdmin(QueueActions):
    form = TopicForm
    change_list_template = "admin/assistant/gaptopic/change_list.html"
    change_form_template = "admin/assistant/gaptopic/change_form.html"
    list_display = [
        "name",
        "samples",
        "impact_shown",
        "asked",
        "trend",
        "standing",
        "last_asked",
    ]
    list_filter = [OpenFilter, "language", "dismissed_as", AssigneeFilter, "due_on"]
    list_select_related = ["assignee"]
    search_fields = ["name", "questions__text"]
    fields = ["assignee", "due_on", "article", "comment"]
    autocomplete_fields = ["article"]
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: GapTopic | None = None) -> bool:
        """A topic keeps its id for ever: it is dismissed, or becomes part of another."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[GapTopic]:
        newest = GapQuestion.objects.exclude(text="").order_by("-asked_at")[:SAMPLES]
        return (
            super()
            .get_queryset(request)
            .filter(merged_into=None)
            .defer("centroid")
            .prefetch_related(
                Prefetch("questions", newest.defer("embedding"), to_attr="newest")
            )
        )  # fmt: skip

    @admin.display(description=_("impact"), ordering="impact")
    def impact_shown(self, topic: GapTopic) -> str:
        return f"{topic.impact:.1f}"

    @admin.display(description=_("questions"), ordering="questions_count")
    def asked(self, topic: GapTopic) -> str:
        people = ngettext("from %d person", "from %d people", topic.askers_count)
        return format_html(
            '{} <span class="quiet">{}</span>', topic.questions_count, people % topic.askers_count
        )

    @admin.display(description=_("status"), ordering="status")
    def standing(self, topic: GapTopic) -> str:
        """Where it stands, who works on it, and until when."""
        parts = [topic.get_status_display()]
        if topic.assignee:
            parts.append(topic.assignee.get_username())
        if topic.due_on:
            parts.append(gettext("due %s") % date_format(topic.due_on, "SHORT_DATE_FORMAT"))
        return ", ".join(parts)

    @admin.display(description=_("last asked"), ordering="last_seen")
    def last_asked(self, topic: GapTopic) -> str:
        return ago(topic.last_seen)

    @admin.display(description=_("last 7 days"), ordering="week_count")
    def trend(self, topic: GapTopic) -> str:
        """This week's questions, and whether that is more or less than the week before."""
        now, before = topic.week_count, topic.week_before_count
        arrow = "↗" if now > before else "↘" if now < before else "→"
        said = gettext("%(now)d, the 7 days before %(before)d") % {"now": now, "before": before}
        return format_html('<span title="{}">{} {}</span>', said, now, arrow)

    @admin.display(description=_("asked as"))
    def samples(self, topic: GapTopic) -> str:
        questions: list[GapQuestion] = getattr(topic, "newest", [])
        texts = dict.fromkeys(question.text for question in questions)
        return format_html_join("", '<div dir="auto">{}</div>', ((text[:120],) for text in texts))

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """A colleague and an article are chosen here, and made elsewhere."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        return field

    def save_model(self, request: HttpRequest, obj: GapTopic, form: Any, change: bool) -> None:
        """Through the queue, which keeps the history."""
        if form.kept:
            said = gettext("Both are kept.")
            self.message_user(request, f"{colliding.told(obj)} {said}", messages.INFO)
        is_handed_over = "assignee" in form.changed_data and "assignee" not in form.kept
        queue.change(
            [obj],
            person(request),
            status=queue.status_with(obj, obj.assignee_id) if is_handed_over else obj.status,
            assignee_id=obj.assignee_id,
            due_on=obj.due_on,
            article_id=obj.article_id,
        )
        if form.cleaned_data.get("comment"):
            queue.comment(obj, person(request), form.cleaned_data["comment"])

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("update/", self.update_view, "update"),
            ("undo/", self.undo_view, "undo"),
        ]
        export = self.admin_site.admin_view(self.export_view)
        return [
            path("export/csv/", export, name="assistant_gaptopic_export"),
            *(
                path(route, self.admin_site.admin_view(require_POST(view)),
                     name=f"assistant_gaptopic_{name}")
                for route, view, name in pages
            ),
            *TopicPages(self).urls(),
            *super().get_urls(),
        ]  # fmt: skip

    def update_view(self, request: HttpRequest) -> HttpResponse:
        """Has a worker run the report now. The list then says how far it is."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        progress.say(0)  # first: the worker may be done before this goes on
        try:
            update_gap_report.delay()
        except OperationalError:
            progress.over()
            said = gettext("The report could not be started: the queue of tasks is down.")
            self.message_user(request, said, messages.ERROR)
        return HttpResponseRedirect(reverse(LIST))

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """What the list shows now, with its filters and its search, as a file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            topics = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(f"{reverse(LIST)}?e=1")
        name = f"documentation-gaps-{timezone.localdate().isoformat()}.csv"
        # In one piece: it has a line for each topic, not for each question.
        return HttpResponse(
            "".join(listing.as_csv(topics)),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "no-store",
            },
        )

    def undo_view(self, request: HttpRequest) -> HttpResponse:
        """Takes back what this person did last in the queue."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        done = queue.undo(person(request))
        for topic in done.restored:
            self.log_change(request, topic, gettext("Undid an act in the queue."))
        count = len(done.restored)
        said = ngettext("%d topic is back.", "%d topics are back.", count) % count
        if not count:
            said = gettext("There is nothing to undo any more.")
        self.message_user(request, said, messages.SUCCESS if count else messages.WARNING)
        for topic in done.left:
            left = gettext("“%(name)s” was changed since and is left as it is.")
            self.message_user(request, left % {"name": topic.name}, messages.WARNING)
        return HttpResponseRedirect(reverse(LIST))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        taken_in = progress.current()
        context = {
            "taken_in": taken_in,
            "last_run": GapRun.objects.first(),
            "undoable": queue.latest(person(request)),
            "kinds": GapTopic.Kind.choices,
            "kind": request.GET.get("kind__exact", ""),
            **(extra_context or {}),
        }
        response = super().changelist_view(request, context)
        if taken_in is not None:
            response["Refresh"] = "2"
        return response

    def _say_it_moved(self, request: HttpRequest, topic: GapTopic) -> None:
        """To who still had the page of a topic open, and typed into it."""
        if request.method != "POST":
            return
        said = [gettext("The topic became part of this one meanwhile. Nothing was saved.")]
        comment = request.POST.get("comment", "").strip()
        if comment:
            said.append(gettext("Your comment was: %s") % comment)
        self.message_user(request, " ".join(said), messages.WARNING)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> GapTopic | None:
        """Locked while a form is saved, so that of two at once the later one sees the other."""
        found = super().get_object(request, object_id, from_field)
        if found is None or request.method != "POST":
            return found
        return GapTopic.objects.select_for_update(of=("self",)).filter(pk=found.pk).first()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A topic that became part of another leads there."""
        if object_id.isdecimal() and len(object_id) < 18:
            topic = get_object_or_404(GapTopic, pk=object_id)
            if topic.merged_into_id:
                self._say_it_moved(request, topic)
                url = reverse("admin:assistant_gaptopic_change", args=[topic.merged_into_id])
                return HttpResponseRedirect(url)
            if self.has_view_permission(request, topic):
                extra_context = {**TopicPages(self).panel(request, topic), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra_context)


@admin.register(GapRun)
class GapRunAdmin(ReadOnlyAdmin):
    list_display = ["period_end", "period_start", "questions_added", "finished_at"]
