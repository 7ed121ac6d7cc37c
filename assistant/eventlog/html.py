"""A feed whose deltas are `html` events: rendered once per answer and process, if anybody asks.

It is made from the entries alone, so any process gives the same finished blocks under the
same `seq`. A finished block stands under the delta that finished it; the unfinished one under
the last delta of a quarter of a second. Until that time is up, entries are held back, so
that whoever has seen entry n has seen all the text up to n, and a resumed page misses nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import translation

from articles.markup.answer_rendering import Citation, Registered
from articles.markup.answer_streaming import Block, BlockRenderer
from assistant.eventlog.feed import DerivedFeed, Entry, Feed
from assistant.eventlog.notes import Note
from assistant.eventlog.writing import encoded
from assistant.events import Html, HtmlBlock
from assistant.rendering.answer_html import citation
from assistant.rendering.inert_code import InertCode

PREVIEW_SECONDS = 0.25

logger = logging.getLogger(__name__)


def html_feed(source: Feed) -> DerivedFeed:
    """The one rendering of `source` in this process."""
    if source.derived is None:
        source.derived = HtmlFeed(source)
    return source.derived


@dataclass(slots=True)
class _Held:
    """An entry that waits; `blocks` are those that a delta finished."""

    entry: Entry
    blocks: list[Block] | None = None


class HtmlFeed(DerivedFeed):
    """Follows `source`, the feed of an answer as it was written."""

    def __init__(self, source: Feed) -> None:
        super().__init__(source.answer_id)
        self._source = source
        self._language: str | None = None
        self._links: set[str] = set()
        self._images: set[str] = set()
        self._citations: dict[int, Citation] = {}
        self._inert_code = InertCode()
        self._renderer = BlockRenderer(self._registered)
        self._complete = False
        self._held: list[_Held] = []
        self._previewed = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self.advance()

    def advance(self) -> None:
        """Takes what is new in the source. A rendering that fails is lost, and nothing else is."""
        try:
            for entry in self._source.entries[len(self.entries) + len(self._held) :]:
                self._take(entry)
            self._release_in_time()
        except Exception:
            logger.exception("html_feed_failed", extra={"answer_id": self.answer_id})
            self.lose()
        if self._source.lost:
            self.lose()

    def _take(self, entry: Entry) -> None:
        note = Note.decode(entry.note)
        self._language = note.language or self._language
        held = _Held(entry)
        if entry.type == "source":
            self._register(entry)
        elif entry.type == "delta":
            self._links.update(note.links)
            self._images.update(note.images)
            held.blocks = self._render(json.loads(entry.body)["text"], note.complete)
        self._held.append(held)

    def _register(self, entry: Entry) -> None:
        source = json.loads(entry.body)["source"]
        if source["number"]:
            self._citations[source["number"]] = citation(source)

    def _registered(self) -> Registered:
        return Registered(frozenset(self._links), frozenset(self._images), self._citations)

    def _render(self, text: str, complete: bool) -> list[Block]:
        self._complete = complete
        with translation.override(self._language):
            text = self._inert_code.feed(text)
            if not complete:
                return self._renderer.feed(text)
            text += self._inert_code.close()
            return self._renderer.feed(text) + self._renderer.close()

    def _release_in_time(self) -> None:
        if not self._held:
            return
        last_delta = next((held for held in reversed(self._held) if held.blocks is not None), None)
        if last_delta is None or self._complete:
            self._release()
        elif (left := self._previewed + PREVIEW_SECONDS - self._now()) <= 0:
            self._preview(last_delta)
            self._release()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(left, self._time_is_up)

    def _time_is_up(self) -> None:
        self._timer = None
        self.advance()

    def _preview(self, held: _Held) -> None:
        with translation.override(self._language):
            unfinished = self._renderer.pending()
        if unfinished is not None and held.blocks is not None:
            held.blocks.append(unfinished)
        self._previewed = self._now()

    def _release(self) -> None:
        held, self._held = self._held, []
        self.deliver([_entry(waiting) for waiting in held])

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _entry(held: _Held) -> Entry:
    if held.blocks is None:
        return held.entry
    event = Html(tuple(_wire(held.blocks)))
    return Entry(held.entry.seq, event.type, encoded(event))


def _wire(blocks: Iterable[Block]) -> Iterable[HtmlBlock]:
    return (HtmlBlock(block.block, block.html, block.final) for block in blocks)
