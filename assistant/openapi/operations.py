"""The chat's addresses: what each takes, gives and refuses."""

from __future__ import annotations

from typing import Any

from articles.api.schema import REFUSALS
from assistant import refusals
from assistant.openapi import examples, gaps
from assistant.openapi.schemas import ID, NUMBER, TEXT, Schema, nullable, object_of, reference
from assistant.questions import KEY_LENGTH
from assistant.refusals import Refusal

TAG = "The assistant"
FIGURES = "Figures"
SESSION: list[dict[str, list[str]]] = [{"session": []}, {}]


def paths() -> dict[str, Schema]:
    answer, conversation = "/api/v1/answers/{answer_id}/", "/api/v1/conversations/"
    return {
        "/api/v1/answers/": {"post": _asking()},
        answer: {"get": _get_answer()},
        f"{answer}events/": {"get": _following()},
        f"{answer}stop/": {"post": _stopping()},
        f"{answer}feedback/": {"post": _voting()},
        f"{answer}escalate/": {"post": _escalating()},
        "/api/v1/manage/gaps/": {"get": gaps.listing()},
        "/api/v1/manage/gaps/{topic_id}/": {"patch": gaps.changing()},
        "/api/v1/manage/usage/": {"get": _usage()},
        conversation: {"get": _listing()},
        conversation + "{conversation_id}/": {"get": _opening(), "delete": _erasing()},
    }


def _operation(operation_id: str, summary: str, description: str, **more: Any) -> Schema:
    return {
        "operationId": operation_id,
        "tags": [TAG],
        "summary": summary,
        "description": description,
        "security": SESSION,
        **more,
    }


