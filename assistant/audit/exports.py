"""Answers as rows of a file: CSV for spreadsheets, JSON Lines for programs.

Read in batches by the order of asking, so that a file of any length costs the memory of one
batch, and holds each answer once even while new ones are asked. Who asked is in no column.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from django.db.models import Q, QuerySet

from assistant.answers import with_ledger
from assistant.database import db
from assistant.models import Answer, AnswerDocument
from assistant.reference_numbers import reference_number
from helpcenter.spreadsheets import BOM, csv_line

BATCH = 500

COLUMNS: dict[str, Callable[[Answer], Any]] = {
    "reference": lambda answer: reference_number(answer.pk),
    "id": lambda answer: str(answer.pk),
    "conversation": lambda answer: str(answer.conversation_id),
    "turn": lambda answer: answer.turn,
    "asked": lambda answer: answer.created_at.isoformat(),
    "question": lambda answer: answer.question,
    "answer": lambda answer: answer.text,
    "language": lambda answer: answer.language,
    "asked_by": lambda answer: answer.origin,
    "status": lambda answer: answer.status,
    "error": lambda answer: answer.error_code,
    "grounding": lambda answer: answer.grounding,
    "sources": lambda answer: [document.slug for document in _sources(answer)],
    "rating": lambda answer: _of(answer, "feedback", "rating"),
    "reason": lambda answer: _of(answer, "feedback", "reason"),
    "comment": lambda answer: _of(answer, "feedback", "comment"),
    "verdict": lambda answer: _of(answer, "review", "verdict"),
    "note": lambda answer: _of(answer, "review", "note"),
    "model": lambda answer: answer.model,
    "prompt_version": lambda answer: answer.prompt_version,
    "prompt_tokens": lambda answer: answer.prompt_tokens,
    "completion_tokens": lambda answer: answer.completion_tokens,
    "cost": lambda answer: None if answer.cost is None else str(answer.cost),
    "handed_to_support": lambda answer: getattr(answer, "escalation", None) is not None,
    "seconds_to_first_word": lambda answer: _seconds(answer, "first_token_at"),
    "seconds": lambda answer: _seconds(answer, "finished_at"),
}
"""Each column with what stands in it."""


async def as_csv(answers: QuerySet[Answer]) -> AsyncGenerator[str, None]:
    """The file in pieces: a line of names, then an answer a line."""
    yield BOM + csv_line(COLUMNS)
    async for batch in _batches(answers):
        yield "".join(csv_line(map(_as_cell, row.values())) for row in batch)


async def as_json_lines(answers: QuerySet[Answer]) -> AsyncGenerator[str, None]:
    """The file in pieces: an answer a line, as a JSON object with the columns' names."""
    async for batch in _batches(answers):
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch)


async def _batches(answers: QuerySet[Answer]) -> AsyncGenerator[list[dict[str, Any]], None]:
    # What a list leaves out and adds is not what a file needs.
    whole = with_ledger(answers.defer(None).prefetch_related(None)).select_related("review")
    ordered = whole.order_by("-created_at", "-pk")
    last: Answer | None = None
    while True:
        rows, last = await db(_batch, ordered, last)
        if last is None:
            return
        yield rows


def _batch(
    answers: QuerySet[Answer], last: Answer | None
) -> tuple[list[dict[str, Any]], Answer | None]:
    """The rows of the next answers after `last`, and the last of them; None at the end."""
    if last is not None:
        same_moment = Q(created_at=last.created_at, pk__lt=last.pk)
        answers = answers.filter(Q(created_at__lt=last.created_at) | same_moment)
    found = list(answers[:BATCH])
    rows = [{name: read(answer) for name, read in COLUMNS.items()} for answer in found]
    return rows, found[-1] if found else None


def _as_cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else value


def _sources(answer: Answer) -> list[AnswerDocument]:
    return [document for document in answer.documents.all() if document.consulted]


def _of(answer: Answer, related: str, field: str) -> str:
    found = getattr(answer, related, None)
    return str(getattr(found, field)) if found else ""


def _seconds(answer: Answer, field: str) -> float | None:
    moment = getattr(answer, field)
    return round((moment - answer.created_at).total_seconds(), 3) if moment else None
