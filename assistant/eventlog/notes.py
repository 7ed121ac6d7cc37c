"""What the log keeps beside an event for those who render or repair the answer.

Clients never see it. With it any process can make the same HTML from the same deltas, and
the ledger of a turn whose process died can be put together from the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Of the beginning: the answer's language. Of a delta: the addresses that the writer let
    through in it, and whether it is the last text. Of a source: its reference in the
    conversation."""

    language: str = ""
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    complete: bool = False
    ref: int | None = None

    def __add__(self, later: Note) -> Note:
        """The note of two deltas that became one."""
        if later is NOTHING:
            return self
        return Note(
            links=self.links + later.links,
            images=self.images + later.images,
            complete=self.complete or later.complete,
        )

    def encode(self) -> str:
        """JSON without what is empty; the empty text for a note that says nothing."""
        if self is NOTHING:
            return ""
        says = {
            "language": self.language,
            "links": self.links,
            "images": self.images,
            "complete": self.complete,
            "ref": self.ref,
        }
        kept = {name: value for name, value in says.items() if value}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if kept else ""

    @classmethod
    def decode(cls, text: str) -> Note:
        if not text:
            return NOTHING
        said = json.loads(text)
        return cls(
            language=said.get("language", ""),
            links=tuple(said.get("links", ())),
            images=tuple(said.get("images", ())),
            complete=said.get("complete", False),
            ref=said.get("ref"),
        )


NOTHING = Note()
