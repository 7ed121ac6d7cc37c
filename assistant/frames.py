"""How an entry of the log is written for clients: one JSON object, the same on every transport."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable

from assistant.eventlog import Entry

KEEP_ALIVE = b": keep-alive\n\n"


class Encoder:
    """Writes the events of one answer. Each names its answer and conversation, because several
    may be under way on one socket."""

    def __init__(self, answer_id: uuid.UUID, conversation_id: uuid.UUID) -> None:
        names = {"answer_id": str(answer_id), "conversation_id": str(conversation_id)}
        self._names = json.dumps(names, separators=(",", ":"))[1:-1]

    def json(self, entry: Entry) -> str:
        names = "" if entry.type == "started" else f"{self._names},"
        return f'{{"seq":{entry.seq},{names}{entry.body[1:]}'

    def sse(self, entries: Iterable[Entry]) -> bytes:
        """A batch as server-sent events; a comment for an empty one."""
        events = [
            f"id: {entry.seq}\nevent: {entry.type}\ndata: {self.json(entry)}\n\n"
            for entry in entries
        ]
        return "".join(events).encode() or KEEP_ALIVE
