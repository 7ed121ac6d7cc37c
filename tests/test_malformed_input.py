"""Thousands of frames and bodies that make no sense: each is answered, and nothing falls over.

MALFORMED says how many of each; `make proof` tries 5,000.
"""

from __future__ import annotations

import json
import os
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assistant.models import Answer, Conversation
from tests.chat_clients import ANSWERS, Person, in_loop

BATCH = 50
EXAMPLES = max(1, int(os.environ.get("MALFORMED", "100")) // BATCH)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(["\x00", "\ud800", "\u200b", "x" * 5000, "../", "%00", "null", "NaN", "-1"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *("type", "question", "key", "answer_id", "conversation_id", "retry_of", "article"),
        *("after", "render", "rating", "reason", "comment"),
    ]
)
OBJECTS = st.dictionaries(NAMES | st.text(max_size=12), VALUES, max_size=6)
FRAME_TYPES = st.sampled_from(["ask", "stop", "resume", "Ask", "", "ask\x00"]) | VALUES


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """JSON of an object with something taken out, put in or cut off."""
    text = json.dumps({**draw(OBJECTS), "type": draw(FRAME_TYPES)})
    at = draw(st.integers(0, len(text)))
    put_in = draw(st.text(string.printable, max_size=4))
    left_out = draw(st.integers(0, 3))
    return text[:at] + put_in + text[at + left_out :]


TEXTS = (
    st.text(max_size=200)
    | OBJECTS.map(json.dumps)
    | VALUES.map(json.dumps)
    | damaged()
    | st.sampled_from(["[" * 30_000, '{"a":' * 10_000, '"', "\ufeff{}", "{}{}", "1e999"])
)
FRAMES = st.one_of(
    TEXTS,
    st.builds(
        lambda fields, kind: json.dumps({**fields, "type": kind}),
        OBJECTS,
        st.sampled_from(["ask", "stop", "resume"]),
    ),
    st.binary(max_size=200),
)
BODIES = TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=300)
PATHS = st.sampled_from(
    [ANSWERS, f"{ANSWERS}x/stop/", f"{ANSWERS}x/feedback/", f"{ANSWERS}{'0' * 32}/stop/"]
)
CURSORS = st.text(max_size=30) | st.sampled_from(["-1", "1e3", "١", "99999999999", "0x1", "1 "])


def many() -> settings:
    """A batch in each example: making a visitor costs more than a hundred frames."""
    return settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(autouse=True)
def patient_limits(settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = 1


@pytest.mark.django_db(transaction=True)
@many()
@given(st.lists(FRAMES, min_size=BATCH, max_size=BATCH))
def test_a_socket_answers_every_frame_and_stays(frames: list[str | bytes]) -> None:
    async def body() -> None:
        person = await Person.visitor()
        async with person.socket() as socket:
            for frame in frames:
                if isinstance(frame, bytes):
                    await socket.send_bytes(frame)
                else:
                    await socket.send(frame)
                event = await socket.receive()
                while event["type"] not in ("done", "error"):
                    event = await socket.receive()
                assert event["type"] == "done" or event["message"], frame
            await socket.send({"type": "stop", "answer_id": "still here"})
            assert (await socket.receive())["code"] == "not_found"

    in_loop(body)


@pytest.mark.django_db(transaction=True)
@many()
@given(st.lists(st.tuples(PATHS, BODIES, st.booleans(), CURSORS), min_size=BATCH, max_size=BATCH))
def test_a_body_is_answered_in_the_one_shape(
    requests: list[tuple[str, bytes, bool, str]],
) -> None:
    async def body() -> None:
        person = await Person.visitor()
        for path, content, streams, cursor in requests:
            headers = {"Accept": "text/event-stream"} if streams else {}
            response = await person.post(path, content, **headers)
            await _assert_answered(response, content)
            response = await person.http.get(f"{ANSWERS}x/events/", {"after": cursor})
            await _assert_answered(response, cursor)

    in_loop(body)
    assert Conversation.objects.count() <= Answer.objects.count()


async def _assert_answered(response: Any, what: object) -> None:
    assert response.status_code < 500, what
    if response.streaming:
        async for _chunk in response:
            pass
    elif response.status_code >= 400:
        assert response.json()["error"]["code"], what
