"""The event log: append, then deliver; any process can resume; Valkey may go away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings

from assistant.eventlog import Entry, EventLog, LostError, Note, Writer, writing
from assistant.eventlog import log as log_module
from assistant.eventlog import store as store_module
from assistant.events import Delta, Done, Started
from helpcenter.embedded.valkey import Valkey

ANSWER = uuid.uuid4()


@asynccontextmanager
async def event_logs(number: int = 1) -> AsyncGenerator[list[EventLog], None]:
    """Logs that share nothing but Valkey, as those of separate processes."""
    logs = [EventLog() for _ in range(number)]
    try:
        yield logs
    finally:
        for log in logs:
            await log.aclose()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A socket's path has to be short; those of pytest's folders are not."""
    with tempfile.TemporaryDirectory(prefix="hc-") as folder:
        yield Path(folder)


def run(test: Callable[..., Awaitable[None]], logs: int = 1) -> None:
    async def body() -> None:
        async with event_logs(logs) as opened:
            await asyncio.wait_for(test(*opened), 20)

    asyncio.run(body())


def refuse() -> None:
    raise AssertionError("nobody else ends this answer")


def begin(log: EventLog, answer_id: uuid.UUID = ANSWER) -> Writer:
    writer = log.open(answer_id, refuse)
    writer.append(Started(str(answer_id), str(uuid.uuid4()), 1))
    return writer


def write_all(writer: Writer, *texts: str) -> None:
    for text in texts:
        writer.append(Delta(text))
    writer.append(Done("completed", "".join(texts), "", (), "grounded"))


async def read(log: EventLog, after: int = 0, answer_id: uuid.UUID = ANSWER) -> list[Entry]:
    """All that follows, to the end of the answer."""
    return [entry async for batch in log.follow(answer_id, after) for entry in batch]


def text_of(entries: list[Entry]) -> str:
    return "".join(json.loads(e.body)["text"] for e in entries if e.type == "delta")


def seqs(entries: list[Entry]) -> list[int]:
    return [entry.seq for entry in entries]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(15):
        while not condition():  # noqa: ASYNC110, tests look at state that has no event
            await asyncio.sleep(0.005)


def test_events_are_numbered_and_end_with_the_answer() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        reading = asyncio.create_task(read(log))
        await writer.settle()
        write_all(writer, "Hel", "lo")
        entries = await reading
        assert seqs(entries) == list(range(1, len(entries) + 1))
        assert [entries[0].type, entries[-1].type] == ["started", "done"]
        assert text_of(entries) == "Hello"

    run(test)


def test_words_that_wait_together_go_out_as_one_delta() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await writer.settle()
        for word in ("a", "b", "c"):
            writer.append(Delta(word), Note(links=(word,)))
        await writer.settle()
        deltas = [entry for entry in writer.feed.entries if entry.type == "delta"]
        assert [json.loads(delta.body)["text"] for delta in deltas] == ["abc"]
        assert Note.decode(deltas[0].note).links == ("a", "b", "c")

    run(test)


def test_the_end_of_the_text_is_an_empty_delta_unless_one_is_waiting() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        writer.complete_text()
        await writer.settle()
        assert seqs(writer.feed.entries) == [1], "an answer without words has no text to end"
        writer.append(Delta("word"))
        await writer.settle()
        writer.complete_text()
        await writer.settle()
        last = writer.feed.entries[-1]
        assert json.loads(last.body) == {"type": "delta", "text": ""}
        assert Note.decode(last.note) == Note(complete=True)

    run(test)


def test_another_process_resumes_at_every_cursor() -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        for word in ["one", "two", "three", "four"]:
            writer.append(Delta(word + " "))
            await writer.settle()
        writer.append(Done("completed", "one two three four ", "", (), "grounded"))
        whole = await read(here)
        here.close(writer)
        for cursor in range(len(whole) + 1):
            assert await read(there, cursor) == whole[cursor:]

    run(test, logs=2)


