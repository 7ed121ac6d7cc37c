"""Server-sent events from bytes, as providers really send them.

`EventDecoder.feed` takes the bytes in any slices and returns the data of the events
that are complete: comments, ids and names are left out, CRLF, CR and LF all end a
line, several data lines are one text. Bytes are decoded by whole lines, so a slice
through a character does no harm.
"""

from __future__ import annotations

MAX_EVENT_BYTES = 4_000_000
"""No provider's event is near it; without it one endless line would fill the memory."""


class OversizedEventError(ValueError):
    """The stream holds a line that is no event of any provider."""


class EventDecoder:
    """Turns slices of an event stream into the texts of its `data` fields."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[str] = []
        self._size = 0
        self._after_cr = False
        self._started = False

    def feed(self, data: bytes) -> list[str]:
        if (whole := self._whole_events(data)) is not None:
            return whole
        if self._after_cr or b"\r" in data:
            data = self._with_line_feeds(data)
        first, *rest = data.split(b"\n")
        self._line += first
        if self._size + len(self._line) > MAX_EVENT_BYTES:
            raise OversizedEventError("an event of the provider's stream is too long")
        if not rest:
            return []
        lines = [bytes(self._line), *rest[:-1]]
        self._line = bytearray(rest[-1])
        events: list[str] = []
        for line in lines:
            self._read_line(line, events)
        return events

    def close(self) -> list[str]:
        """The last event of a stream that ended without the empty line behind it."""
        events: list[str] = []
        self._read_line(bytes(self._line), events)
        self._line.clear()
        self._read_line(b"", events)
        return events

    def _whole_events(self, data: bytes) -> list[str] | None:
        """The texts, where nothing came before and these are events of one line: as nearly all
        come. None for anything else."""
        if self._line or self._data or self._size or self._after_cr or not self._started:
            return None
        if b"\r" in data or not data.endswith(b"\n\n") or len(data) > MAX_EVENT_BYTES:
            return None
        events = data[:-2].split(b"\n\n")
        if not all(event.startswith(b"data: ") and b"\n" not in event for event in events):
            return None
        return [event[6:].decode("utf-8", "replace") for event in events]

    def _read_line(self, line: bytes, events: list[str]) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            if self._data:
                events.append("\n".join(self._data))
                self._data = []
            self._size = 0
            return
        self._size += len(line)
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))

    def _with_line_feeds(self, data: bytes) -> bytes:
        """CR and CRLF as LF, also where a slice ended between the two."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class WholeBody:
    """The same for an endpoint that answers with one JSON text instead of a stream."""

    def __init__(self) -> None:
        self._body = bytearray()

    def feed(self, data: bytes) -> list[str]:
        self._body += data
        if len(self._body) > MAX_EVENT_BYTES:
            raise OversizedEventError("the provider's answer is too long")
        return []

    def close(self) -> list[str]:
        return [self._body.decode("utf-8", "replace")]
