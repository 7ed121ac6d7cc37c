"""What of an answer has been delivered, put together from its events in the log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from assistant.eventlog import Entry, Note
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
        """The fields of an answer that grow while it is written."""
        sources = [source for source, _note in self.sources.values()]
        html = answer_html(self.text, sources, self.links, self.images)
        return {"text": self.text, "html": html, "sources": sources, "references": sources}

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
