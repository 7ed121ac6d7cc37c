"""How a turn's end is stored: all of it in one transaction, or nothing.

Only a row that is still running takes an end, so of two processes that both believe a turn
to be theirs one stores it, and the other is told.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from articles.models import Article, ArticleRevision
from assistant.agent import CallRecord
from assistant.article_facts import PassageRead
from assistant.models import (
    Answer,
    AnswerDocument,
    AnswerPassage,
    Conversation,
    DroppedCitation,
    ToolCall,
)
from assistant.support.records import judge_on_commit


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document of the ledger, as it is stored."""

    ref: int
    document_id: str
    article_id: int | None
    revision_id: int | None
    title: str
    slug: str
    exposure: str
    via: str
    carried: bool = False
    cited: bool = False
    linked: bool = False
    consulted: bool = False
    number: int | None = None
    position: int | None = None
    passages: tuple[PassageRead, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """What is stored when a turn has ended. `fields`: columns of `Answer`, as they are named.
    `begun_at`: from when the calls' times count."""

    answer_id: uuid.UUID
    status: str
    grounding: str
    text: str
    last_seq: int
    fields: dict[str, Any]
    documents: tuple[DocumentRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    begun_at: datetime | None = None


def store_end(end: End) -> bool:
    """Stores the end of a turn. False where the turn has ended already or was deleted."""
    with transaction.atomic():
        running = Answer.objects.filter(pk=end.answer_id, status=Answer.Status.RUNNING)
        fields = {name: _storable(value) for name, value in end.fields.items()}
        ended = running.update(
            status=end.status,
            grounding=end.grounding,
            text=_storable(end.text),
            last_seq=end.last_seq,
            finished_at=timezone.now(),
            **fields,
        )
        if ended:
            _store_parts(end)
            conversation = Conversation.objects.filter(answers=end.answer_id)
            conversation.update(updated_at=timezone.now())
    return bool(ended)


def _store_parts(end: End) -> None:
    _store_documents(end)
    ToolCall.objects.bulk_create(_tool_call(end, call) for call in end.calls)
    DroppedCitation.objects.bulk_create(
        DroppedCitation(
            answer_id=end.answer_id, position=position, text=_storable(text), reason=reason
        )
        for position, (text, reason) in enumerate(end.dropped)
    )


def _store_documents(end: End) -> None:
    """Articles and revisions may have been deleted while the turn ran: the snapshot stays."""
    articles = _existing(Article, {record.article_id for record in end.documents})
    revisions = _existing(ArticleRevision, {record.revision_id for record in end.documents})
    documents = AnswerDocument.objects.bulk_create(
        AnswerDocument(
            answer_id=end.answer_id,
            ref=record.ref,
            article_id=record.article_id if record.article_id in articles else None,
            revision_id=record.revision_id if record.revision_id in revisions else None,
            document_id=record.document_id,
            title=record.title[:250],
            slug=record.slug,
            exposure=record.exposure,
            via=record.via,
            carried=record.carried,
            cited=record.cited,
            linked=record.linked,
            consulted=record.consulted,
            number=record.number,
            position=record.position,
        )
        for record in end.documents
    )
    AnswerPassage.objects.bulk_create(
        AnswerPassage(
            document=document,
            position=position,
            heading=passage.heading,
            anchor=passage.anchor[:200],
            text=passage.text,
        )
        for document, record in zip(documents, end.documents, strict=True)
        for position, passage in enumerate(record.passages)
    )
    judge_on_commit(end.answer_id, documents)


def _existing(model: type[Model], ids: set[int | None]) -> set[int]:
    return set(model._default_manager.filter(pk__in=ids - {None}).values_list("pk", flat=True))


def _tool_call(end: End, call: CallRecord) -> ToolCall:
    after = timedelta(milliseconds=call.after_ms)
    return ToolCall(
        answer_id=end.answer_id,
        position=call.position,
        round=call.round,
        call_id=_storable(call.call_id)[:100],
        name=_storable(call.name)[:60],
        arguments=_storable(call.arguments),
        result=_storable(call.result),
        count=call.count,
        error=_storable(call.error)[:300],
        began_at=end.begun_at + after if end.begun_at else None,
        duration_ms=call.duration_ms,
    )


def _storable(value: Any) -> Any:
    """A text as the database can hold it: models may write anything into a call's arguments."""
    if not isinstance(value, str):
        return value
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
