"""What of an answer has been delivered, put together from its events in the log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from assistant.eventlog import Entry, Note
from assistant.failures import INTERRUPTED
from assistant.models import Answer, Grounding
from assistant.rendering.answer_html import answer_html


@dataclass(slots=True)
class Delivered:
    """`sources`: by document, each as its last event told it, with that event's note.
    `end`: the payload of `done` or `error`, None while there is none."""

    text: str = ""
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    sources: dict[str, tuple[dict[str, Any], Note]] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    last_seq: int = 0

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Delivered:
        delivered = cls()
        for entry in entries:
            delivered.last_seq = entry.seq
            delivered._take(entry)
        return delivered

    def payload(self) -> dict[str, Any]:
        """The fields of an answer that grow while it is written; and its end, if it has one."""
        sources = [source for source, _note in self.sources.values()]
        html = answer_html(self.text, sources, self.links, self.images)
        growing = {"text": self.text, "html": html, "sources": sources, "references": sources}
        return growing | self._ending() if self.end else growing

    def verdict(self) -> tuple[str, str, str]:
        """Status, error code and grounding, as the visitor was told; without an end, those of a
        turn that was interrupted."""
        if self.end is None or self.end.get("code") == INTERRUPTED.code:
            return Answer.Status.INTERRUPTED, INTERRUPTED.code, Grounding.UNAVAILABLE
        if self.end["type"] == "error":
            return Answer.Status.FAILED, "not_saved", Grounding.UNAVAILABLE
        return self.end["status"], "", self.end["grounding"]

    def _ending(self) -> dict[str, Any]:
        """What the log's end says, for the moment in which the database does not have it yet."""
        end = self.end or {}
        status, error_code, grounding = self.verdict()
        told = {"status": status, "grounding": grounding, "text": end["text"]}
        if error_code:
            error = {name: end[name] for name in ("code", "message", "retryable")}
            return {**told, "error": error}
        return told | {name: end[name] for name in ("html", "truncated") if name in end}

    def _take(self, entry: Entry) -> None:
        payload, note = json.loads(entry.body), Note.decode(entry.note)
        if entry.type == "delta":
            self.text += payload["text"]
            self.links += note.links
            self.images += note.images
        elif entry.type == "source":
            self.sources[payload["source"]["id"]] = (payload["source"], note)
        elif entry.is_last:
            self.end = payload
