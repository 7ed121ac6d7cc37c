"""Every published version of an article beside the working copy: comparing and restoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils.translation import gettext

from articles import publishing
from articles.admin.pages import ArticlePages
from articles.models import Article, ArticleRevision
from articles.writing.diffs import diff_lines

WORKING_COPY = "draft"
"""What stands for the working copy where a revision's number would."""


@dataclass(frozen=True)
class Version:
    """A text to compare: a revision, or the working copy as `key` "draft"."""

    key: str
    title: str
    summary: str
    body: str
    revision: ArticleRevision | None = None

    @classmethod
    def of(cls, revision: ArticleRevision) -> Self:
        number = str(revision.number)
        return cls(number, revision.title, revision.summary, revision.body, revision)

    @classmethod
    def working_copy(cls, article: Article) -> Self:
        return cls(WORKING_COPY, article.title, article.summary, article.body)

    @property
    def name(self) -> str:
        if self.revision is None:
            return gettext("working copy")
        return gettext("revision %(number)s") % {"number": self.key}


class RevisionPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("<int:article_id>/revisions/", self.revisions, "revisions"),
            self.url("<int:article_id>/revisions/<int:number>/restore/", self.restore, "restore"),
            self.url("<int:article_id>/discard/", self.discard, "discard"),
        ]

    def revisions(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """All versions, newest first, and what changed between the two that were chosen."""
        article = self.find(request, article_id)
        versions = _versions(article)
        old, new = _chosen(versions, request.GET.get("old", ""), request.GET.get("new", ""))
        context = {
            "article": article,
            "versions": versions,
            "new": new,
            "old": old,
            "diff": diff_lines(old.body if old else "", new.body) if new else [],
            "may_restore": self.model_admin.has_change_permission(request, article),
        }
        return self.render(request, "revisions.html", gettext("Revisions"), context)

    def restore(self, request: HttpRequest, article_id: int, number: int) -> HttpResponse:
        """Asks, and then takes a revision's text into the working copy."""
        article = self.find(request, article_id, "change")
        revision = article.revisions.filter(number=number).first()
        if revision is None:
            raise Http404
        if request.method != "POST":
            return self._confirm(request, article, revision, discards=False)
        return self._take(
            request,
            article,
            revision,
            logged=f"Restored revision {number} to the working copy.",
            said=gettext(
                "The working copy says what revision %(number)s says. Publish it to make it live."
            )
            % {"number": number},
        )

    def discard(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """Asks, and then takes the working copy back to the published text."""
        article = self.find(request, article_id, "change")
        revision = article.live_revision
        if revision is None:
            raise Http404
        if request.method != "POST":
            return self._confirm(request, article, revision, discards=True)
        return self._take(
            request,
            article,
            revision,
            logged="Discarded unpublished changes.",
            said=gettext("The changes that were not published are discarded."),
        )

    def _confirm(
        self, request: HttpRequest, article: Article, revision: ArticleRevision, *, discards: bool
    ) -> HttpResponse:
        title = (
            gettext("Discard unpublished changes")
            if discards
            else gettext("Restore revision %(number)s") % {"number": revision.number}
        )
        context = {
            "article": article,
            "revision": revision,
            "discards": discards,
            "diff": diff_lines(article.body, revision.body),
        }
        return self.render(request, "restore.html", title, context)

    def _take(
        self,
        request: HttpRequest,
        article: Article,
        revision: ArticleRevision,
        *,
        logged: str,
        said: str,
    ) -> HttpResponse:
        publishing.restore(article, revision)
        self.model_admin.log_change(request, article, logged)
        self.model_admin.message_user(request, said, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:articles_article_change", args=[article.pk]))


def _versions(article: Article) -> list[Version]:
    """Newest first. The working copy is one of them where it differs from what was published."""
    revisions = list(article.revisions.select_related("author"))
    is_ahead = bool(revisions) and article.has_unpublished_changes
    own = [Version.working_copy(article)] if is_ahead else []
    return [*own, *map(Version.of, revisions)]


def _chosen(versions: list[Version], old: str, new: str) -> tuple[Version | None, Version | None]:
    """The two to compare: as asked for, or else the newest with the one before it."""
    by_key = {version.key: version for version in versions}
    later = by_key.get(new) or (versions[0] if versions else None)
    older = versions[versions.index(later) + 1 :] if later else []
    return by_key.get(old) or (older[0] if older else None), later
