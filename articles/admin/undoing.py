"""The button that takes back the last bulk action, for the person who did it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from articles.admin.pages import ArticlePages, person
from articles.writing import undo


class UndoPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [self.url("undo/<int:change_id>/", require_POST(self.take_back), "undo")]

    def take_back(self, request: HttpRequest, change_id: int) -> HttpResponse:
        """Only one's own, only the last, and only while it has not expired."""
        self.require(request, "change")
        change = undo.latest(person(request).pk)
        if change is None or change.pk != change_id:
            said = gettext("There is nothing to undo any more. No article was changed.")
            self.model_admin.message_user(request, said, messages.WARNING)
        else:
            self._report(request, undo.take_back(change, person(request)))
        return HttpResponseRedirect(reverse("admin:articles_article_changelist"))

    def _report(self, request: HttpRequest, done: undo.Undone) -> None:
        for article in done.restored:
            self.model_admin.log_change(request, article, gettext("Undid a bulk action."))
        restored = len(done.restored)
        said = ngettext("%d article is back.", "%d articles are back.", restored) % restored
        self.model_admin.message_user(request, said, messages.SUCCESS)
        for article in done.left:
            left = gettext("“%(title)s” was changed since and is left as it is.")
            said = left % {"title": article.title}
            self.model_admin.message_user(request, said, messages.WARNING)
