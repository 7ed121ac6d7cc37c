"""Conversations and feedback over HTTP, with Django REST framework.

What is sync can be written plainly here; what follows a running turn is in `views`.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.db.models import OuterRef, Q, Subquery
from django.forms import Form
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException, MethodNotAllowed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from assistant import chat
from assistant.access import conversations, get_answer, get_conversation
from assistant.answers import answer_payload, with_ledger
from assistant.callers import Caller, caller_of
from assistant.database import DATABASE_DOWN
from assistant.endpoints import check_csrf, database_down, read_object
from assistant.escalating import EscalationForm, escalate, is_possible
from assistant.feedback import AnswerFeedbackForm, record
from assistant.models import Answer, Conversation
from assistant.questions import parse_cursor
from assistant.reference_numbers import reference_number
from assistant.refusals import (
    InvalidContact,
    InvalidFeedback,
    Malformed,
    NoSupport,
    NotAllowed,
    NotFound,
    Refusal,
)

PAGE_SIZE = 50
TITLE_LENGTH = 120


class SessionCheck(BaseAuthentication):
    """The session's user. Unsafe requests need their token, anonymous or not."""

    def authenticate(self, request: Request) -> tuple[Any, None]:
        check_csrf(request._request)
        return request._request.user, None


class AlwaysJson(BaseContentNegotiation):
    """The API speaks JSON, whatever is asked for and however the body is labelled."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        return None

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), "application/json"


class View(APIView):
    """One caller, one error shape."""

    authentication_classes = [SessionCheck]
    permission_classes = [AllowAny]
    content_negotiation_class = AlwaysJson

    def caller(self) -> Caller:
        return caller_of(self.request._request)

    def handle_exception(self, exc: Exception) -> Response:
        refusal = _as_refusal(exc)
        response = Response(refusal.payload(), status=refusal.status)
        response["Cache-Control"] = "no-store"
        if refusal.retry_after is not None:
            response["Retry-After"] = str(refusal.retry_after)
        return response


class ConversationList(View):
    """The caller's own, newest first: 50 at a time, the rest behind `?offset=`."""

    def get(self, request: Request) -> Response:
        offset = parse_cursor(request.query_params.get("offset"), "offset")
        first = Answer.objects.filter(conversation=OuterRef("pk")).order_by("turn")
        listed = (
            conversations(self.caller().owner)
            .filter(repeats=None)
            .annotate(title=Subquery(first.values("question")[:1]))
        )
        found = list(listed[offset : offset + PAGE_SIZE + 1])
        return Response(
            {
                "conversations": [_summary(conversation) for conversation in found[:PAGE_SIZE]],
                "next": offset + PAGE_SIZE if len(found) > PAGE_SIZE else None,
            }
        )


class ConversationDetail(View):
    def get(self, request: Request, conversation_id: str) -> Response:
        """Its turns, with access to every source checked again."""
        caller = self.caller()
        conversation = _conversation(caller, conversation_id)
        turns = with_ledger(conversation.answers.order_by("turn"))
        payload = {
            "id": str(conversation.pk),
            "created_at": conversation.created_at,
            "updated_at": conversation.updated_at,
            "turns": [answer_payload(answer, caller.reader) for answer in turns],
        }
        return Response(payload, headers={"Cache-Control": "no-store"})

    def delete(self, request: Request, conversation_id: str) -> Response:
        """Erases it: rows, streams, and turns that still run."""
        conversation = _conversation(self.caller(), conversation_id)
        gone = Q(conversation=conversation) | Q(conversation__repeats__conversation=conversation)
        answer_ids = list(Answer.objects.filter(gone).values_list("pk", flat=True))
        conversation.delete()
        async_to_sync(chat.erase)(answer_ids)
        return Response(status=204)


class AnswerFeedbackView(View):
    """`{"rating": "positive"|"negative", "reason"?, "comment"?}`; the last one counts."""

    def post(self, request: Request, answer_id: str) -> Response:
        try:
            answer = get_answer(self.caller().owner, answer_id)
        except Answer.DoesNotExist:
            raise NotFound from None
        form = AnswerFeedbackForm(_texts(read_object(request._request)))
        if not form.is_valid():
            raise InvalidFeedback(fields=_told(form))
        feedback = record(answer, form.cleaned_data)
        return Response(
            {"rating": feedback.rating, "reason": feedback.reason, "comment": feedback.comment}
        )


class EscalationView(View):
    """`{"email": "…", "consent": true, "message"?}`: the conversation goes to support, once."""

    def post(self, request: Request, answer_id: str) -> Response:
        try:
            answer = get_answer(self.caller().owner, answer_id)
        except Answer.DoesNotExist:
            raise NotFound from None
        if not is_possible():
            raise NoSupport
        sent = read_object(request._request)
        texts = _texts({name: sent[name] for name in ("email", "message") if name in sent})
        form = EscalationForm({**texts, "consent": sent.get("consent") is True})
        if not form.is_valid():
            raise InvalidContact(fields=_told(form))
        given = form.cleaned_data
        escalation = escalate(answer, given["email"], given["message"])
        return Response({"reference": reference_number(answer.pk), "email": escalation.email})


def _conversation(caller: Caller, conversation_id: str) -> Conversation:
    try:
        return get_conversation(caller.owner, conversation_id)
    except Conversation.DoesNotExist:
        raise NotFound from None


def _summary(conversation: Any) -> dict[str, Any]:
    return {
        "id": str(conversation.pk),
        "title": (conversation.title or "")[:TITLE_LENGTH],
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
    }


def _texts(data: dict[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in data.values()):
        raise Malformed
    return data


def _told(form: Form) -> dict[str, list[str]]:
    return {name: [str(error) for error in errors] for name, errors in form.errors.items()}


def _as_refusal(error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MethodNotAllowed):
        return NotAllowed()
    if isinstance(error, DATABASE_DOWN):
        return database_down(error)
    if isinstance(error, APIException):
        return Malformed()
    raise error
