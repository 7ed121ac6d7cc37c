"""Judging answers in the admin: the panel on an answer's page, the queues, and asking again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from articles.access import Reader
from articles.admin.pages import person
from articles.admin.retrieval import told
from articles.explaining import explain
from articles.models import Article
from assistant.admin.audit import rendered_text
from assistant.answers import with_ledger
from assistant.audit import access_log, reviewing
from assistant.audit.asking_again import ask_again, reader_of
from assistant.models import Answer, AnswerReview
from assistant.reference_numbers import reference_number
from assistant.refusals import Refusal

MOST_GIVEN_BACK = 8000
MOST_SEARCHES = 4
"""Searches of a turn that are explained, the question among them."""


class ReviewForm(forms.Form):
    verdict = forms.ChoiceField(
        label=_("Verdict"),
        choices=[*AnswerReview.Verdict.choices, ("", _("no verdict"))],
        required=False,
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
    assignee = forms.ModelChoiceField(
        User.objects.none(), label=_("Assignee"), required=False, empty_label=_("nobody")
    )
    article = forms.ModelChoiceField(
        Article.objects.select_related("live_revision"),
        label=_("Article that should have answered"),
        required=False,
    )

    def __init__(
        self, site: admin.AdminSite, assignee_id: int | None, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["assignee"] = forms.ModelChoiceField(
            reviewing.reviewers(or_is=assignee_id),
            label=_("Assignee"),
            required=False,
            empty_label=_("nobody"),
        )
        article = self.fields["article"]
        field = AnswerReview._meta.get_field("article")
        widget = AutocompleteSelect(field, site, attrs={"form": "review-form"})
        widget.choices = article.widget.choices
        widget.is_required = False
        article.widget = widget


class ReviewPages:
    """The pages around the verdict. All of them need the permission to view answers; what
    changes something needs the one to change reviews."""

    def __init__(self, model_admin: admin.ModelAdmin[Any]) -> None:
        self.model_admin = model_admin
        self.site = model_admin.admin_site

    def urls(self) -> list[URLPattern]:
        pages: list[tuple[str, Callable[..., HttpResponse], str]] = [
            ("review/", self.queues, "review_queues"),
            ("review/<str:name>/", self.begin, "review_begin"),
            ("<uuid:answer_id>/review/", require_POST(self.save), "review"),
            ("<uuid:answer_id>/again/", self.again, "again"),
        ]
        return [
            path(route, self.site.admin_view(view), name=f"assistant_answer_{name}")
            for route, view, name in pages
        ]

    def may_review(self, request: HttpRequest) -> bool:
        return request.user.has_perm("assistant.change_answerreview")

    def panel(self, request: HttpRequest, answer: Answer) -> dict[str, Any]:
        """What the page of an answer shows of its review; `queue` where one is worked through."""
        found = AnswerReview.objects.select_related("assignee", "reviewer", "article")
        review = found.filter(answer=answer).first()
        name = request.GET.get("queue", "")
        context: dict[str, Any] = {
            "review": review,
            "review_seen": _stamp(review),
            "may_review": self.may_review(request),
            "review_form": ReviewForm(
                self.site, review.assignee_id if review else None, initial=_initial(review)
            ),
            "missed": missed(answer, review.article) if review and review.article else [],
            "repetitions": answer.repetitions.count(),
        }
        if name in reviewing.QUEUES:
            answers = reviewing.to_review(name, person(request))
            context["queue"] = reviewing.QUEUES[name]
            context["next_answer"] = reviewing.after(answers, answer)
            context["previous_answer"] = reviewing.before(answers, answer)
            context["left"] = answers.count()
        return context

    def queues(self, request: HttpRequest) -> HttpResponse:
        self._require_view(request)
        user = person(request)
        context = {
            "queues": [
                (queue, reviewing.to_review(queue.name, user).count())
                for queue in reviewing.QUEUES.values()
            ]
        }
        return self._render(request, "review_queues.html", gettext("Review answers"), context)

    def begin(self, request: HttpRequest, name: str) -> HttpResponse:
        """To the first answer of a queue, or back to the queues with a word where it is empty."""
        self._require_view(request)
        if name not in reviewing.QUEUES:
            raise Http404
        first = reviewing.to_review(name, person(request)).first()
        return HttpResponseRedirect(self._next_url(request, name, first))

    def save(self, request: HttpRequest, answer_id: Any) -> HttpResponse:
        """Stores the verdict and goes on in the queue, or back to the answer."""
        self._require_view(request)
        if not self.may_review(request):
            raise PermissionDenied
        answer = get_object_or_404(Answer, pk=answer_id)
        found = AnswerReview.objects.filter(answer=answer).first()
        form = ReviewForm(self.site, found.assignee_id if found else None, request.POST)
        name = request.POST.get("queue", "")
        here = _answer_url(answer, name if name in reviewing.QUEUES else "")
        if not form.is_valid():
            for field, errors in form.errors.items():
                messages.error(request, f"{form.fields[field].label}: {' '.join(map(str, errors))}")
            _give_back(request)
            return HttpResponseRedirect(here)
        if found and "seen" in request.POST and request.POST["seen"] != _stamp(found):
            said = gettext(
                "Nothing was saved: %(who)s reviewed it while you had it open (%(what)s). "
                "Save again to put yours in its place."
            )
            who = found.reviewer.get_username() if found.reviewer else gettext("somebody")
            messages.warning(request, said % {"who": who, "what": found})
            _give_back(request)
            return HttpResponseRedirect(here)
        user = person(request)
        review = reviewing.review(answer, user, **form.cleaned_data)
        self.model_admin.log_change(request, answer, gettext("Reviewed: %s.") % review)
        messages.success(request, gettext("Saved: %s.") % review)
        if "_next" in request.POST and name in reviewing.QUEUES:
            following = reviewing.after(reviewing.to_review(name, user), answer)
            return HttpResponseRedirect(self._next_url(request, name, following))
        return HttpResponseRedirect(here)

    def again(self, request: HttpRequest, answer_id: Any) -> HttpResponse:
        """The answer beside what the same question gives today; POST asks it."""
        self._require_view(request)
        found = get_object_or_404(Answer.objects.select_related("conversation__user"), pk=answer_id)
        repeated = Answer.objects.filter(conversation__repeats=found).order_by("-created_at")
        newest = repeated.first()
        if request.method == "POST":
            return self._ask(request, found, newest)
        if newest and newest.status == Answer.Status.RUNNING:
            return self._waiting(request, found, newest)
        access_log.opened(person(request), found, "answer.again")
        original = with_ledger(Answer.objects.filter(pk=found.pk)).get()
        latest = with_ledger(repeated).first()
        reader = Reader.of(request.user)
        sides = [
            (gettext("Then"), original, rendered_text(original, reader)),
            *([(gettext("Now"), latest, rendered_text(latest, reader))] if latest else []),
        ]
        context = {
            "answer": original,
            "sides": sides,
            "may_review": self.may_review(request),
            "asker": found.conversation.user,
        }
        return self._render(request, "again.html", gettext("Ask again"), context)

    def _waiting(self, request: HttpRequest, answer: Answer, running: Answer) -> HttpResponse:
        """Loads again by itself until the answer is there. It shows nothing of a conversation,
        so that no look has to be recorded each time."""
        context = {"asked": answer.pk, "reference": reference_number(answer.pk), "running": running}
        response = self._render(request, "again_waiting.html", gettext("Ask again"), context)
        response["Refresh"] = "2"
        return response

    def _ask(self, request: HttpRequest, answer: Answer, newest: Answer | None) -> HttpResponse:
        """One that still runs is waited for."""
        if not self.may_review(request):
            raise PermissionDenied
        is_running = newest is not None and newest.status == Answer.Status.RUNNING
        try:
            if not is_running:
                ask_again(answer, person(request), newest)
        except Refusal as refusal:
            messages.error(request, str(refusal.message))
        return HttpResponseRedirect(reverse("admin:assistant_answer_again", args=[answer.pk]))

    def _next_url(self, request: HttpRequest, name: str, answer: Answer | None) -> str:
        if answer is None:
            title = reviewing.QUEUES[name].title
            messages.info(request, gettext("“%s”: nothing is left to review.") % title)
            return reverse("admin:assistant_answer_review_queues")
        return _answer_url(answer, name)

    def _require_view(self, request: HttpRequest) -> None:
        if not self.model_admin.has_view_permission(request):
            raise PermissionDenied

    def _render(
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        frame = self.site.each_context(request)
        everything = {**frame, "title": title, "opts": self.model_admin.opts, **context}
        return TemplateResponse(request, f"admin/assistant/answer/{template}", everything)


def missed(answer: Answer, article: Article) -> list[dict[str, Any]]:
    """Where `article` stands in the searches of the turn, and why it lost: for the question,
    and for each search that the model made. As the asker would find it now."""
    return [
        {"search": text, **told(_explained(answer, article, text), text)}
        for text in searches(answer)
    ]


def searches(answer: Answer) -> list[str]:
    """The question, then what the model searched for; at most `MOST_SEARCHES`, each once."""
    texts = [answer.question]
    for call in answer.tool_calls.all():
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            continue
        query = arguments.get("query") if isinstance(arguments, dict) else None
        if isinstance(query, str) and query.strip():
            texts.append(query.strip())
    return list(dict.fromkeys(texts))[:MOST_SEARCHES]


def _explained(answer: Answer, article: Article, text: str) -> Any:
    return explain(
        text,
        reader=reader_of(answer),
        for_answers=True,
        language=answer.language or None,
        expected=article,
    )


def _stamp(review: AnswerReview | None) -> str:
    """Which state of a review a page showed."""
    return review.updated_at.isoformat() if review else ""


def _give_back(request: HttpRequest) -> None:
    """The note that was typed and not saved, to copy it."""
    note = request.POST.get("note", "").strip()
    if note:
        messages.info(request, gettext("Your note was: %s") % note[:MOST_GIVEN_BACK])


def _initial(review: AnswerReview | None) -> dict[str, Any]:
    if review is None:
        return {"verdict": ""}
    return {
        "verdict": review.verdict,
        "note": review.note,
        "assignee": review.assignee_id,
        "article": review.article_id,
    }


def _answer_url(answer: Answer, queue: str) -> str:
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    return f"{url}?queue={queue}" if queue else url
