"""Rendered blocks in place of deltas: once per answer, four times a second, the same anywhere."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable

import pytest
from django.utils import translation

from articles.markup.answer_streaming import Block, BlockRenderer
from assistant.eventlog import Entry, EventLog, LostError, Note, Writer
from assistant.eventlog import html as html_module
from assistant.eventlog.html import html_feed
from assistant.events import Delta, Done, SourceAdded, SourceEntry, Started, Tool
from tests.streams import Event, html_of

ANSWER = uuid.uuid4()
SOURCE = SourceEntry("1", "sso", "Set up SSO", "/articles/sso/", 1, True, "opened")


def run(test: Callable[[EventLog], Awaitable[None]]) -> None:
    async def body() -> None:
        log = EventLog()
        try:
            await asyncio.wait_for(test(log), 20)
        finally:
            await log.aclose()

    asyncio.run(body())


def begin(log: EventLog, language: str = "en") -> Writer:
    writer = log.open(ANSWER, lambda: None)
    writer.append(Started(str(ANSWER), str(uuid.uuid4()), 1), Note(language=language))
    return writer


async def said(writer: Writer, *texts: str) -> None:
    for text in texts:
        writer.append(Delta(text))
        await writer.settle()


async def finished(writer: Writer) -> None:
    writer.complete_text()
    writer.append(Done("completed", "", "", (), "grounded"))
    await writer.settle()


def events(entries: list[Entry]) -> list[Event]:
    return [{"seq": entry.seq, **json.loads(entry.body)} for entry in entries]


async def read(log: EventLog, after: int = 0) -> list[Event]:
    batches = log.follow(ANSWER, after, html=True)
    return events([entry async for batch in batches for entry in batch])


def test_unfinished_blocks_wait_for_a_quarter_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(html_module.HtmlFeed, "_now", staticmethod(lambda: now))

    async def test(log: EventLog) -> None:
        nonlocal now
        writer = begin(log)
        feed = html_feed(writer.feed)
        await said(writer, "One ", "two ", "three ")
        first = events(feed.entries)
        assert [event["blocks"] for event in first if event["type"] == "html"] == [
            [{"block": 0, "html": "<p>One</p>\n", "final": False}]
        ], "the first is shown at once, the next ones wait"
        now += 0.3
        await said(writer, "four ")
        blocks = [event["blocks"] for event in events(feed.entries) if event["type"] == "html"]
        assert blocks[1:3] == [[], []]
        assert blocks[3][0]["html"] == "<p>One two three four</p>\n"
        assert [entry.seq for entry in feed.entries] == [1, 2, 3, 4, 5]

    run(test)


def test_what_waits_is_shown_when_the_time_is_up_though_nothing_comes() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        following = log.follow(ANSWER, html=True)
        await said(writer, "One ", "two")
        seen: list[Event] = []
        while html_of(seen) != "<p>One two</p>\n":
            seen += events(await anext(following))
        await following.aclose()

    run(test)


def test_other_events_keep_their_place_behind_what_waits() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        feed = html_feed(writer.feed)
        await said(writer, "One ", "two ")
        writer.append(Tool("a", "search_articles", "Searching", "running"))
        await writer.settle()
        assert len(feed.entries) < len(writer.feed.entries)
        await finished(writer)
        assert [entry.seq for entry in feed.entries] == [1, 2, 3, 4, 5, 6]
        assert [entry.type for entry in feed.entries][3:] == ["tool", "html", "done"]

    run(test)


def test_the_end_of_the_text_finishes_the_last_block_at_once() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        writer.append(SourceAdded(SOURCE), Note(ref=1))
        await said(writer, "First.\n\n", "See ", "[1].")
        await finished(writer)
        whole = await read(log)
        assert html_of(whole).count("<p>") == 2
        assert 'href="/articles/sso/"' in html_of(whole)
        finals = [block for event in whole for block in event.get("blocks", ()) if block["final"]]
        assert [block["block"] for block in finals] == [0, 1]

    run(test)


def test_only_what_was_let_through_becomes_a_link() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        writer.append(Delta("[a](https://a.example/) "), Note(links=("https://a.example/",)))
        writer.append(Delta("[b](https://b.example/)"))
        await finished(writer)
        page = html_of(await read(log))
        assert 'href="https://a.example/"' in page
        assert "b.example" not in page

    run(test)


def test_it_is_rendered_once_for_all_who_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = 0
    render = BlockRenderer.feed

    def counted(self: BlockRenderer, delta: str) -> list[Block]:
        nonlocal rendered
        rendered += 1
        return render(self, delta)

    monkeypatch.setattr(BlockRenderer, "feed", counted)

    async def test(log: EventLog) -> None:
        writer = begin(log)
        followers = [asyncio.create_task(read(log)) for _ in range(5)]
        await asyncio.sleep(0)
        await said(writer, "One.\n\n", "Two.")
        await finished(writer)
        pages = await asyncio.gather(*followers)
        assert all(page == pages[0] for page in pages)
        assert rendered == len([e for e in writer.feed.entries if e.type == "delta"])

    run(test)


def test_nobody_who_asks_for_it_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_module, "HtmlFeed", None)

    async def test(log: EventLog) -> None:
        writer = begin(log)
        await said(writer, "One.")
        await finished(writer)

    run(test)


def test_a_rendering_that_fails_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: BlockRenderer, delta: str) -> list[Block]:
        raise RuntimeError

    monkeypatch.setattr(BlockRenderer, "feed", broken)

    async def test(log: EventLog) -> None:
        writer = begin(log)
        page = asyncio.create_task(read(log))
        text = log.follow(ANSWER)
        await said(writer, "One.")
        with pytest.raises(LostError):
            await page
        await finished(writer)
        assert [entry.type async for batch in text for entry in batch][-1] == "done"

    run(test)


def test_a_feed_that_is_lost_loses_its_page() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await said(writer, "One.")
        page = asyncio.create_task(read(log))
        await asyncio.sleep(0)
        log.close(writer)
        with pytest.raises(LostError):
            await page

    run(test)


def test_the_words_of_the_page_are_in_the_answers_language() -> None:
    seen: list[str | None] = []

    def language(self: BlockRenderer, delta: str) -> list[Block]:
        seen.append(translation.get_language())
        return []

    async def test(log: EventLog) -> None:
        writer = begin(log, language="de")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BlockRenderer, "feed", language)
            html_feed(writer.feed)
            await said(writer, "Eins.")

    run(test)
    assert seen == ["de"]
