"""The chat's part of the OpenAPI schema: plain Django views, described by hand.

A postprocessing hook of drf-spectacular, named in the settings, since the articles' API may
know nothing of the assistant. Shapes come from the dataclasses of `assistant.events`, values
and refusals from the code that sends them; tests hold what is written here to real answers.
"""

from __future__ import annotations

from typing import Any

from articles.models import Rating
from assistant import refusals
from assistant.answers import MAX_PASSAGES
from assistant.events import (
    Delta,
    Done,
    Error,
    Event,
    Html,
    HtmlBlock,
    PassageLink,
    References,
    SourceAdded,
    SourceEntry,
    Started,
    Tool,
)
from assistant.feedback import Reason
from assistant.models import Answer, Grounding
from assistant.openapi_types import fields_of, nullable
from assistant.questions import KEY_LENGTH, SLUG_LENGTH
from assistant.refusals import Refusal

Schema = dict[str, Any]

TAG = "The assistant"
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
ID: Schema = {"type": "string", "format": "uuid"}
TIME: Schema = {"type": "string", "format": "date-time"}
SESSION: list[dict[str, list[str]]] = [{"session": []}, {}]
EVENTS: tuple[type[Event], ...] = (
    Started,
    Tool,
    References,
    Delta,
    Html,
    SourceAdded,
    Done,
    Error,
)
EXAMPLE_ID = "0b9d2b1e-8a63-4f7c-9b0e-3f1c6b1f2a55"
EXAMPLE_CONVERSATION = "5f0e0c8e-54f2-4a59-a7c5-0f1a0d5c4a11"


def add_chat(result: Schema, **_context: Any) -> Schema:
    """Adds the chat's paths and components to the schema of the articles."""
    result["paths"].update(_paths())
    result["components"]["schemas"].update(_components())
    result["tags"].append({"name": TAG})
    return result


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(optional: Schema | None = None, **required: Schema) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def _components() -> dict[str, Schema]:
    events = {f"{event.__name__}Event": _event(event) for event in EVENTS}
    return {
        "Ask": _ask(),
        "AnswerVote": _vote(),
        "ChatPassage": _object(**fields_of(PassageLink)),
        "HtmlBlock": _object(**fields_of(HtmlBlock)),
        "Source": _source(),
        "Answer": _answer(),
        "Conversation": _conversation(),
        "ConversationList": _object(
            conversations=_list(_object(id=ID, title=TEXT, created_at=TIME, updated_at=TIME)),
            next={**nullable(NUMBER), "description": "The `offset` of the next ones."},
        ),
        **events,
        "ChatEvent": {
            "oneOf": [_ref(name) for name in events],
            "description": "The `data` of a server-sent event; its `id` is `seq`, its name `type`.",
        },
    }


def _ask() -> Schema:
    question = {**TEXT, "minLength": 1, "description": "At most 4,000 characters, by default."}
    optional = {
        "key": {
            **nullable(TEXT),
            "maxLength": KEY_LENGTH,
            "description": "Names the send; repeating it joins the same turn. "
            "The header `Idempotency-Key` does the same.",
        },
        "conversation_id": {**nullable(ID), "description": "The conversation to go on with."},
        "article": {
            **nullable(TEXT),
            "maxLength": SLUG_LENGTH,
            "description": "The slug of the page that the visitor asks about.",
        },
        "retry_of": {**nullable(ID), "description": "The answer that this send repeats."},
    }
    return _object(optional, question=question)


def _vote() -> Schema:
    optional = {
        "reason": {**TEXT, "enum": ["", *Reason.values]},
        "comment": {**TEXT, "maxLength": 2000},
    }
    return _object(optional, rating={**TEXT, "enum": Rating.values})


def _source() -> Schema:
    fields = fields_of(SourceEntry)
    optional = {
        "consulted": {**fields.pop("consulted"), "description": "Missing means true."},
        "changed": {**fields.pop("changed"), "description": "It has changed since it was read."},
        "available": {"type": "boolean", "description": "False: this reader may not see it now."},
    }
    fields["visibility"] = nullable(fields["visibility"])
    fields["passages"] = {**_list(_ref("ChatPassage")), "maxItems": MAX_PASSAGES}
    return _object(optional, **fields)


