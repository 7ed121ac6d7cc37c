"""The list of articles and the form that writes one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.db.models import Field
from django.forms.widgets import Script
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles import publishing
from articles.admin import rescuing
from articles.admin.actions import ArticleActions
from articles.admin.editor import EditorPages, MarkdownEditor
from articles.admin.filters import AttentionFilter, PublicationFilter
from articles.admin.links import LinkPages
from articles.admin.pages import person
from articles.admin.preview import PreviewPages
from articles.admin.quality import QualityPages
from articles.admin.retrieval import RetrievalPages
from articles.admin.revisions import RevisionPages
from articles.admin.undoing import UndoPages
from articles.models import Article, ArticleRevision
from articles.writing import conflicts, links, undo
from articles.writing.forms import ArticleForm
from helpcenter.moments import ago

PAGES = [
    PreviewPages,
    RevisionPages,
    EditorPages,
    LinkPages,
    QualityPages,
    UndoPages,
    RetrievalPages,
]
MOST_WARNINGS = 5
"""Broken links that are named after saving; the article's links page has all of them."""
MOST_BROKEN = 20
"""Links that are named before what they lead to is deleted."""
AT_ONCE = _("What you save here takes effect at once, also for a published article.")


@admin.register(Article)
class ArticleAdmin(ArticleActions):
    class Media:
        js = [Script("js/admin/editor.js", type="module")]

    form = ArticleForm
    change_form_template = "admin/articles/article/change_form.html"
    list_display = ["title", "state", "visibility", "category", "language", "changed"]
    list_filter = [
        "status",
        PublicationFilter,
        AttentionFilter,
        "visibility",
        "category",
        "language",
    ]
    list_select_related = ["category", "live_revision"]
    search_fields = ["title", "summary", "body", "slug"]
    autocomplete_fields = ["category"]
    raw_id_fields = ["author"]
    date_hierarchy = "published_at"
    list_per_page = 50
    fieldsets = [
        (None, {"fields": ["title", "summary", "body", "language"]}),
        (
            _("Where it stands"),
            {"fields": ["category", "position", "slug"], "description": AT_ONCE},
        ),
        (_("When"), {"fields": ["publish_at", "review_on"]}),
        (_("Who reads it"), {"fields": ["visibility", "author"], "description": AT_ONCE}),
    ]

    @admin.display(description=_("state"), ordering="status")
    def state(self, article: Article) -> str:
        notes = []
        if article.is_live and article.has_unpublished_changes:
            notes.append(gettext("with unpublished changes"))
        if article.publish_at:
            when = date_format(timezone.localtime(article.publish_at), "SHORT_DATETIME_FORMAT")
            notes.append(gettext("publishes %(when)s") % {"when": when})
        label = article.get_status_display()
        return format_html("{} <em>{}</em>", label, ", ".join(notes)) if notes else label

    @admin.display(description=_("changed"), ordering="updated_at")
    def changed(self, article: Article) -> str:
        return ago(article.updated_at)

    def get_urls(self) -> list[URLPattern]:
        added = [url for pages in PAGES for url in pages(self).urls()]
        return [*added, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With what this person can take back, if they did something to several articles."""
        may_change = self.has_change_permission(request)
        undoable = undo.latest(person(request).pk) if may_change else None
        return super().changelist_view(request, {"undoable": undoable, **(extra_context or {})})

    def view_on_site(self, obj: Article) -> str | None:
        """Only what is published has a page to look at."""
        return obj.get_absolute_url() if obj.is_live else None

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        typed = getattr(request, "typed_for_deleted", {})
        return {"author": request.user.pk, **super().get_changeform_initial_data(request), **typed}

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> HttpResponse:
        """What was typed for an article that somebody deleted meanwhile is offered as a new one."""
        is_form = getattr(request.resolver_match, "url_name", "") == "articles_article_change"
        if is_form and request.method == "POST" and self.has_change_permission(request):
            return rescuing.typed_for_deleted(self, request, object_id)
        super()._get_obj_does_not_exist_redirect(request, opts, object_id)  # type: ignore[misc]
        return HttpResponseRedirect(reverse("admin:articles_article_changelist"))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes, in a writer's words: not the index and its passages, but the revisions, and
        the links of other articles that break."""
        *_all, lacking, protected = super().get_deleted_objects(objs, request)
        articles = list(objs)
        revisions = ArticleRevision.objects.filter(article__in=articles).count()
        counts = {
            Article._meta.verbose_name_plural: len(articles),
            ArticleRevision._meta.verbose_name_plural: revisions,
        }
        titles = [format_html("“{}”", article.title) for article in articles]
        broken = list(links.leading_to(*articles)[: MOST_BROKEN + 1])
        lines = [
            format_html(
                gettext("A link in “{}” breaks: {}"),
                link.article.live_revision.title if link.article.live_revision else link.article,
                link.address,
            )
            for link in broken[:MOST_BROKEN]
        ]
        more = [gettext("More links break.")] if len(broken) > MOST_BROKEN else []
        return [*titles, *lines, *more], counts, lacking, protected

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "body":
            attrs = {"rows": 28, "cols": 100, "spellcheck": "true"}
            return db_field.formfield(widget=MarkdownEditor(attrs=attrs))
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Article | None = None) -> Any:
        """The hidden field that notices conflicts goes with the form, not with a page to read."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [*fieldsets, (None, {"fields": ["base"], "classes": ["hidden"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Article | None = None) -> list[str]:
        """When it goes live is decided by who may publish."""
        return [] if self.has_publish_permission(request) else ["publish_at"]

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Article | None:
        """Locked while a form is saved, so that of two at once the later one sees the other."""
        found = super().get_object(request, object_id, from_field)
        if found is None or request.method != "POST":
            return found
        return (
            self.get_queryset(request).select_for_update(of=("self",)).filter(pk=found.pk).first()
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Above the form: where the article stands, or the two versions of a conflict."""
        form: ArticleForm = context["adminform"].form
        saved = form.conflict_with
        if saved is not None:
            shown = [name for name in ArticleForm.Meta.fields if name in form.cleaned_data]
            context["conflict"] = conflicts.between(saved, form.instance, shown)
            context["conflict_entry"] = _last_entry(saved)
        context["has_publish_permission"] = self.has_publish_permission(request)
        original = context.get("original")
        if original and original.is_live and "slug" in form.fields:
            slug = form.fields["slug"]
            slug.help_text = format_html("{} {}", slug.help_text, _links_here(original))
        context["is_ahead"] = original and original.is_live and original.has_unpublished_changes
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: Article, form: ArticleForm, change: bool
    ) -> None:
        if "publish_at" in form.changed_data:
            obj.scheduled_by = person(request) if obj.publish_at else None
        if change and "slug" in form.changed_data:
            publishing.change_slug(obj, obj.slug)
        super().save_model(request, obj, form, change)
        if "_publish" in request.POST:
            self.publish(request, obj)
        elif change and obj.is_live:
            publishing.refresh(obj)
        self._warn_of_broken_links(request, obj)

    def _warn_of_broken_links(self, request: HttpRequest, article: Article) -> None:
        """Saving is not refused: the other end of a link may be written next."""
        for link in links.problems(article)[:MOST_WARNINGS]:
            message = gettext("The link to “%(address)s” leads nowhere: %(problem)s.")
            said = message % {"address": link.address, "problem": link.problem}
            self.message_user(request, said, messages.WARNING)

    def response_add(
        self, request: HttpRequest, obj: Article, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._published(request, obj) or super().response_add(
            request, obj, post_url_continue
        )

    def response_change(self, request: HttpRequest, obj: Article) -> HttpResponse:
        return self._published(request, obj) or super().response_change(request, obj)

    def _published(self, request: HttpRequest, article: Article) -> HttpResponse | None:
        """Stays on the article that was just published, with a link to it."""
        if "_publish" not in request.POST:
            return None
        self.message_user(
            request,
            format_html(
                gettext("“{}” is published. <a href='{}'>Open it on the site</a>."),
                article.title,
                article.get_absolute_url(),
            ),
            messages.SUCCESS,
        )
        return HttpResponseRedirect(reverse("admin:articles_article_change", args=[article.pk]))


def _links_here(article: Article) -> SafeString:
    """How many articles lead to this one, and the way to their list."""
    count = links.leading_to(article).values("article").distinct().count()
    said = ngettext("%d published article links here.", "%d published articles link here.", count)
    return format_html(
        "<a href='{}'>{}</a>",
        reverse("admin:articles_article_links", args=[article.pk]),
        said % count,
    )


def _last_entry(article: Article) -> LogEntry | None:
    """Who changed the article last in the admin."""
    entries = LogEntry.objects.filter(
        content_type=get_content_type_for_model(article), object_id=str(article.pk)
    )
    return entries.select_related("user").order_by("-action_time").first()
