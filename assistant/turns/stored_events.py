"""The events of an answer that the log no longer has, made from what is stored.

Not the deltas as they were, but the same text: the whole of it for a client that has
nothing, the rest of it where it is known how much has been delivered, and always the end,
which carries everything.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import translation

from articles.access import Reader
from assistant import events
from assistant.answers import answer_payload, with_ledger
from assistant.eventlog import Entry
from assistant.events import Delta, Html, HtmlBlock, Started
from assistant.models import Answer
from assistant.refusals import NotFound

Payload = dict[str, Any]


@dataclass(slots=True)
class Seen:
    """What a follower has had: up to which position, and whether from the first one on."""

    position: int
    is_whole: bool
    _entries: list[Entry] = field(default_factory=list)

    @classmethod
    def after(cls, cursor: int) -> Seen:
        return cls(cursor, is_whole=not cursor)

    def take(self, entries: Sequence[Entry]) -> None:
        if entries:
            self.position = entries[-1].seq
            if self.is_whole:
                self._entries += entries

    @property
    def characters(self) -> int | None:
        """Of text; None where that is not known. Counted when asked, which few followers are: they
        had to read each word again."""
        if not self.is_whole or any(entry.type == "html" for entry in self._entries):
            return None
        deltas = (entry for entry in self._entries if entry.type == "delta")
        return sum(len(json.loads(entry.body)["text"]) for entry in deltas)


def stored_events(
    answer_id: uuid.UUID, reader: Reader, seen: Seen, *, html: bool
) -> list[Entry] | None:
    """What follows `seen`, up to the end; None while the turn runs. Asks the database."""
    answer = with_ledger(Answer.objects.filter(pk=answer_id)).first()
    if answer is None:
        return [_entry(seen.position + 1, _gone())]
    if answer.status == Answer.Status.RUNNING:
        return None
    if answer.last_seq and seen.position == answer.last_seq:
        return []
    with translation.override(answer.language or None):
        payload = answer_payload(answer, reader)
    last_seq = answer.last_seq or max(seen.position, 2) + 1
    entries = [_entry(last_seq, _end(payload))]
    words = _words(payload, seen, html=html)
    if words is not None and last_seq > seen.position + 1:
        entries.insert(0, _entry(last_seq - 1, words))
    if seen.position == 0:
        started = Started(payload["id"], payload["conversation_id"], answer.turn)
        entries.insert(0, _entry(1, events.payload(started)))
    return entries


def _words(payload: Payload, seen: Seen, *, html: bool) -> Payload | None:
    """The text that is still to be delivered, where that is known."""
    if html and seen.position == 0 and payload["html"]:
        return events.payload(Html((HtmlBlock(0, payload["html"], final=True),)))
    delivered = None if html else seen.characters
    if delivered is None or delivered >= len(payload["text"]):
        return None
    return events.payload(Delta(payload["text"][delivered:]))


def _end(payload: Payload) -> Payload:
    if "error" in payload:
        told = {name: payload["error"][name] for name in ("code", "message", "retryable")}
        return {"type": "error", **told, "text": payload["text"], "sources": payload["sources"]}
    names = ("status", "text", "html", "sources", "references", "grounding", "truncated")
    return {"type": "done", **{name: payload[name] for name in names if name in payload}}


def _gone() -> Payload:
    """The answer was deleted while somebody followed it."""
    return events.payload(events.Error(NotFound.code, str(NotFound.message), retryable=False))


def _entry(seq: int, payload: Payload) -> Entry:
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return Entry(seq, payload["type"], body)
