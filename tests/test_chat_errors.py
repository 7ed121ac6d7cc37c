"""Bad input and bad times: one shape of errors, exact statuses and codes, and nothing stored."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import OperationalError
from django.http import HttpResponse
from django.test import AsyncClient

from articles.indexing import index_article
from assistant.contracts import TextDelta
from assistant.models import Answer, Conversation
from helpcenter import csrf, drain
from helpcenter.models import SiteSettings
from tests.chat_clients import ANSWERS, Person, Socket, in_loop, until
from tests.factories import make_answer, make_article
from tests.scripted_provider import DONE, Endless, ScriptedProvider, Wait, finish, say, usage
from tests.streams import verified

pytestmark = pytest.mark.django_db(transaction=True)

LIKE_FIELDS = {"code", "message", "fields"}


def refusal(response: Any) -> tuple[int, str]:
    """Status and code, of a body in the one shape."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) <= LIKE_FIELDS
    assert body["error"]["message"]
    assert response["Content-Type"] == "application/json"
    return response.status_code, body["error"]["code"]


QUESTIONS = [
    ("", "invalid_question"),
    ("  \n ", "invalid_question"),
    ("\u200b\u2060\ufeff", "invalid_question"),
    ("x" * 4001, "invalid_question"),
    (7, "invalid_question"),
    (None, "invalid_question"),
    ("a\0b", "invalid_question"),
]


@pytest.mark.parametrize(("question", "code"), QUESTIONS)
def test_what_is_no_question_is_refused_on_every_transport(question: Any, code: str) -> None:
    async def body() -> None:
        person = await Person.visitor()
        for headers in ({}, {"Accept": "text/event-stream"}):
            response = await person.post(ANSWERS, {"question": question}, **headers)
            assert refusal(response) == (400, code)
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": question, "key": "k"})
            event = await socket.receive()
            assert (event["type"], event["code"], event["key"]) == ("error", code, "k")
            assert event["retryable"] is False
            assert "seq" not in event

    in_loop(body)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b'{"question": "half \\ud83d"}',
        b'{"question": "nul \\u0000"}',
    ],
)
def test_escapes_that_are_no_text_are_refused(body: bytes) -> None:
    async def send() -> None:
        person = await Person.visitor()
        assert refusal(await person.post(ANSWERS, body)) == (400, "invalid_question")

    in_loop(send)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"question": "How?", "key": 7}',
        b'{"question": "How?", "conversation_id": 7}',
        b'{"question": "How?", "article": []}',
        b'{"question": "' + b"x" * 70_000 + b'"}',
        b"[" * 60_000,
    ],
)
def test_what_is_not_understood_is_malformed(body: bytes) -> None:
    async def send() -> None:
        person = await Person.visitor()
        assert refusal(await person.post(ANSWERS, body)) == (400, "malformed")

    in_loop(send)
    assert not Conversation.objects.exists()


def test_a_body_beyond_what_django_reads_is_malformed() -> None:
    async def send() -> None:
        person = await Person.visitor()
        assert refusal(await person.post(ANSWERS, b"x" * 3_000_000)) == (400, "malformed")

    in_loop(send)


FRAMES = [
    '{"type": "ask", ',
    "[]",
    '"ask"',
    "",
    '{"type": "dance"}',
    "{}",
    '{"type": ["ask"]}',
    '{"type": "resume", "answer_id": 7}',
    '{"type": "stop"}',
    '{"type": "resume", "answer_id": "x", "after": -1}',
    '{"type": "ask", "question": "How?", "key": {}}',
    "[" * 60_000,
]


