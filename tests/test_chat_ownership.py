"""A conversation is its owner's alone: for everyone else it does not exist, on every way in."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import URLPattern

from assistant import urls
from assistant.adoption import adopt
from assistant.database import db
from assistant.models import Answer, AnswerFeedback, Conversation
from helpcenter.visitors import SESSION_KEY
from tests.chat_clients import ANSWERS, Person, in_loop, until
from tests.factories import make_answer
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage

pytestmark = pytest.mark.django_db(transaction=True)

CONVERSATIONS = "/api/v1/conversations/"

Request = Callable[[Person, Answer], Awaitable[Any]]

ROUTES: dict[str, list[Request]] = {
    "answers": [
        lambda person, answer: person.ask_json("Mine?", conversation_id=answer.conversation_id.hex),
        lambda person, answer: person.ask_json("Mine?", retry_of=str(answer.pk)),
        lambda person, answer: person.post(
            ANSWERS,
            {"question": "Mine?", "conversation_id": str(answer.conversation_id)},
            Accept="text/event-stream",
        ),
    ],
    "answer": [lambda person, answer: person.get(f"{ANSWERS}{answer.pk}/")],
    "answer-events": [
        lambda person, answer: person.get(f"{ANSWERS}{answer.pk}/events/"),
        lambda person, answer: person.get(f"{ANSWERS}{answer.pk}/events/?after=1&render=html"),
    ],
    "answer-stop": [lambda person, answer: person.post(f"{ANSWERS}{answer.pk}/stop/")],
    "answer-feedback": [
        lambda person, answer: person.post(
            f"{ANSWERS}{answer.pk}/feedback/", {"rating": "positive"}
        ),
    ],
    "answer-escalate": [
        lambda person, answer: person.post(
            f"{ANSWERS}{answer.pk}/escalate/", {"email": "me@example.com", "consent": True}
        ),
    ],
    "conversation": [
        lambda person, answer: person.get(f"{CONVERSATIONS}{answer.conversation_id}/"),
        lambda person, answer: person.delete(f"{CONVERSATIONS}{answer.conversation_id}/"),
    ],
}
"""Every way to name somebody's answer or conversation, by the route's name."""

NAME_NOTHING = {"chat", "conversations", "gap", "gaps", "usage"}
"""The last three are staff's, by permission: see `test_gap_sharing` and `test_usage`."""

FRAMES: list[Callable[[Answer], dict[str, Any]]] = [
    lambda answer: {"type": "resume", "answer_id": str(answer.pk)},
    lambda answer: {"type": "stop", "answer_id": str(answer.pk)},
    lambda answer: {
        "type": "ask",
        "question": "Mine?",
        "conversation_id": str(answer.conversation_id),
    },
    lambda answer: {"type": "ask", "question": "Mine?", "retry_of": str(answer.pk)},
]


def unknown() -> Answer:
    """An answer that nobody has."""
    return Answer(pk=uuid.uuid4(), conversation=Conversation(pk=uuid.uuid4()))


async def strangers(person: User, colleague: User) -> dict[str, Person]:
    """Everyone who is not the owner."""
    expired = await Person.visitor()
    expired.cookies["sessionid"] = "expired"
    signed_out = await Person.signed_in(person)
    await sync_to_async(signed_out.http.logout)()
    return {
        "another visitor at the same address": await Person.visitor(),
        "nobody": Person(AsyncClient(enforce_csrf_checks=True)),
        "an expired session": expired,
        "another user": await Person.signed_in(person),
        "signed out meanwhile": signed_out,
        "staff": await Person.signed_in(colleague),
    }


def test_every_route_is_in_the_matrix() -> None:
    names = {route.name for route in urls.urlpatterns if isinstance(route, URLPattern)}
    assert names == set(ROUTES) | NAME_NOTHING


