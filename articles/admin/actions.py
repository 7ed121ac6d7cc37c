"""What can be done to several articles at once. Each article's change is logged by itself."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles import publishing
from articles.models import Article, Status


class ArticleActions(admin.ModelAdmin[Article]):
    """The bulk actions of the list."""

    actions = ["publish_selected", "unpublish_selected", "archive_selected"]

    @admin.action(description=_("Publish selected articles"), permissions=["change"])
    def publish_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        for article in queryset:
            self.publish(request, article)
        self._report(request, len(queryset), "%d article published.", "%d articles published.")

    @admin.action(description=_("Unpublish selected articles"), permissions=["change"])
    def unpublish_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        self._withdraw(request, queryset, Status.DRAFT, gettext("Unpublished."))
        self._report(request, len(queryset), "%d article unpublished.", "%d articles unpublished.")

    @admin.action(description=_("Archive selected articles"), permissions=["change"])
    def archive_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        self._withdraw(request, queryset, Status.ARCHIVED, gettext("Archived."))
        self._report(request, len(queryset), "%d article archived.", "%d articles archived.")

    def publish(self, request: HttpRequest, article: Article) -> None:
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
