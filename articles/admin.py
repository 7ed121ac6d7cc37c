"""The writers' side: articles with their revisions, and categories.

Saving keeps a working copy; "Save and publish" makes it live. Every step that
changes what visitors see is logged with who did it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles import publishing
from articles.diffs import diff_lines
from articles.forms import ArticleForm
from articles.models import Article, Category, Status
from articles.rendering import render_article


class PublicationFilter(admin.SimpleListFilter):
    """Published articles whose working copy says something else by now."""

    title = _("working copy")
    parameter_name = "changes"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        return [("pending", _("has unpublished changes"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Article]) -> QuerySet[Article]:
        if self.value() != "pending":
            return queryset
        live = "live_revision__"
        return queryset.filter(live_revision__isnull=False).exclude(
            **{f"{live}{name}": F(name) for name in ("title", "summary", "body", "language")}
        )


@admin.register(Article)
class ArticleAdmin(admin.ModelAdmin[Article]):
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
    actions = ["publish_selected", "unpublish_selected", "archive_selected"]
    fieldsets = [
        (None, {"fields": ["title", "summary", "body"]}),
        (_("Where it stands"), {"fields": ["category", "position", "slug", "language"]}),
        (_("Who reads it"), {"fields": ["visibility", "author"]}),
    ]

    @admin.display(description=_("state"), ordering="status")
    def state(self, article: Article) -> str:
        label = article.get_status_display()
        if article.status == Status.PUBLISHED and article.has_unpublished_changes:
            return format_html("{} <em>{}</em>", label, gettext("with unpublished changes"))
        return label

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path(
                "<int:article_id>/preview/",
                view(self.preview),
                name="articles_article_preview",
            ),
            path(
                "<int:article_id>/revisions/",
                view(self.revisions),
                name="articles_article_revisions",
            ),
            *super().get_urls(),
        ]

    def view_on_site(self, obj: Article) -> str | None:
        """Only what is published has a page to look at."""
        return obj.get_absolute_url() if obj.status == Status.PUBLISHED else None

    # Saving and publishing

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"author": request.user.pk, **super().get_changeform_initial_data(request)}

    def save_model(
        self, request: HttpRequest, obj: Article, form: ArticleForm, change: bool
    ) -> None:
        if change and "slug" in form.changed_data:
            publishing.change_slug(obj, obj.slug)
        super().save_model(request, obj, form, change)
        if "_publish" in request.POST:
            self._publish(request, obj)
        elif change and obj.status == Status.PUBLISHED:
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

    @admin.action(description=_("Publish selected articles"), permissions=["change"])
    def publish_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        for article in queryset:
            self._publish(request, article)
        self._report(request, len(queryset), "%d article published.", "%d articles published.")

    @admin.action(description=_("Unpublish selected articles"), permissions=["change"])
    def unpublish_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        self._withdraw(request, queryset, Status.DRAFT, gettext("Unpublished."))
        self._report(request, len(queryset), "%d article unpublished.", "%d articles unpublished.")

    @admin.action(description=_("Archive selected articles"), permissions=["change"])
    def archive_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        self._withdraw(request, queryset, Status.ARCHIVED, gettext("Archived."))
        self._report(request, len(queryset), "%d article archived.", "%d articles archived.")

    def _publish(self, request: HttpRequest, article: Article) -> None:
        publishing.publish(article, request.user if request.user.is_authenticated else None)
        self.log_change(request, article, gettext("Published."))

    def _withdraw(
        self, request: HttpRequest, articles: QuerySet[Article], status: Status, message: str
    ) -> None:
        for article in articles:
            publishing.withdraw(article, status)
            self.log_change(request, article, message)

    def _report(self, request: HttpRequest, count: int, one: str, many: str) -> None:
        self.message_user(request, ngettext(one, many, count) % count, messages.SUCCESS)

    # Preview and revisions

    def preview(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """The working copy as visitors would see it."""
        article = self._visible(request, article_id)
        return TemplateResponse(
            request,
            "admin/articles/article/preview.html",
            {
                **self.admin_site.each_context(request),
                "title": gettext("Preview"),
                "article": article,
                "rendered": render_article(article.body),
                "opts": self.opts,
            },
        )

    def revisions(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """Every published version, and what changed between two of them."""
        article = self._visible(request, article_id)
        revisions = list(article.revisions.select_related("author"))
        by_number = {str(revision.number): revision for revision in revisions}
        new = by_number.get(request.GET.get("new", ""), revisions[0] if revisions else None)
        older = [r for r in revisions if new is not None and r.number < new.number]
        old = by_number.get(request.GET.get("old", ""), older[0] if older else None)
        return TemplateResponse(
            request,
            "admin/articles/article/revisions.html",
            {
                **self.admin_site.each_context(request),
                "title": gettext("Revisions"),
                "article": article,
                "revisions": revisions,
                "new": new,
                "old": old,
                "diff": diff_lines(old.body if old else "", new.body) if new else [],
                "opts": self.opts,
            },
        )

    def _visible(self, request: HttpRequest, article_id: int) -> Article:
        article = get_object_or_404(
            self.get_queryset(request).select_related("live_revision"), pk=article_id
        )
        if not self.has_view_permission(request, article):
            raise PermissionDenied
        return article


@admin.register(Category)
class CategoryAdmin(admin.ModelAdmin[Category]):
    list_display = ["name", "parent", "position", "published_articles"]
    list_editable = ["position"]
    list_select_related = ["parent"]
    search_fields = ["name", "description"]
    autocomplete_fields = ["parent"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Category]:
        published = Count("articles", filter=Q(articles__status=Status.PUBLISHED))
        return super().get_queryset(request).annotate(published_articles=published)

    @admin.display(description=_("published articles"), ordering="published_articles")
    def published_articles(self, category: Category) -> int:
        return getattr(category, "published_articles", 0)
