"""What can be done to several articles at once. Each article's change is logged by itself,
and the whole can be taken back for a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles import publishing
from articles.admin.pages import person
from articles.models import Article, Status
from articles.rendering import has_text
from articles.writing import links, undo

MOST_NAMED = 5
REVIEW_AGAIN = timedelta(days=182)


class ArticleActions(admin.ModelAdmin[Article]):
    """The bulk actions of the list."""

    actions = [
        "publish_selected",
        "unpublish_selected",
        "archive_selected",
        "unschedule_selected",
        "reviewed_selected",
    ]

    def has_publish_permission(self, request: HttpRequest) -> bool:
        """Whether this person decides what visitors see: to publish, withdraw and schedule."""
        return request.user.has_perm("articles.publish_article")

    @admin.action(description=_("Publish selected articles"), permissions=["publish"])
    def publish_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        """All of them or, where one has no text yet, none."""
        empty = [article.title for article in queryset if not has_text(article.body)]
        if empty:
            said = ngettext(
                "Nothing was published: there is no text in %s yet.",
                "Nothing was published: there is no text in these yet: %s.",
                len(empty),
            )
            named = ", ".join(f"“{title}”" for title in empty[:MOST_NAMED])
            more = ", …" if len(empty) > MOST_NAMED else ""
            self.message_user(request, said % f"{named}{more}", messages.ERROR)
            return
        self._each(
            request,
            queryset,
            lambda article: self.publish(request, article),
            ("%d article published.", "%d articles published."),
        )

    @admin.action(description=_("Unpublish selected articles"), permissions=["publish"])
    def unpublish_selected(
        self, request: HttpRequest, queryset: QuerySet[Article]
    ) -> HttpResponse | None:
        if links_here := self._links_shown(request, queryset, "unpublish_selected"):
            return links_here
        self._each(
            request,
            queryset,
            lambda article: self._withdraw(request, article, Status.DRAFT, gettext("Unpublished.")),
            ("%d article unpublished.", "%d articles unpublished."),
        )
        return None

    @admin.action(description=_("Archive selected articles"), permissions=["publish"])
    def archive_selected(
        self, request: HttpRequest, queryset: QuerySet[Article]
    ) -> HttpResponse | None:
        if links_here := self._links_shown(request, queryset, "archive_selected"):
            return links_here
        self._each(
            request,
            queryset,
            lambda article: self._withdraw(request, article, Status.ARCHIVED, gettext("Archived.")),
            ("%d article archived.", "%d articles archived."),
        )
        return None

    @admin.action(description=_("Cancel scheduled publishing"), permissions=["publish"])
    def unschedule_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        def cancel(article: Article) -> None:
            publishing.schedule(article, None, person(request))
            self.log_change(request, article, gettext("Cancelled scheduled publishing."))

        self._each(
            request,
            queryset.filter(publish_at__isnull=False),
            cancel,
            (
                "%d scheduled article will not be published.",
                "%d scheduled articles will not be published.",
            ),
        )

    @admin.action(description=_("Reviewed: ask again in six months"), permissions=["change"])
    def reviewed_selected(self, request: HttpRequest, queryset: QuerySet[Article]) -> None:
        def note(article: Article) -> None:
            article.review_on = timezone.localdate() + REVIEW_AGAIN
            article.save(update_fields=["review_on"])
            self.log_change(request, article, gettext("Reviewed."))

        self._each(request, queryset, note, ("%d article reviewed.", "%d articles reviewed."))

    def publish(self, request: HttpRequest, article: Article) -> None:
        if not self.has_publish_permission(request):
            raise PermissionDenied
        publishing.refuse_empty(article)
        publishing.publish(article, person(request))
        self.log_change(request, article, gettext("Published."))

    def _withdraw(
        self, request: HttpRequest, article: Article, status: Status, message: str
    ) -> None:
        publishing.withdraw(article, status)
        self.log_change(request, article, message)

    def _links_shown(
        self, request: HttpRequest, queryset: QuerySet[Article], action: str
    ) -> HttpResponse | None:
        """The links that would break, to be seen first; None without any, or once seen."""
        chosen = list(queryset)
        broken = list(links.leading_to(*(article for article in chosen if article.is_live)))
        if not broken or "seen" in request.POST:
            return None
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": dict(self.get_action_choices(request))[action],
            "action": action,
            "chosen": chosen,
            "links": broken,
        }
        return TemplateResponse(request, "admin/articles/article/withdraw.html", context)

    def _each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Article],
        step: Callable[[Article], None],
        said: tuple[str, str],
    ) -> None:
        """Does `step` to all or, where one fails, to none, and remembers how they stood."""
        with transaction.atomic():
            chosen = Article.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
            locked = list(chosen.select_for_update().order_by("pk"))
            before = {article.pk: undo.standing(article) for article in locked}
            for article in locked:
                step(article)
            message = ngettext(*said, len(locked)) % len(locked)
            if locked:
                undo.remember(person(request), message, before, locked)
        self.message_user(request, message, messages.SUCCESS)