def test_another_process_follows_a_live_answer() -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        await writer.settle()
        readings = [asyncio.create_task(read(there, after)) for after in (0, 0, 1)]
        await until(lambda: there._tail.feeds())
        write_all(writer, *"abcdefgh")
        first, second, later = [await reading for reading in readings]
        assert text_of(first) == "abcdefgh"
        assert second == first
        assert later == first[1:]
        await until(lambda: not there._tail.feeds())

    run(test, logs=2)


def test_a_follower_joins_while_the_reader_waits_for_another_answer() -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        other = uuid.uuid4()
        writers = [begin(here), begin(here, other)]
        for writer in writers:
            await writer.settle()
        first = asyncio.create_task(read(there))
        await until(lambda: len(there._tail.feeds()) == 1)
        second = asyncio.create_task(read(there, 0, other))
        await until(lambda: len(there._tail.feeds()) == 2)
        write_all(writers[1], "second")
        assert text_of(await second) == "second"
        write_all(writers[0], "first")
        assert text_of(await first) == "first"

    run(test, logs=2)


def test_a_slow_follower_gets_everything_and_holds_up_nobody() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        slow = log.follow(ANSWER)
        assert seqs(await anext(slow)) == [1]
        write_all(writer, *(f"{number} " for number in range(2000)))
        quick = await read(log)
        rest = [entry async for batch in slow for entry in batch]
        assert rest == quick[1:]

    run(test)


def test_a_cursor_at_the_end_gets_nothing_and_one_beyond_it_gets_the_end() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        write_all(writer, "word")
        last = await writer.settle()
        assert await read(log, last) == []
        assert seqs(await read(log, last + 500)) == [last]

    run(test)


def test_a_cursor_beyond_a_live_answer_gets_what_comes() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await writer.settle()
        ahead = asyncio.create_task(read(log, 900))
        await until(lambda: writer.feed._waiting)
        write_all(writer, "word")
        assert text_of(await ahead) == "word"

    run(test)


def test_silence_gives_empty_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "HEARTBEAT_SECONDS", 0.0)

    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        await writer.settle()
        for log in (here, there):
            for html in (False, True):
                async with contextlib.aclosing(log.follow(ANSWER, html=html)) as batches:
                    assert seqs(await anext(batches)) == [1]
                    assert await anext(batches) == []

    run(test, logs=2)


def test_an_unknown_answer_is_lost_at_once() -> None:
    async def test(log: EventLog) -> None:
        with pytest.raises(LostError):
            await read(log, 0, uuid.uuid4())

    run(test)


def test_a_stream_without_its_beginning_is_lost(valkey_client: redis.Redis) -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        write_all(writer, "a")
        await writer.settle()
        valkey_client.xdel(f"answer:{ANSWER}:events", "1-0")
        with pytest.raises(LostError):
            await read(there)

    run(test, logs=2)


def test_every_key_expires(valkey_client: redis.Redis) -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await log.store.request_stop(ANSWER)
        await writer.settle()
        assert len(valkey_client.keys("answer:*")) == 2
        for key in valkey_client.scan_iter("answer:*"):
            assert 0 < valkey_client.ttl(key) <= store_module.STREAM_SECONDS
        write_all(writer, "a")
        await writer.settle()
        assert valkey_client.ttl(f"answer:{ANSWER}:events") > store_module.STREAM_SECONDS - 5

    run(test)


def test_a_turn_that_ends_without_an_end_loses_its_followers() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await writer.settle()
        reading = asyncio.create_task(read(log))
        await until(lambda: writer.feed._waiting)
        log.close(writer)
        log.close(writer)
        with pytest.raises(LostError):
            await reading

    run(test)