@pytest.mark.field_report("B117")
def test_a_foreign_id_answers_as_an_unknown_one(stranger: User, staff: User) -> None:
    answer = make_answer()
    before = list(Answer.objects.values())

    async def body() -> None:
        for who, person in (await strangers(stranger, staff)).items():
            for name, requests in ROUTES.items():
                for request in requests:
                    foreign = await request(person, answer)
                    nobodys = await request(person, unknown())
                    assert foreign.status_code == nobodys.status_code, (who, name)
                    assert foreign.content == nobodys.content, (who, name)
                    assert _headers(foreign) == _headers(nobodys), (who, name)
                    assert foreign.status_code == 404, (who, name)

    in_loop(body)
    assert list(Answer.objects.values()) == before, "nothing changed"
    assert not AnswerFeedback.objects.exists()
    assert Conversation.objects.count() == 1, "and nothing was made"


def _headers(response: Any) -> dict[str, str]:
    """Without the policy, whose nonce is new each time."""
    return {name: value for name, value in response.items() if name != "Content-Security-Policy"}


@pytest.mark.field_report("B117")
def test_a_foreign_id_in_a_frame_answers_as_an_unknown_one(stranger: User, staff: User) -> None:
    answer = make_answer()

    async def body() -> None:
        for person in (
            await Person.visitor(),
            await Person.signed_in(stranger),
            await Person.signed_in(staff),
        ):
            async with person.socket() as socket:
                for frame in FRAMES:
                    await socket.send(frame(answer))
                    foreign = await socket.receive()
                    await socket.send(frame(unknown()))
                    nobodys = await socket.receive()
                    for event in (foreign, nobodys):
                        event.pop("answer_id", None)
                    assert foreign == nobodys
                    assert foreign["code"] == "not_found"

    in_loop(body)
    assert Answer.objects.count() == 1


def test_the_owner_finds_what_is_theirs(provider: ScriptedProvider, owner: User) -> None:
    provider.answer("For a visitor.")
    provider.answer("For a user.")

    async def body() -> None:
        for person in (await Person.visitor(), await Person.signed_in(owner)):
            answer = (await person.ask_json("How?")).json()
            assert (await person.get(f"{ANSWERS}{answer['id']}/")).json() == answer
            url = f"{CONVERSATIONS}{answer['conversation_id']}/"
            assert [turn["id"] for turn in (await person.get(url)).json()["turns"]] == [
                answer["id"]
            ]
            assert (await person.delete(url)).status_code == 204
            assert (await person.get(url)).status_code == 404
            assert (await person.get(f"{ANSWERS}{answer['id']}/")).status_code == 404

    in_loop(body)
    assert not Answer.objects.exists()


def test_lists_hold_ones_own_and_nothing_else(provider: ScriptedProvider) -> None:
    provider.answer("Yes.")
    make_answer("Somebody else's?")

    async def body() -> None:
        person = await Person.visitor()
        assert (await person.get(CONVERSATIONS)).json() == {"conversations": [], "next": None}
        await person.ask_json("Mine?")
        (listed,) = (await person.get(CONVERSATIONS)).json()["conversations"]
        assert listed["title"] == "Mine?"
        nobody = Person(AsyncClient())
        assert (await nobody.get(CONVERSATIONS)).json()["conversations"] == []
        assert not nobody.cookies, "looking sets no cookie"

    in_loop(body)


# Signing in and out


def test_signing_in_adopts_what_the_visitor_asked(provider: ScriptedProvider, owner: User) -> None:
    provider.answer("Yes.")

    async def body() -> None:
        person = await Person.visitor()
        answer = (await person.ask_json("Mine?", key="k")).json()
        assert await sync_to_async(person.http.login)(
            username=owner.username, password="a password of tests"
        )
        again = Person(person.http)
        await again.open_page()
        assert (await again.get(f"{ANSWERS}{answer['id']}/")).json() == answer
        joined = await again.ask_json("Mine?", key="k")
        assert joined.json() == answer, "the send keeps its key"
        session = await sync_to_async(lambda: dict(again.http.session.items()))()
        assert SESSION_KEY not in session

    in_loop(body)
    assert Conversation.objects.get().user == owner
    assert Conversation.objects.get().visitor_id is None
    assert Answer.objects.get().owner == f"user:{owner.pk}"


