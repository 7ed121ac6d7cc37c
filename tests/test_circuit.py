"""Five failures in a row and a provider is left alone for a while, by all processes together."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import aclosing, suppress
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from assistant.agent import ProviderError
from assistant.providers import circuits, standing
from assistant.providers.circuit import QUIET_SECONDS, Circuit, CircuitOpenError
from assistant.providers.openai import OpenAIModel
from assistant.providers.refusals import ParameterRefusedError, ToolsRefusedError
from assistant.providers.retries import Patience
from helpcenter.metrics import REGISTRY
from tests.scripted_provider import Endless, ScriptedProvider, say

ENDPOINT = ("http://127.0.0.1:9/v1", "scripted")
DOWN = ProviderError("unavailable")


@pytest.fixture(params=["shared", "local"])
def circuit(request: pytest.FixtureRequest, settings: Any) -> Circuit:
    """Two seconds long: with Valkey, and in a process that has none."""
    if request.param == "local":
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
    return Circuit(*ENDPOINT, seconds=2)


@async_to_sync
async def calls(circuit: Circuit, *errors: BaseException | None) -> list[bool]:
    """Calls one after the other that end in this way. Whether each of them was let through."""
    let_through = []
    for error in errors:
        entered = False
        with suppress(ProviderError, asyncio.CancelledError, GeneratorExit):
            async with circuit.attempt():
                entered = True
                if error is not None:
                    raise error
        let_through.append(entered)
    return let_through


def open_and_wait(circuit: Circuit) -> None:
    """As if the pause were over."""
    calls(circuit, *[DOWN] * 5)
    assert circuit.state().is_open
    circuit._tell("abandon")


def test_five_failures_in_a_row_open_it(circuit: Circuit) -> None:
    assert calls(circuit, *[DOWN] * 7) == [True] * 5 + [False] * 2
    state = circuit.state()
    assert (state.failures, state.is_open) == (5, True)
    assert 1 < state.seconds <= 2


def test_an_answer_in_between_begins_the_count_anew(circuit: Circuit) -> None:
    assert calls(circuit, *[DOWN] * 4, None, *[DOWN] * 4, None) == [True] * 10
    assert circuit.state().failures == 0


def test_what_was_just_seen_closed_is_not_asked_about_again(
    circuit: Circuit, monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit.look_ahead()
    with monkeypatch.context() as patched:
        patched.setattr(circuit, "_tell", unexpected)
        circuit.look_ahead()
        assert calls(circuit, asyncio.CancelledError()) == [True]
    calls(circuit, *[DOWN] * 5)
    assert calls(circuit, None) == [False], "a call that fails here ends that"


def test_a_circuit_that_another_process_opens_is_open_here_a_moment_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = Circuit(*ENDPOINT, seconds=2), Circuit(*ENDPOINT, seconds=2)
    here.look_ahead()
    calls(there, *[DOWN] * 5)
    assert calls(here, asyncio.CancelledError()) == [True]
    monkeypatch.setattr("assistant.providers.circuit.time.monotonic", lambda: here._quiet_until)
    assert calls(here, None) == [False]
    here.look_ahead()
    assert calls(here, None) == [False], "it was seen open"


def unexpected(verb: str) -> None:
    raise AssertionError(f"Valkey was told {verb}")


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (ProviderError("unavailable"), True),
        (ProviderError("timeout"), True),
        (ProviderError("rate_limited"), True),
        (ProviderError("misconfigured"), True),
        (ProviderError("refused"), False),
        (ProviderError("content_filter"), False),
        (ProviderError("context_length"), False),
        (ParameterRefusedError("temperature", ""), False),
        (ToolsRefusedError(""), False),
    ],
)
def test_only_what_says_that_the_endpoint_does_not_work_counts(
    error: ProviderError, counts: bool
) -> None:
    circuit = Circuit(*ENDPOINT, seconds=2)
    calls(circuit, DOWN, error)
    assert circuit.state().failures == (2 if counts else 0)


def test_a_call_that_its_caller_breaks_off_says_nothing(circuit: Circuit) -> None:
    calls(circuit, DOWN, asyncio.CancelledError(), GeneratorExit())
    assert circuit.state().failures == 1


def test_after_the_pause_one_call_looks_and_its_answer_closes_it(circuit: Circuit) -> None:
    open_and_wait(circuit)

    @async_to_sync
    async def look() -> None:
        async with circuit.attempt():
            with pytest.raises(CircuitOpenError) as refusal:
                async with circuit.attempt():
                    pass
            assert refusal.value.retry_after is not None
            assert 19 < refusal.value.retry_after <= 20

    look()
    assert not circuit.state().is_open
    assert calls(circuit, None, None) == [True, True]


def test_a_look_that_fails_begins_the_pause_again(circuit: Circuit) -> None:
    open_and_wait(circuit)
    assert calls(circuit, DOWN, None) == [True, False]
    assert circuit.state().failures == 6


def test_a_look_that_is_broken_off_is_left_to_the_next_one(circuit: Circuit) -> None:
    open_and_wait(circuit)
    assert calls(circuit, asyncio.CancelledError(), None) == [True, True]
    assert not circuit.state().is_open


def test_the_pause_ends_by_itself() -> None:
    circuit = Circuit(*ENDPOINT, seconds=0.001)
    calls(circuit, *[DOWN] * 5)
    while circuit.state().seconds:
        pass
    assert calls(circuit, None) == [True]


def test_processes_share_it_and_models_do_not() -> None:
    here, there = Circuit(*ENDPOINT, seconds=2), Circuit(*ENDPOINT, seconds=2)
    other = Circuit(ENDPOINT[0], "another", seconds=2)
    calls(here, *[DOWN] * 3)
    calls(there, *[DOWN] * 2)
    assert calls(here, None) == calls(there, None) == [False]
    assert calls(other, None) == [True]


def test_its_key_expires(valkey_client: redis.Redis) -> None:
    calls(Circuit(*ENDPOINT, seconds=2), DOWN)
    [key] = valkey_client.keys("circuit:*")
    assert 3500 < valkey_client.ttl(key) <= 3600


def test_valkey_is_not_waited_for_with_each_call(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    calls(Circuit(*ENDPOINT, seconds=2), *[None] * 4)
    assert [record.getMessage() for record in caplog.records] == ["circuit_local"]


# In a model


def model_at(provider: ScriptedProvider) -> OpenAIModel:
    return OpenAIModel(
        name="scripted",
        base_url=provider.url,
        patience=Patience(first_wait=0.001),
        circuit=Circuit(provider.url, "scripted", seconds=30),
    )


@async_to_sync
async def ask(model: OpenAIModel) -> str:
    """The code of the error, or nothing."""
    question = [{"role": "user", "content": "How?"}]
    try:
        async with aclosing(model.stream(question, ())) as events:
            async for _event in events:
                pass
    except ProviderError as error:
        return error.code
    return ""


def test_attempts_count_and_an_open_circuit_makes_no_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ScriptedProvider() as provider:
        for _ in range(5):
            provider.refuse(500, {})
        model = model_at(provider)
        assert [ask(model) for _ in range(4)] == ["unavailable"] * 4
        assert len(provider.requests) == 5
    opened = [one for one in caplog.records if one.getMessage() == "provider_circuit_opened"]
    assert len(opened) == 1


def test_a_stream_that_its_reader_leaves_does_not_count() -> None:
    with ScriptedProvider() as provider:
        model = model_at(provider)

        @async_to_sync
        async def leave() -> None:
            question = [{"role": "user", "content": "How?"}]
            async with aclosing(model.stream(question, ())) as events:
                await anext(events)

        for _ in range(6):
            provider.reply(say("Open "), Endless())
            leave()
        assert model.circuit is not None
        assert model.circuit.state().failures == 0


# What is told of it


@pytest.fixture
def down(settings: Any) -> Any:
    settings.OPENAI_BASE_URL, settings.ASSISTANT_MODEL = ENDPOINT
    settings.ASSISTANT_FALLBACK_MODEL = "second"
    settings.ASSISTANT_CIRCUIT_SECONDS = 30  # longer than a page takes on a busy machine
    calls(circuits(settings)[0], *[DOWN] * 5)
    return settings


@pytest.mark.django_db
def test_readyz_has_a_note_and_stays_ready(client: Client, down: Any) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["notes"]["provider"] == "given up for a while; fallback ok"
    assert REGISTRY.get_sample_value("helpcenter_provider_circuit_open", {"model": "first"}) == 1
    down.ASSISTANT_MODEL = ""
    assert standing.note() == "no model"


@pytest.mark.django_db
@pytest.mark.parametrize("may", [[], ["view_answer"]])
def test_the_admin_warns_those_who_may_see_answers(
    client: Client, down: Any, owner: User, may: list[str]
) -> None:
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    owner.user_permissions.set(Permission.objects.filter(codename__in=may))
    client.force_login(owner)
    page = client.get(reverse("admin:index")).content.decode()
    assert ("failed 5 times in a row" in page) == bool(may)
    assert ("Meanwhile second answers." in page) == bool(may)
    if may:
        list_page = client.get(reverse("admin:assistant_answer_changelist")).content.decode()
        assert re.search(r"It is left alone for another (30|2\d) seconds\.", list_page)
        calls(circuits(down)[1], *[DOWN] * 5)
        assert "cannot be reached" in client.get(reverse("admin:index")).content.decode()
        circuits(down)[0]._tell("succeed")
        assert "in a row" not in client.get(reverse("admin:index")).content.decode()


def test_while_all_is_well_the_others_are_asked_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = (Circuit(*ENDPOINT, seconds=2) for _ in range(2))
    assert calls(here, None, None) == [True, True]
    calls(there, *[DOWN] * 5)
    assert calls(here, None) == [True]
    monkeypatch.setattr("time.monotonic", lambda now=time.monotonic: now() + QUIET_SECONDS)
    assert calls(here, None) == [False]


def test_a_failure_of_its_own_is_known_at_once() -> None:
    here, there = (Circuit(*ENDPOINT, seconds=2) for _ in range(2))
    calls(here, None, DOWN)
    calls(there, *[DOWN] * 4)
    assert calls(here, None) == [False]
