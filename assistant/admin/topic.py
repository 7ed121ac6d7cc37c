"""The page of one topic: its evidence, what to do about it, and the buttons that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from articles.admin.pages import person
from assistant.gaps import checking, colliding, drafting, evidence, proposals, proposing, queue
from assistant.models import GapCheck, GapProposal, GapQuestion, GapStep, GapTopic
from assistant.refusals import Refusal

if TYPE_CHECKING:
    from django.db.models import QuerySet

DECISIVE = {"status", "dismissed_as", "assignee_id", "merged_into_id"}
"""What a button says something about. A due date and a link are nobody's decision against it."""

STORED = {"assignee": "assignee_id", "due_on": "due_on", "article": "article_id"}
"""The form's fields, and what of a topic's standing they set."""

QUESTIONS = 50
"""Questions on the page, the newest ones; the count above says how many there are."""


class TopicForm(forms.ModelForm[GapTopic]):
    """Sets what was changed in it, and leaves what a colleague changed meanwhile. Where both
    changed the same, it is not valid; sent again, it counts as informed."""

    comment = forms.CharField(
        label=_("Comment"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        help_text=_("For colleagues. Stands in the history."),
    )

    class Meta:
        model = GapTopic
        fields = tuple(STORED)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assignee = self.fields.get("assignee")
        if isinstance(assignee, forms.ModelChoiceField):
            assignee.queryset = queue.workers(or_is=self.instance.assignee_id)
        self.kept: list[str] = []

    def clean_due_on(self) -> date | None:
        due: date | None = self.cleaned_data["due_on"]
        if due and "due_on" in self.changed_data and due < timezone.localdate():
            raise forms.ValidationError(gettext("The day has passed."))
        return due

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        then, topic = self.data.get("seen", ""), self.instance
        now = queue.standing(topic)
        typed = GapTopic(**{name: self.cleaned_data.get(name) for name in STORED})
        mine = queue.standing(typed)
        both = []
        for name, stored in STORED.items():
            is_theirs = stored in colliding.changed_since(then, topic)
            if not is_theirs or name not in self.cleaned_data or mine[stored] == now[stored]:
                continue
            if mine[stored] == colliding.was(then, stored):
                self.cleaned_data[name] = getattr(topic, name)
                self.kept.append(name)
            else:
                both.append(name)
        if both:
            said = gettext("Nothing was saved yet. Save again to put yours in its place.")
            raise forms.ValidationError(f"{colliding.told(topic)} {said}")
        return cleaned


class TopicPages:
    """What is done with one topic, each by a POST of who may change topics."""

    def __init__(self, model_admin: admin.ModelAdmin[GapTopic]) -> None:
        self.model_admin = model_admin

    def urls(self) -> list[URLPattern]:
        pages: list[tuple[str, Callable[..., HttpResponse]]] = [
            ("status", self.set_status),
            ("split", self.split),
            ("draft", self.draft),
        ]
        site = self.model_admin.admin_site
        acts = [
            path(
                f"<int:topic_id>/{name}/",
                site.admin_view(require_POST(view)),
                name=f"assistant_gaptopic_{name}",
            )
            for name, view in pages
        ]
        views = [
            path(
                f"<int:topic_id>/{name}/", site.admin_view(view), name=f"assistant_gaptopic_{name}"
            )
            for name, view in [
                ("propose", self.propose),
                ("try", self.try_questions),
                ("check", self.is_checked),
            ]
        ]
        return [*acts, *views]

    def panel(self, request: HttpRequest, topic: GapTopic) -> dict[str, Any]:
        """What the page shows besides the form."""
        asked = evidence.samples(topic)
        near = evidence.nearest(topic, asked)
        questions: QuerySet[GapQuestion] = topic.questions.order_by("-asked_at")
        steps = list(topic.steps.all()[:QUESTIONS])
        people = _people(steps)
        return {
            "topic": topic,
            "typical": asked,
            "near": near,
            "suggestion": evidence.suggestion(near),
            "growth": _growth(topic),
            "unhappy": 1 + topic.negative_count / max(topic.rated_count, 1),
            "questions": questions.defer("embedding")[:QUESTIONS],
            "check": checking.latest(topic),
            "share": settings.GAP_VERIFIED_PERCENT,
            "may_propose": proposing.is_possible(topic),
            "proposal": proposals.of(topic),
            "may_write": request.user.has_perm("articles.add_article"),
            "steps": [(step, queue.told(step, people)) for step in steps],
            "reasons": GapTopic.Reason.choices,
            "may_change": self.model_admin.has_change_permission(request, topic),
            "may_view_answers": request.user.has_perm("assistant.view_answer"),
            "may_view_searches": request.user.has_perm("articles.view_searchquery"),
            "undoable": queue.latest(person(request)),
            "seen": colliding.seen(topic),
        }

    @transaction.atomic
    def set_status(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """By the button pressed: claim, release, reopen, or a reason to dismiss. The button was
        meant for the topic as the page showed it."""
        topic = self._topic(request, topic_id, GapTopic.objects.select_for_update(of=("self",)))
        user = person(request)
        act = request.POST.get("act", "")
        if colliding.changed_since(request.POST.get("seen", ""), topic) & DECISIVE:
            said = f"{colliding.told(topic)} {gettext('Nothing else was changed.')}"
            self._say(request, said, messages.WARNING)
            return self._back(topic)
        if act == "claim":
            changed = queue.claim([topic], user)
        elif act == "release":
            changed = queue.change([topic], user, status=GapTopic.Status.OPEN, assignee_id=None)
        elif act == "reopen":
            changed = queue.reopen([topic], user)
        elif act in GapTopic.Reason.values:
            changed = queue.dismiss([topic], user, act)
        else:
            changed = []
        if changed:
            status = changed[0].get_status_display()
            self._say(request, gettext("The topic is now: %s.") % status, messages.SUCCESS)
        return self._back(topic)

    def split(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """The chosen questions become a topic of their own."""
        topic = self._topic(request, topic_id)
        chosen = [int(key) for key in request.POST.getlist("question") if key.isdecimal()]
        new = queue.split(topic, chosen, person(request))
        if new is None:
            said = gettext("Choose some of the questions, and not all of them.")
            self._say(request, said, messages.WARNING)
            return self._back(topic)
        count = new.questions.count()
        said = ngettext(
            "%d question is a topic of its own now.",
            "%d questions are a topic of their own now.",
            count,
        )
        self._say(request, said % count, messages.SUCCESS)
        return self._back(new)

    def draft(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """To the editor, with a first draft where no article is linked yet."""
        topic = self._topic(request, topic_id)
        if not request.user.has_perm("articles.add_article"):
            raise PermissionDenied
        article = drafting.draft(topic, person(request))
        said = gettext("The draft is linked to the topic. Nobody but staff sees it.")
        self._say(request, said, messages.SUCCESS)
        url = reverse("admin:articles_article_change", args=[article.pk])
        return HttpResponseRedirect(url)

    def propose(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """POST has a worker write a text; the page then waits for it, and leads to the draft."""
        topic = self._topic(request, topic_id)
        if not request.user.has_perm("articles.add_article"):
            raise PermissionDenied
        if topic.article and not request.user.has_perm("articles.change_article"):
            raise PermissionDenied
        if request.method == "POST":
            try:
                proposals.begin(topic, person(request))
            except (proposing.ProposalError, Refusal) as error:
                said = str(error.message) if isinstance(error, Refusal) else str(error)
                self._say(request, said, messages.WARNING)
                return self._back(topic)
            return HttpResponseRedirect(request.path)
        proposal = proposals.of(topic)
        if proposal is None or (proposal.finished_at and not proposal.is_written):
            return self._back(topic)  # which says what went wrong
        if proposal.is_written:
            return self._to_the_text(request, topic, proposal)
        response = self._render(
            request,
            "propose.html",
            gettext("Propose a text"),
            {"topic": topic, "proposal": proposal},
        )
        response["Refresh"] = "2"
        return response

    def _to_the_text(
        self, request: HttpRequest, topic: GapTopic, proposal: GapProposal
    ) -> HttpResponse:
        if topic.article is None:
            return self._back(topic)
        self._say(
            request, gettext("The model’s text stands below what was there."), messages.SUCCESS
        )
        if proposal.left_out:
            left = ngettext(
                "%d sentence was left out: it rested on nothing that was given.",
                "%d sentences were left out: they rested on nothing that was given.",
                proposal.left_out,
            )
            self._say(request, left % proposal.left_out, messages.WARNING)
        url = reverse("admin:articles_article_change", args=[topic.article.pk])
        return HttpResponseRedirect(url)

    def try_questions(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """Which of the questions the working copy of the linked article would answer."""
        topic = get_object_or_404(GapTopic.objects.select_related("article"), pk=topic_id)
        allowed = self.model_admin.has_view_permission(request, topic)
        if not allowed or not request.user.has_perm("articles.view_article"):
            raise PermissionDenied
        if topic.article is None:
            self._say(request, gettext("No article is linked to the topic."), messages.WARNING)
            return self._back(topic)
        tried = drafting.try_questions(topic.article, topic)
        context = {
            "topic": topic,
            "tried": tried,
            "good": sum(one.answers for one in tried),
        }
        return self._render(request, "try.html", gettext("Try these questions"), context)

    def is_checked(self, request: HttpRequest, topic_id: int) -> HttpResponse:
        """Whether the topic's questions are still being asked again: what its page asks meanwhile.
        Reads two rows, and writes nothing."""
        topic = get_object_or_404(GapTopic.objects.only("pk"), pk=topic_id)
        if not self.model_admin.has_view_permission(request, topic):
            raise PermissionDenied
        check = checking.latest(topic)
        pending = check is not None and check.outcome == GapCheck.Outcome.PENDING
        return JsonResponse({"pending": pending})

    def _render(
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        frame = self.model_admin.admin_site.each_context(request)
        everything = {**frame, "title": title, "opts": self.model_admin.opts, **context}
        return TemplateResponse(request, f"admin/assistant/gaptopic/{template}", everything)

    def _topic(
        self, request: HttpRequest, topic_id: int, topics: QuerySet[GapTopic] | None = None
    ) -> GapTopic:
        topic = get_object_or_404(GapTopic if topics is None else topics, pk=topic_id)
        if not self.model_admin.has_change_permission(request, topic):
            raise PermissionDenied
        return topic

    def _say(self, request: HttpRequest, said: str, level: int) -> None:
        self.model_admin.message_user(request, said, level)

    def _back(self, topic: GapTopic) -> HttpResponse:
        url = reverse("admin:assistant_gaptopic_change", args=[topic.pk])
        return HttpResponseRedirect(url)


def _people(steps: Iterable[GapStep]) -> dict[int, str]:
    """The names of those to whom a topic was assigned."""
    keys = {step.after.get("assignee_id") for step in steps} - {None}
    return dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))


def _growth(topic: GapTopic) -> float:
    return min(2.0, max(0.5, (topic.week_count + 1) / (topic.week_before_count + 1)))
