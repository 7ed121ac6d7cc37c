"""What a turn delivers: its events go into the log, with the notes that rendering needs."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from assistant.agent import TurnEvent
from assistant.eventlog import Note, Writer
from assistant.events import Delta, Done, Error, SourceAdded, Started
from assistant.turns.conclusion import Ending
from assistant.turns.preparation import Work
from assistant.turns.sending import Opened


class Output:
    """The writing end of an answer, and what has gone into it."""

    def __init__(self, writer: Writer) -> None:
        self.first_token_at: datetime | None = None
        self._writer = writer
        self._text: list[str] = []
        self._links: set[str] = set()
        self._images: set[str] = set()
        self._told: dict[str, int | None] = {}

    @property
    def text(self) -> str:
        return "".join(self._text)

    def begin(self, opened: Opened, language: str) -> None:
        started = Started(str(opened.answer_id), str(opened.conversation_id), opened.turn)
        self._writer.append(started, Note(language=language))

    def take(self, event: TurnEvent, work: Work) -> None:
        match event:
            case Delta():
                self._append_text(event, work)
            case SourceAdded(source):
                self._told[source.id] = source.number
                self._writer.append(event, Note(ref=work.toolbox.refs[source.id]))
            case _:
                self._writer.append(event)

    def close_text(self, work: Work, ending: Ending, apology: str) -> None:
        """Ends the text of a turn that did not end it itself. What the model had not decided,
        a citation that is half written, is left out. `apology`: what is said in place of a
        first word that a filter kept back."""
        if ending.truncated == "content_filter" and not self.text:
            rest = work.writer.feed(apology) + work.writer.close()
        else:
            rest = work.writer.stop()
        for source in map(work.toolbox.describe, work.ledger.earned()):
            if source.consulted and self._told.get(source.id, 0) != source.number:
                self.take(SourceAdded(source), work)
        if rest:
            self.take(Delta(rest), work)

    async def complete(self) -> int:
        """Waits until all the text is out. Returns the number that the last event will have."""
        self._writer.complete_text()
        return await self._writer.settle() + 1

    async def end(self, event: Done | Error) -> None:
        self._writer.append(event)
        await self._writer.settle()

    def _append_text(self, delta: Delta, work: Work) -> None:
        if self.first_token_at is None:
            self.first_token_at = timezone.now()
        self._text.append(delta.text)
        ledger = work.ledger
        if len(ledger.links) == len(self._links) and len(ledger.images) == len(self._images):
            self._writer.append(delta)
            return
        links, images = ledger.links - self._links, ledger.images - self._images
        self._links |= links
        self._images |= images
        self._writer.append(delta, Note(links=tuple(sorted(links)), images=tuple(sorted(images))))
