"""Turns of processes that died: ended as `interrupted`, with all that had been delivered.

What a visitor has seen stands in the log; from it come text and sources. The end goes into
the log first: a process that was only asleep cannot write after it, and gives up. Where the
log has an end already, because the database could not take it, that one is stored.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone, translation

from articles.models import ArticleRevision
from assistant import tokens
from assistant.bill import budgets
from assistant.eventlog import UNREACHABLE, Entry, Note, encoded
from assistant.eventlog.store import Store
from assistant.events import Delta
from assistant.failures import INTERRUPTED
from assistant.models import Answer, AnswerDocument
from assistant.turns.delivered import Delivered
from assistant.turns.persistence import DocumentRecord, End, store_end

ATTEMPTS = 5
"""How often the log is read again because its writer, not dead after all, wrote on."""

_EXPOSURES = {
    "opened": AnswerDocument.Exposure.FULL,
    "excerpt": AnswerDocument.Exposure.EXCERPT,
    "carried": AnswerDocument.Exposure.EXCERPT,
    "listing": AnswerDocument.Exposure.TITLE,
}

logger = logging.getLogger(__name__)


def reap() -> int:
    """Ends the turns that nobody has kept alive. Returns how many. Does nothing while Valkey is
    down: what was delivered stands there."""
    stale = timezone.now() - timedelta(seconds=settings.ASSISTANT_REAPER_SECONDS / 2)
    running = Answer.objects.filter(status=Answer.Status.RUNNING, heartbeat_at__lt=stale)
    languages = dict(running.values_list("pk", "language"))
    try:
        ended = async_to_sync(_end_streams)(languages)
    except UNREACHABLE as error:
        logger.warning("reaping_postponed", extra={"error": type(error).__name__})
        return 0
    reaped = [answer_id for answer_id, entries in ended.items() if _store(answer_id, entries)]
    for answer_id in reaped:
        logger.warning("turn_interrupted", extra={"answer_id": answer_id})
    return len(reaped)


async def _end_streams(languages: dict[uuid.UUID, str]) -> dict[uuid.UUID, list[Entry]]:
    """The entries of each answer, up to an end. Answers whose process still lives are left out:
    only the database did not hear of it."""
    store = Store()
    try:
        dead = languages.keys() - await store.alive(languages)
        return {
            answer_id: await _end_stream(store, answer_id, languages[answer_id])
            for answer_id in dead
        }
    finally:
        await store.aclose()


async def _end_stream(store: Store, answer_id: uuid.UUID, language: str) -> list[Entry]:
    for _attempt in range(ATTEMPTS):
        entries = await store.read(answer_id)
        if not entries or entries[-1].is_last:
            return entries
        end = _interruption(entries, language)
        if not await store.append([(answer_id, end)]):
            return entries + end
    return []


def _interruption(entries: list[Entry], language: str) -> list[Entry]:
    """The events that end what was delivered: the end of its text, if it has any, and an error."""
    delivered = Delivered.of(entries)
    seq = delivered.last_seq
    ends = []
    if delivered.text:
        seq += 1
        ends.append(Entry(seq, "delta", encoded(Delta("")), Note(complete=True).encode()))
    with translation.override(language or None):
        told = {"code": INTERRUPTED.code, "message": str(INTERRUPTED.message), "retryable": True}
    sources = [source for source, _note in delivered.sources.values()]
    error = {"type": "error", **told, "text": delivered.text, "sources": sources}
    return [*ends, Entry(seq + 1, "error", json.dumps(error, ensure_ascii=False))]


def _store(answer_id: uuid.UUID, entries: list[Entry]) -> bool:
    """Stores what the entries say. Without any, the log was lost, and only the end is known."""
    delivered = Delivered.of(entries)
    status, error_code, grounding = delivered.verdict()
    is_stored = store_end(
        End(
            answer_id=answer_id,
            status=status,
            grounding=grounding,
            text=delivered.text,
            last_seq=delivered.last_seq,
            fields={
                "error_code": error_code,
                "allowed_links": delivered.links,
                "allowed_images": delivered.images,
                "completion_tokens": tokens.estimate(delivered.text),
                "usage_estimated": True,
            },
            documents=tuple(_documents(delivered)),
        )
    )
    if is_stored:
        budgets.spend_tokens(tokens.estimate(delivered.text))
    return is_stored


def _documents(delivered: Delivered) -> Iterable[DocumentRecord]:
    """The sources, in the order in which they were told: the rest of the ledger died."""
    sources = [source for source in delivered.sources.values() if source[1].ref is not None]
    revisions = _revisions(source for source, _note in sources)
    for position, (source, note) in enumerate(sources):
        yield DocumentRecord(
            ref=note.ref or 0,
            document_id=source["id"],
            article_id=int(source["id"]),
            revision_id=revisions.get((int(source["id"]), source["revision"])),
            title=source["title"],
            slug=source["slug"],
            exposure=_EXPOSURES[source["via"]],
            via=source["via"],
            carried=source["via"] == "carried",
            cited=source["number"] is not None,
            consulted=True,
            number=source["number"],
            position=position,
        )


def _revisions(sources: Iterable[dict[str, Any]]) -> dict[tuple[int, int], int]:
    ids = [int(source["id"]) for source in sources]
    rows = ArticleRevision.objects.filter(article__in=ids)
    return {
        (article, number): pk for pk, article, number in rows.values_list("pk", "article", "number")
    }