def _answer() -> Schema:
    sources = _list(_ref("Source"))
    feedback = _object(rating=TEXT, reason=TEXT, comment=TEXT)
    optional = {
        "truncated": {**TEXT, "description": "What cut the answer short."},
        "error": _object(code=TEXT, message=TEXT, retryable={"type": "boolean"}),
    }
    return _object(
        optional,
        id=ID,
        conversation_id=ID,
        turn=NUMBER,
        question=TEXT,
        status={**TEXT, "enum": Answer.Status.values},
        text={**TEXT, "description": "Markdown."},
        html={**TEXT, "description": "The text rendered, and safe to show."},
        sources=sources,
        references={**sources, "description": "The same, under the name older clients read."},
        retrieved={**sources, "description": "All that was looked at: activity, never sources."},
        grounding={"type": ["string", "null"], "enum": [*Grounding.values, None]},
        created_at=TIME,
        feedback={"oneOf": [feedback, {"type": "null"}]},
    )


def _conversation() -> Schema:
    return _object(id=ID, created_at=TIME, updated_at=TIME, turns=_list(_ref("Answer")))


def _event(event: type[Event]) -> Schema:
    """The fields of the dataclass, and those that every event has."""
    fields = fields_of(event)
    for name in ("sources", "references"):
        if name in fields:
            fields[name] = _list(_ref("Source"))
    if event is Done:
        fields["references"] = _list(_ref("Source"))
    if event is SourceAdded:
        fields["source"] = _ref("Source")
    if event is Html:
        fields["blocks"] = _list(_ref("HtmlBlock"))
    optional: Schema = {name: fields.pop(name) for name in ("count", "truncated") if name in fields}
    return _object(optional, **{"seq": NUMBER, "answer_id": ID, "conversation_id": ID, **fields})


# Operations


def _paths() -> dict[str, Schema]:
    answer, conversation = "/api/v1/answers/{answer_id}/", "/api/v1/conversations/"
    return {
        "/api/v1/answers/": {"post": _asking()},
        answer: {"get": _get_answer()},
        f"{answer}events/": {"get": _following()},
        f"{answer}stop/": {"post": _stopping()},
        f"{answer}feedback/": {"post": _voting()},
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
        responses.setdefault(str(kind.status), _json(str(kind.message), _ref("Error"), body))
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
    answered = _json("The answer, once it is finished.", _ref("Answer"), _example_answer())
    answered["content"]["text/event-stream"] = {"schema": _ref("ChatEvent")}
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
            "content": {"application/json": {"schema": _ref("Ask"), "example": example}},
        },
        responses={"200": answered, **refused},
    )


def _render() -> Schema:
    description = "`html` streams rendered blocks in place of text."
    return {"name": "render", "in": "query", "schema": TEXT, "description": description}


def _get_answer() -> Schema:
    told = _json("The answer.", _ref("Answer"), _example_answer())
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
    stream = {"text/event-stream": {"schema": _ref("ChatEvent")}}
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
            "200": _json("The answer.", _ref("Answer"), _example_answer()),
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
            "content": {"application/json": {"schema": _ref("AnswerVote"), "example": example}},
        },
        responses={
            "200": _json("The vote, as it is stored.", _ref("AnswerVote"), example),
            **_refused(refusals.InvalidFeedback, refusals.Forbidden, refusals.NotFound),
        },
    )


def _listing() -> Schema:
    offset = {"type": "integer", "minimum": 0, "maximum": 10**9 - 1}
    summary = {
        "id": EXAMPLE_CONVERSATION,
        "title": "How do I import articles?",
        "created_at": "2026-11-17T14:30:00Z",
        "updated_at": "2026-11-17T14:30:05Z",
    }
    return _operation(
        "list_conversations",
        "List conversations",
        "The caller's own, newest first, 50 at a time.",
        parameters=[{"name": "offset", "in": "query", "schema": offset}],
        responses={
            "200": _json(
                "Conversations.",
                _ref("ConversationList"),
                {"conversations": [summary], "next": None},
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
            "200": _json("The conversation.", _ref("Conversation")),
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


def _example_answer() -> Schema:
    source = {
        "id": "12",
        "slug": "import",
        "title": "Import articles",
        "url": "/articles/import/",
        "number": 1,
        "via": "opened",
        "category": "Getting started",
        "visibility": "public",
        "passages": [{"heading": "From a folder", "anchor": "from-a-folder"}],
        "revision": 1,
        "consulted": True,
    }
    return {
        "id": EXAMPLE_ID,
        "conversation_id": EXAMPLE_CONVERSATION,
        "turn": 1,
        "question": "How do I import articles?",
        "status": "completed",
        "text": "Run `manage.py import_articles`.[1](/articles/import/)",
        "html": "<p>Run <code>manage.py import_articles</code>.</p>",
        "sources": [source],
        "references": [source],
        "retrieved": [source],
        "grounding": "grounded",
        "created_at": "2026-11-17T14:30:00Z",
        "feedback": None,
    }