def test_a_key_that_both_have_used_stays_the_users(owner: User) -> None:
    visitor = uuid.uuid4()
    users = make_answer(
        conversation=Conversation.objects.create(user=owner), owner=f"user:{owner.pk}", key="k"
    )
    visitors = Conversation.objects.create(visitor_id=visitor)
    adopted = [make_answer(conversation=visitors, key=key) for key in ("k", "other", "")]
    adopt(visitor, owner.pk)
    assert Conversation.objects.filter(user=owner).count() == 2
    keys = dict(Answer.objects.filter(owner=f"user:{owner.pk}").values_list("pk", "key"))
    assert keys == {
        users.pk: "k",
        adopted[0].pk: "",
        adopted[1].pk: "other",
        adopted[2].pk: "",
    }


def test_a_user_who_has_nothing_from_before_just_signs_in(owner: User) -> None:
    async def body() -> None:
        await Person.signed_in(owner)

    in_loop(body)
    assert not Conversation.objects.exists()


@pytest.mark.field_report("B122")
@pytest.mark.parametrize("what", ["log out", "deactivate", "change the password"])
def test_a_socket_that_outlives_its_session_can_do_nothing(
    provider: ScriptedProvider, owner: User, what: str
) -> None:
    async def body() -> None:
        person = await Person.signed_in(owner)
        async with person.socket() as socket:
            if what == "log out":
                await sync_to_async(person.http.logout)()
            elif what == "deactivate":
                await db(lambda: User.objects.filter(pk=owner.pk).update(is_active=False))
            else:
                owner.set_password("another one")
                await db(owner.save)
            await socket.send({"type": "ask", "question": "Still me?", "key": "k"})
            event = await socket.receive()
            assert (event["type"], event["code"], event["key"]) == ("error", "forbidden", "k")
            assert "Reload" in event["message"]

    in_loop(body)
    assert not Answer.objects.exists()


def test_a_visitors_socket_is_over_when_they_sign_in(
    provider: ScriptedProvider, owner: User
) -> None:
    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await sync_to_async(person.http.force_login)(owner)
            await socket.send({"type": "ask", "question": "Who am I?"})
            assert (await socket.receive())["code"] == "forbidden"

    in_loop(body)
    assert not Answer.objects.exists()


# Erasing


def test_erasing_a_conversation_ends_its_turn_and_leaves_nothing(
    provider: ScriptedProvider, valkey_client: Any
) -> None:
    go_on = threading.Event()
    provider.reply(say("Secret"), Wait(go_on), say(" words."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            events = await socket.read_answer(until_type="delta")
            url = f"{CONVERSATIONS}{events[0]['conversation_id']}/"
            assert (await person.delete(url)).status_code == 204
            end = (await socket.read_answer())[-1]
            assert (end["type"], end["code"]) == ("error", "not_found")
        await until(provider.requests[0].closed_by_client.is_set, "the provider's socket")

    in_loop(body)
    assert not Answer.objects.exists()
    assert not valkey_client.keys("answer:*:events")


def test_a_conversation_that_is_erased_elsewhere_while_its_turn_ends(
    provider: ScriptedProvider, valkey_client: Any
) -> None:
    go_on = threading.Event()
    provider.reply(say("Secret"), Wait(go_on), say(" words."), finish(), usage(), DONE)

    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            await socket.send({"type": "ask", "question": "How?"})
            await socket.read_answer(until_type="delta")
            await db(lambda: Conversation.objects.all().delete())
            go_on.set()
            end = (await socket.read_answer())[-1]
            assert (end["type"], end["code"]) == ("error", "not_found")

    in_loop(body)
    assert not valkey_client.keys("answer:*:events")
