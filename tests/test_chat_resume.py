"""Cut anywhere, resumed anywhere: nothing is lost, nothing comes twice, there is one end."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid

import pytest
import redis
from django.utils import timezone

from articles.indexing import index_article
from assistant.database import db
from assistant.eventlog import EventLog
from assistant.eventlog.log import HEARTBEAT_SECONDS
from assistant.models import Answer, Grounding
from tests.chat_clients import ANSWERS, Person, follow, in_loop, other_process, read_sse, until
from tests.factories import make_answer, make_article
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage
from tests.streams import Event, html_of, of_type, text_of, verified

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = (
    "Open **Settings** [1].\n\n1. Choose SSO\n2. Save\n\n"
    "It is `a[1]` now, see [Set up SSO](/articles/set-up-sso/)."
)


def script(provider: ScriptedProvider, *in_the_middle: Wait) -> None:
    """An answer that opens an article and comes one character at a time."""
    article = make_article("Set up SSO", body="## Steps\n\nOpen Settings.")
    index_article(article.pk)
    provider.call("open_article", {"slug": "set-up-sso"})
    half = len(TEXT) // 2
    pieces = [say(char) for char in TEXT]
    provider.reply(*pieces[:half], *in_the_middle, *pieces[half:], finish(), usage(), DONE)


async def half_is_told() -> Answer:
    """Waits until the running answer has half of its text."""

    def told() -> bool:
        feeds = [writer.feed for writer in EventLog.current()._writers.values()]
        events = [json.loads(entry.body) for feed in feeds for entry in feed.entries]
        return len(text_of(events)) > len(TEXT) // 2 - 20

    await until(told, "half of the answer")
    return await db(Answer.objects.get)


@pytest.mark.parametrize("html", [False, True])
def test_a_finished_answer_resumes_at_every_event(provider: ScriptedProvider, html: bool) -> None:
    script(provider)

    async def body() -> None:
        person = await Person.visitor()
        whole = await person.ask_sse("How?", html=html)
        answer_id = whole[0]["answer_id"]
        for cursor in range(len(whole)):
            check_rest(whole, await person.resume_sse(answer_id, cursor, html=html), cursor)
        at_end = await person.get(f"{ANSWERS}{answer_id}/events/?after={len(whole)}")
        assert at_end.status_code == 204
        beyond = await person.get(f"{ANSWERS}{answer_id}/events/?after={len(whole) + 9}")
        assert [event["type"] for event in await read_sse(beyond)] == ["done"]

    in_loop(body)


@pytest.mark.field_report("B33")
@pytest.mark.parametrize("html", [False, True])
def test_a_live_answer_resumes_in_another_process(provider: ScriptedProvider, html: bool) -> None:
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?", html=html))
        answer = await half_is_told()
        cursors = range(len(await EventLog.current().entries(answer.pk)) + 1)
        async with other_process() as there:
            tasks = [asyncio.create_task(follow(answer, after, html=html)) for after in cursors]
            await until(there._tail.feeds, "a mirror")
            go_on.set()
            rests = await asyncio.gather(*tasks)
        whole = await watching
        for cursor, rest in zip(cursors, rests, strict=True):
            check_rest(whole, rest, cursor)

    in_loop(body)


def check_rest(whole: list[Event], rest: list[Event], cursor: int) -> None:
    verified(rest, cursor)
    assert [event["seq"] for event in rest] == [event["seq"] for event in whole[cursor:]]
    if of_type(whole, "html"):
        assert html_of([*whole[:cursor], *rest]) == whole[-1]["html"]
    else:
        assert rest == whole[cursor:]


def test_the_connection_breaks_and_the_turn_goes_on(provider: ScriptedProvider) -> None:
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        seen = await read_sse(await person.open_sse("How?"), until_type="delta")
        go_on.set()
        rest = await person.resume_sse(seen[0]["answer_id"], seen[-1]["seq"])
        assert text_of([*seen, *rest]) == rest[-1]["text"] == TEXT

    in_loop(body)
    assert Answer.objects.get().status == "completed"


def test_a_browser_resumes_by_the_header_that_it_sends(provider: ScriptedProvider) -> None:
    script(provider)

    async def body() -> None:
        person = await Person.visitor()
        whole = await person.ask_sse("How?")
        url = f"{ANSWERS}{whole[0]['answer_id']}/events/"
        response = await person.get(url, **{"Last-Event-ID": "3"})
        assert verified(await read_sse(response), 3) == whole[3:]

    in_loop(body)


def test_a_socket_resumes_what_another_began(provider: ScriptedProvider) -> None:
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            seen = await socket.read_answer(until_type="delta")
        async with person.socket() as socket:
            last = seen[-1]["seq"]
            frame = {"type": "resume", "answer_id": seen[0]["answer_id"], "after": last}
            await socket.send(frame)
            go_on.set()
            rest = verified(await socket.read_answer(), last)
        assert text_of([*seen, *rest]) == TEXT

    in_loop(body)


@pytest.mark.field_report("B35")
def test_two_conversations_on_one_socket_stay_apart(provider: ScriptedProvider) -> None:
    go_on = threading.Event()
    provider.reply(say("slow"), Wait(go_on), say(" answer"), finish(), usage(), DONE)
    provider.answer("Quick answer.")

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "Slow?"})
            slow = await socket.read_answer(until_type="delta")
            await socket.send({"type": "ask", "question": "Quick?"})
            quick = verified(await socket.read_answer())
            go_on.set()
            slow += await socket.read_answer()
        verified(slow)
        for answer in (slow, quick):
            assert len({(one["conversation_id"], one["answer_id"]) for one in answer}) == 1
        assert slow[0]["conversation_id"] != quick[0]["conversation_id"]
        assert (slow[-1]["text"], quick[-1]["text"]) == ("slow answer", "Quick answer.")

    in_loop(body)


@pytest.mark.parametrize("html", [False, True])
def test_an_expired_stream_is_answered_from_the_database(
    provider: ScriptedProvider, valkey_client: redis.Redis, html: bool
) -> None:
    script(provider)

    async def body() -> None:
        person = await Person.visitor()
        whole = await person.ask_sse("How?", html=html)
        answer_id = whole[0]["answer_id"]
        valkey_client.delete(f"answer:{answer_id}:events")
        again = await person.resume_sse(answer_id, html=html)
        for name in ("text", "html", "grounding", "status"):
            assert again[-1][name] == whole[-1][name], name
        assert again[-1]["seq"] == whole[-1]["seq"]
        assert html_of(again) == (whole[-1]["html"] if html else "")
        rest = await person.resume_sse(answer_id, 4, html=html)
        assert [event["type"] for event in rest] == ["done"]
        assert rest[-1]["text"] == TEXT
        at_end = await person.get(f"{ANSWERS}{answer_id}/events/?after={len(whole)}")
        assert at_end.status_code == 204

    in_loop(body)
    assert len(provider.requests) == 2, "and never with a second run"


def test_a_stream_that_is_lost_on_the_way_is_completed_from_the_database(
    provider: ScriptedProvider, valkey_client: redis.Redis
) -> None:
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        answer = await half_is_told()
        async with other_process() as there:
            remote = asyncio.create_task(follow(answer))
            await until(there._tail.feeds, "a mirror")
            there._tail._lose_all()
            valkey_client.delete(f"answer:{answer.pk}:events")
            go_on.set()
            await until(lambda: not EventLog.current().is_written_here(answer.pk), "nothing")
            valkey_client.delete(f"answer:{answer.pk}:events")
            events = verified(await remote)
        assert events[-1] == (await watching)[-1]
        assert text_of(events) == TEXT

    in_loop(body)


def test_a_page_that_is_reloaded_shows_what_there_is_and_goes_on(
    provider: ScriptedProvider,
) -> None:
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        answer = await half_is_told()
        running = (await person.get(f"{ANSWERS}{answer.pk}/")).json()
        assert running["status"] == "running"
        assert TEXT.startswith(running["text"])
        assert len(running["text"]) > 10
        assert [source["title"] for source in running["sources"]] == ["Set up SSO"]
        assert "<strong>Settings</strong>" in running["html"]
        url = f"/api/v1/conversations/{answer.conversation_id}/"
        assert (await person.get(url)).json()["turns"][0]["status"] == "running"
        go_on.set()
        assert (await person.resume_sse(str(answer.pk)))[-1]["text"] == TEXT
        await watching

    in_loop(body)


@pytest.mark.parametrize("cursor", ["-1", "x", "1.5", "9999999999"])
def test_a_cursor_that_is_no_number_is_malformed(cursor: str) -> None:
    async def body() -> None:
        person = await Person.visitor()
        response = await person.get(f"{ANSWERS}{make_id()}/events/?after={cursor}")
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "malformed"

    in_loop(body)


def make_id() -> str:
    return "0b9d2b1e-8a63-4f7c-9b0e-111111111111"


def test_silence_is_filled_with_heartbeats(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.eventlog.log.HEARTBEAT_SECONDS", 0.0)
    go_on = threading.Event()
    provider.reply(Wait(go_on), say("Late."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        response = await person.open_sse("How?")
        assert response["Cache-Control"] == "no-store"
        assert response["X-Accel-Buffering"] == "no"
        assert "Content-Encoding" not in response
        chunks = aiter(response)
        received = b""
        while b": keep-alive\n\n" not in received:
            received += await anext(chunks)
        go_on.set()
        async for chunk in chunks:
            received += chunk
        assert received.decode().endswith("}\n\n")

    in_loop(body)


def test_a_turn_that_ended_without_an_end_in_the_log_still_ends(
    provider: ScriptedProvider,
) -> None:
    """Valkey was away, or the process died between the commit and the last event: the database
    has the last word, and nobody waits for another."""
    provider.answer("All is said.")

    async def body() -> None:
        person = await Person.visitor()
        whole = await person.ask_sse("How?")
        answer = await db(Answer.objects.get)
        store = EventLog.current().store
        await store._redis.xdel(f"answer:{answer.pk}:events", f"{len(whole)}-0")
        async with other_process(), asyncio.timeout(HEARTBEAT_SECONDS / 2):
            assert verified(await follow(answer)) == whole
            assert verified(await follow(answer, 2), 2) == whole[2:]
            assert verified(await follow(answer, html=True))[-1] == whole[-1]

    in_loop(body)


def test_whoever_follows_a_turn_that_ends_without_an_end_in_the_log_hears_of_it(
    monkeypatch: pytest.MonkeyPatch, provider: ScriptedProvider
) -> None:
    monkeypatch.setattr("assistant.eventlog.log.HEARTBEAT_SECONDS", 0.0)
    go_on = threading.Event()
    script(provider, Wait(go_on))

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        answer = await half_is_told()
        told = EventLog.current()._writers[answer.pk].feed.entries
        text = "".join(json.loads(entry.body)["text"] for entry in told if entry.type == "delta")
        async with other_process() as there:
            remote = asyncio.create_task(follow(answer))
            await until(there._tail.feeds, "a mirror")
            await db(
                Answer.objects.filter(pk=answer.pk).update,
                status=Answer.Status.INTERRUPTED,
                error_code="interrupted",
                grounding=Grounding.UNAVAILABLE,
                finished_at=timezone.now(),
                text=text,
            )
            assert (await remote)[-1]["code"] == "interrupted"
        # The turn lives on here, which no real one would: what it goes on to say is no matter.
        watching.cancel()
        go_on.set()

    in_loop(body)


def test_an_answer_of_before_there_were_numbers_has_an_end() -> None:
    """Where the log was lost with its process, nothing says how far the numbers had come."""
    answer = make_answer(
        status="interrupted", error_code="interrupted", grounding=Grounding.UNAVAILABLE, text=""
    )

    async def body() -> None:
        assert [event["type"] for event in verified(await follow(answer))] == ["started", "error"]
        (end,) = verified(await follow(answer, 7), 7)
        assert (end["code"], end["retryable"]) == ("interrupted", True)

    in_loop(body)


def test_a_client_that_has_nothing_is_told_the_end_of_an_answer_without_numbers() -> None:
    """Its cursor and the unknown last number are both 0: that is not "has everything"."""

    async def body() -> None:
        person = await Person.visitor()
        mine = (await person.ask_json("Is anybody there?")).json()
        await db(Answer.objects.filter(pk=mine["id"]).update, last_seq=0)
        await EventLog.current().store.forget([uuid.UUID(mine["id"])])
        async with other_process():
            events = await person.resume_sse(mine["id"], 0)
        assert [event["type"] for event in events] == ["started", "delta", "done"]

    in_loop(body)
