"""What the reference shows beside the chat's operations. A test holds them to the schema."""

from __future__ import annotations

from typing import Any

ANSWER_ID = "0b9d2b1e-8a63-4f7c-9b0e-3f1c6b1f2a55"
CONVERSATION_ID = "5f0e0c8e-54f2-4a59-a7c5-0f1a0d5c4a11"
CONVERSATION: dict[str, Any] = {
    "id": CONVERSATION_ID,
    "title": "How do I import articles?",
    "created_at": "2026-11-17T14:30:00Z",
    "updated_at": "2026-11-17T14:30:05Z",
}


def answer() -> dict[str, Any]:
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
        "id": ANSWER_ID,
        "conversation_id": CONVERSATION_ID,
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
        "reference": "7K2M-9QXP",
        "escalated": False,
    }
