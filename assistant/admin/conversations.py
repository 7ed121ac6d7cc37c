"""The audit's list of conversations and the page of one with all its turns, read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.access import Reader
from assistant.admin.access_log import RecordedAdmin
from assistant.admin.audit import rendered_text
from assistant.answers import with_ledger
from assistant.models import Answer, Conversation
from assistant.reference_numbers import ids_meant
from helpcenter.moments import ago


@admin.register(Conversation)
class ConversationAdmin(RecordedAdmin):
    fields = ()
    change_form_template = "admin/assistant/conversation/change_form.html"
    list_display = ["first_question", "turns", "who", "started", "last_turn"]
    list_filter = ["created_at"]
    search_fields = ["answers__question"]
    search_help_text = _("Words of a question, a reference number of an answer, or an id")
    ordering = ["-updated_at"]
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        first = Answer.objects.filter(turn=1).only("conversation_id", "question")
        conversations: QuerySet[Conversation] = super().get_queryset(request)
        turns = Answer.objects.filter(conversation=OuterRef("pk")).order_by("-turn")
        return (
            conversations.select_related("user")
            .annotate(
                turns=Subquery(turns.values("turn")[:1]),
                last_turn=Subquery(turns.values("created_at")[:1]),
            )
            .prefetch_related(Prefetch("answers", queryset=first, to_attr="first"))
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        """A reference number or an id, of the conversation or one of its answers, or words."""
        ids = ids_meant(search_term)
        if ids is not None:
            between = (ids.first, ids.last)
            of_answer = Answer.objects.filter(pk__range=between).values("conversation")
            meant = queryset.filter(Q(pk__range=between) | Q(pk__in=of_answer))
            if meant.exists():
                return meant, False
        # Not by a join: what the list shows beside each would be worked out to tell rows apart.
        answers = Answer.objects.filter(_words(search_term)).values("conversation")
        return (queryset.filter(pk__in=answers) if search_term.strip() else queryset), False

    @admin.display(description=_("first question"))
    def first_question(self, conversation: Conversation) -> str:
        first: list[Answer] = getattr(conversation, "first", [])
        return first[0].question[:90] if first else str(conversation.pk)

    @admin.display(description=_("turns"), ordering="turns")
    def turns(self, conversation: Conversation) -> int:
        return getattr(conversation, "turns", 0)

    @admin.display(description=_("started"), ordering="created_at")
    def started(self, conversation: Conversation) -> str:
        return ago(conversation.created_at)

    @admin.display(description=_("last turn"), ordering="last_turn")
    def last_turn(self, conversation: Conversation) -> str:
        return ago(getattr(conversation, "last_turn", None))

    @admin.display(description=_("asked by"))
    def who(self, conversation: Conversation) -> str:
        return str(conversation.user) if conversation.user else gettext("a visitor")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        conversation = self.get_object(request, object_id) if object_id else None
        turns = (
            with_ledger(
                Answer.objects.filter(conversation=conversation.pk).order_by("turn")
            ).select_related("review")
            if conversation
            else Answer.objects.none()
        )
        context = {
            **(extra_context or {}),
            "conversation": conversation,
            "turns": [(turn, rendered_text(turn, Reader.of(request.user))) for turn in turns],
        }
        return super().changeform_view(request, object_id, form_url, context)


def _words(typed: str) -> Q:
    """Questions with all the words; what stands in quotes is one."""
    wanted = Q()
    for word in smart_split(typed):
        is_quoted = len(word) > 1 and word[0] in "\"'" and word[0] == word[-1]
        wanted &= Q(question__icontains=unescape_string_literal(word) if is_quoted else word)
    return wanted
