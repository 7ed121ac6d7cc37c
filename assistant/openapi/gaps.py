"""The addresses of the documentation gaps: what they take, give and refuse."""

from __future__ import annotations

from collections.abc import Iterable

from articles.api.schema import REFUSALS
from assistant.gaps_api import COMMENT_LENGTH, SETTABLE
from assistant.models import GapTopic
from assistant.openapi.schemas import (
    NUMBER,
    TEXT,
    TIME,
    Schema,
    list_of,
    nullable,
    object_of,
    reference,
)

TAG = "Figures"
REFUSED = (400, 401, 403, 406, 429, 503)
CHANGE_REFUSED = (*REFUSED, 404, 409, 411, 413, 415)

EXAMPLE = {
    "id": 12,
    "topic": "Does it support SSO with Okta?",
    "kind": "gap",
    "language": "en",
    "status": "open",
    "dismissed_as": "",
    "assignee": None,
    "due_on": None,
    "article": None,
    "impact": 12.0,
    "questions": 9,
    "askers": 6,
    "last_7_days": 5,
    "7_days_before": 2,
    "rated": 2,
    "rated_negative": 0,
    "first_asked": "2026-01-05T09:30:00+00:00",
    "last_asked": "2026-01-19T14:02:00+00:00",
    "url": "https://help.example.com/admin/assistant/gaptopic/12/change/",
}


def listing() -> Schema:
    statuses = {"type": "string", "enum": ["todo", "all", *GapTopic.Status.values]}
    kinds = {"type": "string", "enum": list(GapTopic.Kind.values)}
    offset = {"type": "integer", "minimum": 0, "maximum": 999_999_999, "default": 0}
    return {
        "operationId": "gaps",
        "tags": [TAG],
        "summary": "Documentation gaps",
        "description": "The topics that visitors asked about and no article answered, the greatest "
        "impact first, 100 at a time. Needs the permission *Can view documentation gap*.",
        "security": [{"token": []}, {"session": []}],
        "parameters": [
            {"name": "status", "in": "query", "schema": {**statuses, "default": "todo"}},
            {"name": "kind", "in": "query", "schema": kinds},
            {"name": "offset", "in": "query", "schema": offset},
        ],
        "responses": {
            "200": {
                "description": "The topics, and where the next ones begin.",
                "content": {
                    "application/json": {
                        "schema": object_of(gaps=list_of(_row()), next_offset=nullable(NUMBER)),
                        "example": {"gaps": [EXAMPLE], "next_offset": None},
                    }
                },
            },
            **_refused(REFUSED),
        },
    }


def changing() -> Schema:
    body = object_of(
        {
            "status": {"type": "string", "enum": [str(status) for status in SETTABLE]},
            "dismissed_as": {"type": "string", "enum": list(GapTopic.Reason.values)},
            "assignee": nullable({**TEXT, "description": "The name of who may work the queue."}),
            "due_on": nullable({**TEXT, "format": "date"}),
            "comment": {**TEXT, "minLength": 1, "maxLength": COMMENT_LENGTH},
        }
    )
    example = {"status": "dismissed", "dismissed_as": "product_gap", "comment": "See #381."}
    topic_id = {"name": "topic_id", "in": "path", "required": True, "schema": NUMBER}
    return {
        "operationId": "change_gap",
        "tags": [TAG],
        "summary": "Change a documentation gap",
        "description": "Sets what is sent. `claimed` without an assignee is claimed for the "
        "token's user; `dismissed` comes with `dismissed_as`. It stands in the topic's history, "
        "and they can undo it in the admin. Needs the permission *Can change documentation gap*.",
        "security": [{"token": []}],
        "parameters": [topic_id],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {**body, "additionalProperties": False},
                    "example": example,
                }
            },
        },
        "responses": {
            "200": {
                "description": "The topic as it is now.",
                "content": {"application/json": {"schema": _row(), "example": EXAMPLE}},
            },
            **_refused(CHANGE_REFUSED),
        },
    }


def _refused(statuses: Iterable[int]) -> Schema:
    return {
        str(status): {
            "description": told,
            "content": {
                "application/json": {
                    "schema": reference("Error"),
                    "example": {"error": {"code": code, "message": told}},
                }
            },
        }
        for status, (code, told) in REFUSALS.items()
        if status in set(statuses)
    }


def _row() -> Schema:
    shapes: dict[str, Schema] = {
        name: NUMBER if isinstance(value, int) else TEXT for name, value in EXAMPLE.items()
    }
    shapes |= {
        "impact": {"type": "number"},
        "assignee": nullable(TEXT),
        "due_on": nullable({**TEXT, "format": "date"}),
        "article": nullable(NUMBER),
        "first_asked": TIME,
        "last_asked": TIME,
    }
    return object_of(**shapes)
