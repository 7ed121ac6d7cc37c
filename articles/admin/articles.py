"""The list of articles and the form that writes one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles import conflicts, publishing
from articles.admin.actions import ArticleActions
from articles.admin.filters import PublicationFilter
from articles.admin.preview import PreviewPages
from articles.admin.revisions import RevisionPages
from articles.forms import ArticleForm
from articles.models import Article

PAGES = [PreviewPages, RevisionPages]
AT_ONCE = _("What you save here takes effect at once, also for a published article.")


@admin.register(Article)
class ArticleAdmin(ArticleActions):
    form = ArticleForm
    change_form_template = "admin/articles/article/change_form.html"
    list_display = ["title", "state", "visibility", "category", "language", "updated_at"]
    list_filter = ["status", PublicationFilter, "visibility", "category", "language"]
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
        (_("Who reads it"), {"fields": ["visibility", "author"], "description": AT_ONCE}),
    ]

    @admin.display(description=_("state"), ordering="status")
    def state(self, article: Article) -> str:
        label = article.get_status_display()
        if article.is_live and article.has_unpublished_changes:
            return format_html("{} <em>{}</em>", label, gettext("with unpublished changes"))
        return label

    def get_urls(self) -> list[URLPattern]:
        added = [url for pages in PAGES for url in pages(self).urls()]
        return [*added, *super().get_urls()]

    def view_on_site(self, obj: Article) -> str | None:
        """Only what is published has a page to look at."""
        return obj.get_absolute_url() if obj.is_live else None

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"author": request.user.pk, **super().get_changeform_initial_data(request)}

    def get_fieldsets(self, request: HttpRequest, obj: Article | None = None) -> Any:
        """The hidden field that notices conflicts goes with the form, not with a page to read."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [*fieldsets, (None, {"fields": ["base"], "classes": ["hidden"]})]

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
        original = context.get("original")
        context["is_ahead"] = original and original.is_live and original.has_unpublished_changes
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: Article, form: ArticleForm, change: bool
    ) -> None:
        if change and "slug" in form.changed_data:
            publishing.change_slug(obj, obj.slug)
        super().save_model(request, obj, form, change)
        if "_publish" in request.POST:
            self.publish(request, obj)
        elif change and obj.is_live:
            publishing.refresh(obj)

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


def _last_entry(article: Article) -> LogEntry | None:
    """Who changed the article last in the admin."""
    entries = LogEntry.objects.filter(
        content_type=get_content_type_for_model(article), object_id=str(article.pk)
    )
    return entries.select_related("user").order_by("-action_time").first()
