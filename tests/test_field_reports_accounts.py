"""Field reports about accounts and limits, by their numbers.

B117 is shown by the matrix of `test_chat_ownership`, B119 by `test_addresses_of_visitors`; B122 is
there too. What a page does when its session changes (B124, B125) is in the browser's tests.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assistant.limits import charge
from assistant.models import Answer, Conversation
from assistant.refusals import RateLimited
from tests.chat_clients import ANSWERS, Person, in_loop, read_sse
from tests.scripted_provider import ScriptedProvider
from tests.streams import verified

pytestmark = pytest.mark.django_db(transaction=True)


def test_b120_of_ten_sends_at_once_with_one_left_one_goes_through(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    provider.answer("The one answer.")
    outcomes: list[str] = []
    messages: list[str] = []

    def note(event: dict[str, Any]) -> None:
        outcomes.append(event.get("code", "answered"))
        if "message" in event:
            messages.append(event["message"])

    async def body() -> None:
        person = await Person.visitor()

        async def over_http(number: int, **headers: str) -> None:
            response = await person.post(ANSWERS, {"question": f"How {number}?"}, **headers)
            if response.status_code == 429:
                assert int(response["Retry-After"]) > 0
                note(response.json()["error"])
            elif response.streaming:
                note(verified(await read_sse(response))[-1])
            else:
                note(response.json())

        async def over_socket(socket: Any, number: int) -> None:
            await socket.send({"type": "ask", "question": f"How {number}?"})
            note((await socket.read_answer())[-1])

        async with person.socket() as one, person.socket() as two, person.socket() as three:
            await asyncio.gather(
                *(over_socket(socket, at) for at, socket in enumerate((one, two, three))),
                *(over_http(at, Accept="text/event-stream") for at in range(3, 7)),
                *(over_http(at) for at in range(7, 10)),
            )

    in_loop(body)
    assert sorted(outcomes) == ["answered"] + ["rate_limited"] * 9
    assert len(set(messages)) == 1, "the same words on each"
    assert Answer.objects.count() == len(provider.requests) == 1


def test_b120_a_refused_send_leaves_the_count_as_it_is(settings: Any, valkey_client: Any) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    charge("visitor:a", "192.0.2.1")
    for _ in range(3):
        with pytest.raises(RateLimited):
            charge("visitor:a", "192.0.2.1")
    counts = [int(valkey_client.get(key)) for key in valkey_client.keys("limit:*")]
    assert counts
    assert set(counts) == {1}


@pytest.mark.parametrize("what", ["gone from the browser", "expired on the server"])
def test_b125_without_its_session_a_conversation_is_not_there_and_a_new_one_begins(
    provider: ScriptedProvider, what: str
) -> None:
    provider.answer("The first answer.")
    provider.answer("A new beginning.")

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("How?")).json()
        if what == "gone from the browser":
            del person.cookies["sessionid"]
        else:
            person.cookies["sessionid"] = "expired-long-ago"
        fields = {"conversation_id": first["conversation_id"]}
        refused = await person.ask_json("And then?", **fields)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
        assert len(provider.requests) == 1, "nothing was sent to the model"
        anew = await person.ask_json("And then?")
        assert anew.status_code == 200
        assert anew.json()["conversation_id"] != first["conversation_id"]
        for address in (
            f"/api/v1/conversations/{first['conversation_id']}/",
            f"{ANSWERS}{first['id']}/",
            f"{ANSWERS}{first['id']}/events/",
        ):
            assert (await person.get(address)).status_code == 404

    in_loop(body)
    assert Conversation.objects.count() == 2
    assert list(Answer.objects.order_by("created_at").values_list("question", flat=True)) == [
        "How?",
        "And then?",
    ]
