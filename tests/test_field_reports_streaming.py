"""Field reports about streams and transports, by their numbers: what no other file shows.

Most of the section is shown where turns are cut, stopped and resumed, and carries its number
there. Where the design decides otherwise than a report (B30, B38), the turn outlives its viewer.
"""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.checks.registry import registry

from articles.access import ANONYMOUS
from assistant import chat
from assistant.database import db
from assistant.eventlog import EventLog
from assistant.eventlog.log import HEARTBEAT_SECONDS
from assistant.frames import Encoder
from assistant.models import Answer
from helpcenter import web
from helpcenter.asgi import application
from helpcenter.checks import check_connections
from tests.chat_clients import ANSWERS, Person, in_loop, other_process, until
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.streams import parsed_sse, text_of, verified

pytestmark = pytest.mark.django_db(transaction=True)


def stream_over_asgi(person: Person, question: str) -> Any:
    """A request as the web server hands it to the site: its client may really go away."""
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in person.cookies.items())
    headers = {
        "host": "testserver",
        "cookie": cookie,
        "content-type": "application/json",
        "accept": "text/event-stream",
        "x-csrftoken": person.cookies["csrftoken"].value,
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": ANSWERS,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("testserver", 80),
    }
    communicator: Any = ApplicationCommunicator
    return communicator(application, scope)


async def read(stream: Any, until_type: str) -> str:
    body = ""
    while f"event: {until_type}\n" not in body:
        message = await stream.receive_output(10)
        body += message.get("body", b"").decode()
    return body


def test_b37_words_come_while_the_provider_pauses(provider: ScriptedProvider) -> None:
    """Each is out before the next is there. A stream that Django has to iterate for itself warns,
    and a warning fails the test."""
    gates = [threading.Event() for _ in range(3)]
    words = ["One ", "by ", "one."]
    steps = [
        step for gate, word in zip(gates, words, strict=True) for step in (Wait(gate), say(word))
    ]
    provider.reply(*steps, finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        response = await person.open_sse("How?")
        assert response.is_async
        seen, chunks = "", aiter(response)
        for at, gate in enumerate(gates[:2]):
            gate.set()
            while text_of(parsed_sse(seen)).split() != "".join(words[: at + 1]).split():
                seen += (await anext(chunks)).decode()
        gates[2].set()
        async for chunk in chunks:
            seen += chunk.decode()
        assert verified(parsed_sse(seen))[-1]["text"] == "One by one."

    in_loop(body)


def test_b38_a_stream_whose_client_is_gone_is_cleaned_up_and_the_turn_ends(
    provider: ScriptedProvider,
) -> None:
    """Within two seconds; the provider's stream is the turn's, and closes with it."""
    go_on = threading.Event()
    provider.reply(say("First "), Wait(go_on), say("second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        stream = stream_over_asgi(person, "How?")
        request = json.dumps({"question": "How?"}).encode()
        await stream.send_input({"type": "http.request", "body": request, "more_body": False})
        await read(stream, "delta")
        [writer] = EventLog.current()._writers.values()
        assert writer.feed._waiting
        await stream.send_input({"type": "http.disconnect"})
        await stream.wait(2)
        assert not writer.feed._waiting
        go_on.set()

    in_loop(body)
    assert provider.requests[0].answered.wait(2)
    answer = Answer.objects.get()
    assert (answer.status, answer.text) == ("completed", "First second.")


def test_b39_a_stop_and_a_closed_socket_act_while_the_provider_is_silent(
    provider: ScriptedProvider,
) -> None:
    provider.reply(Endless())
    provider.reply(Endless())

    async def body() -> None:
        loop = asyncio.get_running_loop()
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            begun = await socket.receive()
            await until(lambda: provider.requests, "the provider")
            sent = loop.time()
            await socket.send({"type": "stop", "answer_id": begun["answer_id"]})
            assert (await socket.read_answer())[-1]["status"] == "stopped"
            assert loop.time() - sent < 2
            await socket.send({"type": "ask", "question": "And now?"})
            begun = await socket.receive()
            await until(lambda: provider.requests[1:], "the provider")
            closed = loop.time()
        assert loop.time() - closed < 2, "the server would have to kill it"
        await person.post(f"{ANSWERS}{begun['answer_id']}/stop/")

    in_loop(body)
    assert all(sent.closed_by_client.wait(2) for sent in provider.requests)


def test_b43_a_slow_reader_elsewhere_gets_two_thousand_words(provider: ScriptedProvider) -> None:
    words = [f"{number} " for number in range(2_000)]
    provider.reply(*map(say, words), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        watching = asyncio.create_task(person.ask_sse("How?"))
        await until(EventLog.current()._writers.values, "the turn")
        answer = await db(Answer.objects.get)
        async with other_process():
            encoder = Encoder(answer.pk, answer.conversation_id)
            told = []
            async for batch in chat.events(answer.pk, ANONYMOUS, after=0):
                told += [json.loads(encoder.json(entry)) for entry in batch]
                await asyncio.sleep(0.1)
        assert verified(told) == await watching
        assert told[-1]["text"].split() == "".join(words).split()

    in_loop(body)
    assert Answer.objects.get().text.split() == "".join(words).split()


def test_b44_silence_is_filled_and_who_was_cut_off_gets_the_answer(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.eventlog.log.HEARTBEAT_SECONDS", 0.0)
    go_on = threading.Event()
    provider.reply(Wait(go_on), say("Late."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        response = await person.open_sse("How?")
        seen, chunks = "", aiter(response)
        while seen.count(": keep-alive\n\n") < 3:
            seen += (await anext(chunks)).decode()
        await chunks.aclose()  # the proxy has lost patience
        go_on.set()
        [started] = parsed_sse(seen)
        rest = await person.resume_sse(started["answer_id"], started["seq"])
        assert rest[-1]["text"] == "Late."

    in_loop(body)


def test_b44_heartbeats_come_before_any_proxy_gives_up() -> None:
    """nginx waits for 60 seconds, some load balancers for 30."""
    assert HEARTBEAT_SECONDS <= 15
    assert web.config().ws_ping_interval == 15


def test_b47_keeping_connections_by_their_age_is_refused(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_connections() == []
    monkeypatch.setitem(settings.DATABASES["default"], "CONN_MAX_AGE", 60)
    [error] = check_connections()
    assert error.id == "helpcenter.E001"
    assert check_connections in registry.registered_checks
