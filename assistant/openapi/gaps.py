"""The address of the documentation gaps: what it takes, gives and refuses."""

from __future__ import annotations

from articles.api.schema import REFUSALS
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


def operation() -> Schema:
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
            **{
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
                if status in REFUSED
            },
        },
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