def _id(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": ID}


def _json(description: str, schema: Schema, example: Any = None) -> Schema:
    content = {"schema": schema} if example is None else {"schema": schema, "example": example}
    return {"description": description, "content": {"application/json": content}}


def _refused(*kinds: type[Refusal]) -> Schema:
    """The responses that these refusals are; those of one status share it."""
    responses: Schema = {}
    every: list[type[Refusal]] = [*kinds, refusals.Unavailable]
    for kind in every:
        body = {"error": {"code": kind.code, "message": str(kind.message)}}
        responses.setdefault(str(kind.status), _json(str(kind.message), reference("Error"), body))
    return responses


def _asking() -> Schema:
    refused = _refused(
        refusals.InvalidQuestion,
        refusals.Forbidden,
        refusals.NotFound,
        refusals.Disabled,
        refusals.KeyReused,
        refusals.RateLimited,
    )
    answered = _json("The answer, once it is finished.", reference("Answer"), examples.answer())
    answered["content"]["text/event-stream"] = {"schema": reference("ChatEvent")}
    key = {"name": "Idempotency-Key", "in": "header", "schema": {**TEXT, "maxLength": KEY_LENGTH}}
    example = {"question": "How do I import articles?", "key": "6f1d"}
    return _operation(
        "ask",
        "Ask",
        "Gives the answer once it is finished, or, with `Accept: text/event-stream`, its events "
        "as they come.",
        parameters=[key, _render()],
        requestBody={
            "required": True,
            "content": {"application/json": {"schema": reference("Ask"), "example": example}},
        },
        responses={"200": answered, **refused},
    )


def _render() -> Schema:
    description = "`html` streams rendered blocks in place of text."
    return {"name": "render", "in": "query", "schema": TEXT, "description": description}


def _get_answer() -> Schema:
    told = _json("The answer.", reference("Answer"), examples.answer())
    return _operation(
        "get_answer",
        "Get an answer",
        "Finished or not; of a running one what was delivered.",
        parameters=[_id("answer_id")],
        responses={"200": told, **_refused(refusals.NotFound)},
    )


def _following() -> Schema:
    description = "The `seq` up to which the client has everything."
    cursor = {"type": "integer", "minimum": 0, "maximum": 10**9 - 1}
    parameters = [
        {"name": "after", "in": "query", "schema": cursor, "description": description},
        {"name": "Last-Event-ID", "in": "header", "schema": cursor, "description": description},
    ]
    stream = {"text/event-stream": {"schema": reference("ChatEvent")}}
    return _operation(
        "follow_answer",
        "Follow an answer",
        "What was missed, then what comes, as server-sent events.",
        parameters=[_id("answer_id"), *parameters, _render()],
        responses={
            "200": {"description": "The events.", "content": stream},
            "204": {"description": "The client has everything."},
            **_refused(refusals.Malformed, refusals.NotFound),
        },
    )


def _stopping() -> Schema:
    return _operation(
        "stop_answer",
        "Stop an answer",
        "Ends the turn early; what was delivered is kept. Doing it again changes nothing.",
        parameters=[_id("answer_id")],
        responses={
            "200": _json("The answer.", reference("Answer"), examples.answer()),
            **_refused(refusals.Forbidden, refusals.NotFound),
        },
    )


def _voting() -> Schema:
    example = {"rating": "negative", "reason": "incomplete", "comment": "What about PDF?"}
    return _operation(
        "vote_on_answer",
        "Vote on an answer",
        "Whether it helped. The last vote counts.",
        parameters=[_id("answer_id")],
        requestBody={
            "required": True,
            "content": {
                "application/json": {"schema": reference("AnswerVote"), "example": example}
            },
        },
        responses={
            "200": _json("The vote, as it is stored.", reference("AnswerVote"), example),
            **_refused(refusals.InvalidFeedback, refusals.Forbidden, refusals.NotFound),
        },
    )


def _escalating() -> Schema:
    asked = object_of(
        optional={"message": {**TEXT, "maxLength": 2000}},
        email={**TEXT, "format": "email"},
        consent={"type": "boolean"},
    )
    example = {"email": "jo@example.com", "message": "I need an invoice.", "consent": True}
    given = {"reference": "7K2M-9QXP", "email": "jo@example.com"}
    return _operation(
        "escalate",
        "Hand an answer to support",
        "Sends the conversation up to this answer to the site's support address, with `email` to "
        "reply to. Once for each answer: asked again, it gives the same reference number.",
        parameters=[_id("answer_id")],
        requestBody={
            "required": True,
            "content": {"application/json": {"schema": asked, "example": example}},
        },
        responses={
            "200": _json("The reference number.", object_of(reference=TEXT, email=TEXT), given),
            **_refused(
                refusals.InvalidContact,
                refusals.Forbidden,
                refusals.NotFound,
                refusals.NoSupport,
            ),
        },
    )


def _listing() -> Schema:
    offset = {"type": "integer", "minimum": 0, "maximum": 10**9 - 1}
    return _operation(
        "list_conversations",
        "List conversations",
        "The caller's own, newest first, 50 at a time.",
        parameters=[{"name": "offset", "in": "query", "schema": offset}],
        responses={
            "200": _json(
                "Conversations.",
                reference("ConversationList"),
                {"conversations": [examples.CONVERSATION], "next": None},
            ),
            **_refused(refusals.Malformed),
        },
    )


def _opening() -> Schema:
    return _operation(
        "get_conversation",
        "Get a conversation",
        "Its turns; access to every source is checked again for this reader.",
        parameters=[_id("conversation_id")],
        responses={
            "200": _json("The conversation.", reference("Conversation")),
            **_refused(refusals.NotFound),
        },
    )


def _erasing() -> Schema:
    return _operation(
        "erase_conversation",
        "Erase a conversation",
        "For good: its turns, their streams, and those that still run.",
        parameters=[_id("conversation_id")],
        responses={
            "204": {"description": "It is gone."},
            **_refused(refusals.Forbidden, refusals.NotFound),
        },
    )


def _usage() -> Schema:
    month = {**TEXT, "pattern": "^[0-9]{4}-[0-9]{2}$"}
    responses = {
        str(status): _json(told, reference("Error"), {"error": {"code": code, "message": told}})
        for status, (code, told) in REFUSALS.items()
        if status in (400, 401, 403, 406, 429, 503)
    }
    row = object_of(
        optional={"slug": nullable(TEXT), "category": nullable(TEXT)},
        month=month,
        id=TEXT,
        title=TEXT,
        answers=NUMBER,
    )
    by: Schema = {"type": "string", "enum": ["article", "category"]}
    found = object_of(**{"from": month, "to": month}, by=by, usage={"type": "array", "items": row})
    example = {
        "from": "2026-01",
        "to": "2026-01",
        "by": "article",
        "usage": [
            {
                "month": "2026-01",
                "id": "17",
                "title": "Set up SSO",
                "answers": 42,
                "slug": "set-up-sso",
                "category": "Security",
            }
        ],
    }
    return {
        "operationId": "usage",
        "tags": [FIGURES],
        "summary": "Usage by citation",
        "description": "How many answers to visitors cited each article or category, by month. "
        "Needs the permission *Can see how often articles were cited*.",
        "security": [{"token": []}, {"session": []}],
        "parameters": [
            {"name": "from", "in": "query", "schema": month},
            {"name": "to", "in": "query", "schema": month},
            {"name": "by", "in": "query", "schema": {**by, "default": "article"}},
        ],
        "responses": {
            "200": _json("The months, the most cited first in each.", found, example),
            **responses,
        },
    }