def test_only_one_process_can_write_an_event() -> None:
    """A process that was thought dead wakes up: its turn hears that it is over."""

    async def test(asleep: EventLog, awake: EventLog) -> None:
        over = asyncio.Event()
        writer = asleep.open(ANSWER, over.set)
        writer.append(Started(str(ANSWER), str(uuid.uuid4()), 1))
        await writer.settle()
        end = Entry(2, "error", '{"type":"error","code":"interrupted"}')
        await awake.store.append([(ANSWER, [end])])
        follower = asyncio.create_task(read(asleep, 1))
        await until(lambda: writer.feed._waiting)
        writer.append(Delta("too late"))
        await over.wait()
        with pytest.raises(LostError):
            await follower
        writer.append(Delta("and later"))
        await writer.settle()
        assert [entry.type for entry in await read(awake)] == ["started", "error"]

    run(test, logs=2)


def test_a_write_whose_reply_was_lost_is_not_repeated() -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        await writer.settle()
        append = log.store.append

        async def cut(batch: Any) -> Any:
            await append(batch)
            log.store.append = append  # type: ignore[method-assign]
            raise redis.TimeoutError

        log.store.append = cut  # type: ignore[method-assign]
        writer.append(Delta("written, "))
        await writer.settle()
        await until(lambda: not log._flusher.is_direct)
        write_all(writer, "and told so")
        await writer.settle()
        assert await log.store.read(ANSWER) == writer.feed.entries
        assert text_of(writer.feed.entries) == "written, and told so"

    run(test)


def test_a_stream_that_valkey_lost_begins_anew(valkey_client: redis.Redis) -> None:
    async def test(log: EventLog) -> None:
        writer = begin(log)
        writer.append(Delta("before "))
        await writer.settle()
        valkey_client.delete(f"answer:{ANSWER}:events")
        write_all(writer, "after")
        await writer.settle()
        assert await log.store.read(ANSWER) == writer.feed.entries
        assert valkey_client.ttl(f"answer:{ANSWER}:events") > 0

    run(test)


def test_without_valkey_delivery_is_direct_and_the_log_is_completed_later(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey = Valkey(short_folder)
    monkeypatch.setattr(settings, "REDIS_URL", valkey.url)
    monkeypatch.setattr(writing, "PROBE_SECONDS", 0.05)

    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        await writer.settle()
        local = asyncio.create_task(read(here))
        remote = asyncio.create_task(read(there))
        await until(lambda: there._tail.feeds() and writer.feed._waiting)
        valkey.stop()
        writer.append(Delta("without "))
        await writer.settle()
        assert text_of(writer.feed.entries) == "without "
        with pytest.raises(LostError):
            await remote
        with pytest.raises(LostError):
            await read(there)
        valkey.start()
        await until(lambda: writer.stored == len(writer.feed.entries))
        assert await there.store.read(ANSWER) == writer.feed.entries
        write_all(writer, "and with")
        assert text_of(await local) == "without and with"
        assert await read(there) == writer.feed.entries

    with valkey:
        run(test, logs=2)


def test_a_stop_is_heard_by_the_process_that_runs_the_turn() -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        other = uuid.uuid4()
        await there.store.request_stop(ANSWER)
        assert await here.store.stops_requested([other, ANSWER]) == {ANSWER}

    run(test, logs=2)


def test_a_failing_reader_of_the_log_does_not_end_the_next_one() -> None:
    async def test(here: EventLog, there: EventLog) -> None:
        writer = begin(here)
        await writer.settle()
        async with there._tail.mirror(ANSWER) as feed:
            there._tail._deliver(ANSWER, [Entry(7, "delta", "{}")])
            assert feed.lost
            there._tail._deliver(ANSWER, [Entry(2, "delta", "{}")])
        write_all(writer, "a")
        assert text_of(await read(there)) == "a"

    run(test, logs=2)


def test_notes_say_only_what_there_is_to_say() -> None:
    assert Note().encode() == ""
    assert Note.decode("") == Note()
    note = Note(language="de", links=("/a",), images=("/b",), complete=True, ref=3)
    assert Note.decode(note.encode()) == note
