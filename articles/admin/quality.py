"""Pages that help to find what to work on: near duplicates, and which questions find an article."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext

from articles.admin.pages import ArticlePages
from articles.writing import findability
from articles.writing.duplicates import near_duplicates


class QualityPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("duplicates/", self.duplicates, "duplicates"),
            self.url("<int:article_id>/questions/", self.questions, "questions"),
        ]

    def duplicates(self, request: HttpRequest) -> HttpResponse:
        """Pairs of published articles that may be one too many."""
        self.require(request, "view")
        context = {"pairs": near_duplicates()}
        return self.render(request, "duplicates.html", gettext("Near duplicates"), context)

    def questions(self, request: HttpRequest, article_id: int) -> HttpResponse:
        """Questions, one a line, and at which place each finds the article. Sent, not linked
        to: what people type belongs in no address."""
        article = self.find(request, article_id)
        typed = request.POST.get("questions", "").splitlines()
        questions = findability.cleaned(typed) or findability.suggestions(article)
        found = findability.try_questions(article, questions) if article.is_live else []
        context = {
            "article": article,
            "questions": "\n".join(questions),
            "found": found,
            "depth": findability.DEPTH,
            "most": findability.MOST_QUESTIONS,
        }
        title = gettext("Which questions find this")
        return self.render(request, "questions.html", title, context)