@pytest.mark.field_report("B40")
def test_a_frame_that_is_not_understood_gets_an_error_and_the_socket_stays(
    provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.answer("Still here.")

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            for frame in FRAMES:
                await socket.send(frame)
                event = await socket.receive()
                assert (event["type"], event["code"]) == ("error", "malformed"), frame
            await socket.send_bytes(b"\x00")
            assert (await socket.receive())["code"] == "malformed"
            await socket.send({"type": "ask", "question": "How?"})
            assert verified(await socket.read_answer())[-1]["text"] == "Still here."

    in_loop(body)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not mail.outbox


def test_too_many_frames_at_once_are_refused(provider: ScriptedProvider, settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 100

    async def body() -> None:
        person = await Person.visitor()
        for _ in range(16):
            provider.reply(Endless())
        async with person.socket() as socket:
            ids = []
            for number in range(16):
                await socket.send({"type": "ask", "question": f"How {number}?"})
                ids.append((await socket.receive())["answer_id"])
            await socket.send({"type": "ask", "question": "One more?"})
            assert (await socket.receive())["code"] == "rate_limited"
        await until(lambda: len(provider.requests) == 16, "all requests")
        for answer_id in ids:
            await person.post(f"{ANSWERS}{answer_id}/stop/")

    in_loop(body)


def test_the_assistant_is_switched_off(provider: ScriptedProvider) -> None:
    SiteSettings(assistant_enabled=False, assistant_message="Back on Monday.").save()

    async def body() -> None:
        visitor = Person(AsyncClient(enforce_csrf_checks=True))
        response = await visitor.ask_json("How?")
        assert refusal(response) == (409, "disabled")
        assert response.json()["error"]["message"] == "Back on Monday."

    in_loop(body)
    assert not Conversation.objects.exists()


def test_a_draining_server_begins_nothing_new(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    provider.reply(say("First "), Wait(go_on), say("second."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        running = asyncio.create_task(person.ask_json("How?", key="k"))
        await until(lambda: provider.requests, "the turn")
        monkeypatch.setattr(drain, "is_draining", lambda: True)
        response = await person.ask_json("Why?")
        assert refusal(response) == (503, "unavailable")
        assert int(response["Retry-After"]) > 0
        joined = asyncio.create_task(person.ask_json("How?", key="k"))
        await asyncio.sleep(0)
        go_on.set()
        assert (await running).json()["text"] == (await joined).json()["text"] == "First second."

    in_loop(body)
    assert Answer.objects.count() == 1


def test_too_many_turns_are_limited_alike_on_all_transports(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 2
    provider.answer("One.")
    provider.answer("Two.")

    async def body() -> None:
        person = await Person.visitor()
        await person.ask_json("How?")
        await person.ask_ws("How?")
        for headers in ({}, {"Accept": "text/event-stream"}):
            response = await person.post(ANSWERS, {"question": "More?"}, **headers)
            assert refusal(response) == (429, "rate_limited")
            assert 0 < int(response["Retry-After"]) <= settings.ASSISTANT_LIMIT_SECONDS
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "More?"})
            event = await socket.receive()
            assert (event["code"], event["retryable"]) == ("rate_limited", True)
            assert event["retry_after"] > 0

    in_loop(body)
    assert Answer.objects.count() == 2, "what was refused is not stored"


@pytest.mark.field_report("B120")
def test_of_many_sends_at_once_exactly_as_many_as_may_begin(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 3
    for _ in range(3):
        provider.answer("Yes.")

    async def body() -> None:
        person = await Person.visitor()
        responses = await asyncio.gather(
            *(person.ask_json(f"How {number}?", key=str(number)) for number in range(12))
        )
        statuses = sorted(response.status_code for response in responses)
        assert statuses == [200] * 3 + [429] * 9

    in_loop(body)
    assert Answer.objects.count() == len(provider.requests) == 3


def test_a_provider_that_is_down_before_the_first_word(provider: ScriptedProvider) -> None:
    article = make_article("Set up SSO", body="## Steps\n\nOpen Settings.")
    index_article(article.pk)
    provider.refuse(401, {"message": "Incorrect API key provided: sk-secret"})
    provider.refuse(401, {"message": "Incorrect API key provided: sk-secret"})

    async def body() -> None:
        person = await Person.visitor()
        response = await person.ask_json("How?")
        assert refusal(response) == (503, "unavailable")
        assert int(response["Retry-After"]) > 0
        assert "sk-secret" not in response.content.decode()
        stored = (await person.get(response["Content-Location"])).json()
        assert (stored["status"], stored["error"]["code"]) == ("failed", "unavailable")
        end = (await person.ask_sse("How?"))[-1]
        assert (end["type"], end["code"], end["text"]) == ("error", "unavailable", "")
        assert end["retryable"] is False, "a wrong key does not mend itself"

    in_loop(body)
    for answer in Answer.objects.all():
        assert (answer.status, answer.grounding) == ("failed", "unavailable")
        assert answer.error_code == "misconfigured"


def test_a_provider_that_breaks_off_keeps_what_was_delivered(provider: ScriptedProvider) -> None:
    article = make_article("Set up SSO", body="## Steps\n\nOpen Settings.")
    index_article(article.pk)
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.reply(say("Open Settings [1]. Then"))

    async def body() -> None:
        person = await Person.visitor()
        end = (await person.ask_ws("How?"))[-1]
        assert (end["type"], end["code"], end["retryable"]) == ("error", "unavailable", True)
        assert end["text"] == "Open Settings [1]. Then"
        assert [source["number"] for source in end["sources"]] == [1]

    in_loop(body)
    answer = Answer.objects.get()
    assert (answer.status, answer.text) == ("failed", "Open Settings [1]. Then")
    assert answer.documents.get().number == 1


@pytest.mark.field_report("B61")
@pytest.mark.parametrize("at_once", [True, False])
def test_a_content_filter_is_told_in_words(provider: ScriptedProvider, at_once: bool) -> None:
    if at_once:
        provider.refuse(400, {"message": "filtered", "code": "content_filter"})
    else:
        provider.reply(finish("content_filter"), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        end = (await person.ask_ws("How?"))[-1]
        assert (end["type"], end["status"]) == ("done", "truncated")
        assert end["truncated"] == "content_filter"
        assert "filter" in end["text"]
        assert end["grounding"] == "unavailable"

    in_loop(body)
    answer = Answer.objects.get()
    assert (answer.status, answer.truncated_by) == ("truncated", "content_filter")


def test_an_answer_that_is_cut_is_stored_as_cut(provider: ScriptedProvider) -> None:
    provider.reply(say("Open the Bill"), finish("length"), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        response = (await person.ask_json("How?")).json()
        assert (response["status"], response["truncated"]) == ("truncated", "length")
        assert response["text"] == "Open the Bill"

    in_loop(body)


def test_a_turn_that_breaks_says_so_and_shows_nothing_of_why(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("the secret reason")

    monkeypatch.setattr("assistant.turns.turn.set_up", broken)

    async def body() -> None:
        person = await Person.visitor()
        response = await person.ask_json("How?")
        assert refusal(response) == (503, "unavailable")
        assert "secret" not in response.content.decode()
        end = (await person.ask_ws("How?"))[-1]
        assert (end["code"], end["text"], end["sources"]) == ("unavailable", "", [])

    in_loop(body)
    assert {answer.status for answer in Answer.objects.all()} == {"failed"}


class Hanging:
    """A model that answers nothing and heeds no limit."""

    provider, name, mode = "none", "hanging", "tools"

    async def stream(self, messages: Any, tools: Any) -> AsyncGenerator[Any, None]:
        yield TextDelta("Some words")
        await asyncio.Event().wait()


def test_a_turn_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.turns.preparation.select_model", lambda settings: Hanging())
    monkeypatch.setattr("assistant.turns.turn.GRACE_SECONDS", -59.5)

    async def body() -> None:
        person = await Person.visitor()
        end = (await person.ask_ws("How?"))[-1]
        assert (end["code"], end["retryable"]) == ("unavailable", True)

    in_loop(body)
    assert Answer.objects.get().error_code == "timeout"


# The database


def test_a_database_that_is_down_when_somebody_asks(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            monkeypatch.setattr("assistant.chat.open_turn", _down)
            assert refusal(await person.ask_json("How?")) == (503, "unavailable")
            await socket.send({"type": "ask", "question": "How?"})
            assert (await socket.receive())["code"] == "unavailable"
            monkeypatch.setattr("assistant.views.caller_of", _down)
            assert refusal(await person.get(f"{ANSWERS}x/")) == (503, "unavailable")
            monkeypatch.setattr("assistant.api.caller_of", _down)
            assert refusal(await person.get("/api/v1/conversations/")) == (503, "unavailable")
            monkeypatch.setattr("assistant.consumers.sender_by_session", _down)
            await socket.send({"type": "stop", "answer_id": "x"})
            assert (await socket.receive())["code"] == "unavailable"

    in_loop(body)


def _down(*args: Any, **kwargs: Any) -> None:
    raise OperationalError("the server closed the connection unexpectedly")


def test_a_database_that_is_down_for_a_moment_at_the_end(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.turns.persistence import store_end

    calls = []

    def shaky(end: Any) -> bool:
        calls.append(end)
        if len(calls) < 3:
            _down()
        return store_end(end)

    monkeypatch.setattr("assistant.turns.finishing.store_end", shaky)
    provider.answer("Not lost.")

    async def body() -> None:
        person = await Person.visitor()
        assert (await person.ask_sse("How?"))[-1]["status"] == "completed"

    in_loop(body)
    assert Answer.objects.get().text == "Not lost."


def test_a_database_that_stays_down_loses_nothing_silently(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The visitor is told that it was not saved, and it is stored as soon as it can be."""
    from assistant.turns.persistence import store_end

    is_down = True

    def store(end: Any) -> bool:
        if is_down:
            _down()
        return store_end(end)

    monkeypatch.setattr("assistant.turns.finishing.store_end", store)
    monkeypatch.setattr("assistant.turns.finishing.SAVE_SECONDS", 0.3)
    monkeypatch.setattr("assistant.turns.finishing.LONGEST_PAUSE_SECONDS", 0.1)
    provider.answer("Shown, and stored late.")

    async def body() -> None:
        nonlocal is_down
        person = await Person.visitor()
        events = await person.ask_sse("How?")
        end = events[-1]
        assert (end["type"], end["code"], end["retryable"]) == ("error", "unavailable", True)
        assert "saved" in end["message"]
        assert end["text"] == "Shown, and stored late."
        is_down = False
        await drain.wait(20)
        assert await person.resume_sse(end["answer_id"]) == events

    in_loop(body)
    answer = Answer.objects.get()
    assert (answer.status, answer.error_code) == ("failed", "not_saved")
    assert answer.text == "Shown, and stored late."


# Methods, origins, sessions


def test_other_methods_are_refused_in_the_same_shape() -> None:
    answer = make_answer()

    async def body() -> None:
        person = await Person.visitor()
        for url in (ANSWERS, f"{ANSWERS}{answer.pk}/stop/", f"{ANSWERS}{answer.pk}/feedback/"):
            response = await person.get(url)
            assert refusal(response) == (405, "method_not_allowed")
            assert "POST" in response["Allow"]
        for url in (f"{ANSWERS}{answer.pk}/", "/api/v1/conversations/"):
            assert refusal(await person.post(url)) == (405, "method_not_allowed")

    in_loop(body)


def test_a_session_needs_its_token(provider: ScriptedProvider, owner: User) -> None:
    answer = make_answer()

    async def body() -> None:
        for person in (await Person.visitor(), await Person.signed_in(owner)):
            urls = [ANSWERS, f"{ANSWERS}{answer.pk}/stop/", f"{ANSWERS}{answer.pk}/feedback/"]
            for url in urls:
                response = await person.http.post(url, {}, content_type="application/json")
                assert refusal(response) == (403, "forbidden"), url
            url = f"/api/v1/conversations/{answer.conversation_id}/"
            assert refusal(await person.http.delete(url)) == (403, "forbidden")

    in_loop(body)
    assert Answer.objects.count() == 1


def test_a_client_without_a_session_asks_and_is_given_what_it_needs(
    provider: ScriptedProvider,
) -> None:
    provider.answer("Hello.")
    provider.answer("Again.")

    async def body() -> None:
        client = Person(AsyncClient(enforce_csrf_checks=True))
        response = await client.ask_json("Hi")
        assert response.status_code == 200
        assert {"sessionid", "csrftoken"} <= set(client.cookies)
        fields = {"conversation_id": response.json()["conversation_id"]}
        assert (await client.ask_json("Again?", **fields)).json()["turn"] == 2

    in_loop(body)


async def opens(person: Person, origin: str | None) -> bool:
    socket = Socket(person.cookies, origin)
    opened = await socket.connect()
    await socket.close()
    return opened


def test_which_sockets_open(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.shop.example", "https://app.example"]
    monkeypatch.setattr(csrf, "_CHECK", csrf._Check(HttpResponse))

    async def body() -> None:
        person = await Person.visitor()
        assert await opens(person, "http://testserver")
        assert await opens(person, "https://app.example")
        assert await opens(person, "https://eu.shop.example")
        assert not await opens(person, None), "a handshake without an origin is no browser's"
        assert not await opens(Person(AsyncClient()), "http://testserver"), "no session"
        person.cookies["sessionid"] = "made-up"
        assert not await opens(person, "http://testserver"), "no session that a page issued"

    in_loop(body)


def test_an_unknown_socket_is_refused() -> None:
    async def body() -> None:
        person = await Person.visitor()
        socket = Socket(person.cookies, path="/ws/v1/other/")
        assert not await socket.connect()
        await socket.close()

    in_loop(body)


def test_messages_are_in_the_language_of_the_page(settings: Any) -> None:
    """The page's language decides on every transport, as far as there is a translation."""

    async def body() -> None:
        person = await Person.visitor()
        response = await person.post(ANSWERS, {"question": ""}, **{"Accept-Language": "xx"})
        assert response.json()["error"]["message"] == "The question is empty."

    in_loop(body)


def test_errors_are_json_and_nothing_else() -> None:
    async def body() -> None:
        person = await Person.visitor()
        response = await person.get(f"{ANSWERS}x/", Accept="text/html")
        assert json.loads(response.content)["error"]["code"] == "not_found"
        response = await person.get("/api/v1/conversations/x/", Accept="text/html")
        assert json.loads(response.content)["error"]["code"] == "not_found"

    in_loop(body)
