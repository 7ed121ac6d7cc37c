"""Every published version of an article, and what changed between two of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext

from articles.admin.pages import ArticlePages
from articles.diffs import diff_lines


class RevisionPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [self.url("<int:article_id>/revisions/", self.revisions, "revisions")]

    def revisions(self, request: HttpRequest, article_id: int) -> HttpResponse:
        article = self.find(request, article_id)
        revisions = list(article.revisions.select_related("author"))
        by_number = {str(revision.number): revision for revision in revisions}
        new = by_number.get(request.GET.get("new", ""), revisions[0] if revisions else None)
        older = [r for r in revisions if new is not None and r.number < new.number]
        old = by_number.get(request.GET.get("old", ""), older[0] if older else None)
        context = {
            "article": article,
            "revisions": revisions,
            "new": new,
            "old": old,
            "diff": diff_lines(old.body if old else "", new.body) if new else [],
        }
        return self.render(request, "revisions.html", gettext("Revisions"), context)
