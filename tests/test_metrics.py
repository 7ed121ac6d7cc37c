"""`/metrics`: who may read it, what is counted, and what can never be in it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from articles.metrics import measured
from assistant import metrics as turns
from helpcenter.celery import app
from helpcenter.metrics import REGISTRY
from helpcenter.site_counts import INTERRUPTED_TURNS, TASKS

TOKEN = {"Authorization": "Bearer of good news"}


@pytest.fixture
def token(settings: Settings) -> None:
    settings.METRICS_TOKEN = "of good news"


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


def page(client: Client) -> list[str]:
    response = client.get("/metrics", headers=TOKEN)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "no-store" in response["Cache-Control"]
    return response.content.decode().splitlines()


@pytest.mark.django_db
def test_without_a_token_in_the_settings_there_is_no_such_page(client: Client) -> None:
    assert client.get("/metrics", headers=TOKEN).status_code == 404


@pytest.mark.parametrize(
    "given", [{}, {"Authorization": "Bearer "}, {"Authorization": "Bearer of bad néws"}]
)
def test_without_the_token_nothing_is_told(
    client: Client, token: None, given: dict[str, str]
) -> None:
    response = client.get("/metrics", headers=given)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert b"helpcenter_" not in response.content


def test_it_can_only_be_read(client: Client, token: None) -> None:
    assert client.post("/metrics", headers=TOKEN).status_code == 405


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_machines_ask_by_any_address_and_over_plain_http(
    client: Client, token: None, settings: Settings, path: str
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["help.example.com"]
    headers = {**TOKEN, "Host": "10.0.0.7:8000"}
    assert client.get(path, headers=headers).status_code == 200


def test_a_turn_is_counted_by_status_and_grounding_with_its_times() -> None:
    labels = {"status": "completed", "grounding": "grounded"}
    before = sample("helpcenter_turns_total", **labels)
    first = sample("helpcenter_turn_first_token_seconds_count")
    now = timezone.now()
    turns.turn_ended(**labels, begun_at=now, first_token_at=now)
    turns.turn_ended(**labels, begun_at=now, first_token_at=None)
    assert sample("helpcenter_turns_total", **labels) == before + 2
    assert sample("helpcenter_turn_first_token_seconds_count") == first + 1


@dataclass(frozen=True)
class Found:
    mode: str = "lexical"
    fallback_reason: str | None = None


def test_a_search_is_timed_and_what_it_did_without_is_counted() -> None:
    timed = sample("helpcenter_search_seconds_count", mode="lexical")
    failed = sample("helpcenter_search_fallbacks_total", reason="embeddings_failed")
    assert measured(Found)() == Found()
    assert measured(Found)("lexical", "embeddings_failed").mode == "lexical"
    assert sample("helpcenter_search_seconds_count", mode="lexical") == timed + 2
    assert sample("helpcenter_search_fallbacks_total", reason="embeddings_failed") == failed + 1


def test_what_workers_did_and_the_queue_are_read_from_valkey(client: Client, token: None) -> None:
    TASKS.add("articles.tasks.index_stale", "success")
    TASKS.add("articles.tasks.index_stale", "success")
    INTERRUPTED_TURNS.add(amount=3)
    app.send_task("nobody.takes.it", queue="celery")
    lines = page(client)
    task = '{outcome="success",task="articles.tasks.index_stale"}'
    assert f"helpcenter_site_tasks_total{task} 2.0" in lines
    assert "helpcenter_site_interrupted_turns_total 3.0" in lines
    assert 'helpcenter_site_queue_tasks{state="waiting"} 1.0' in lines
    assert 'helpcenter_site_queue_tasks{state="handed_out"} 0.0' in lines
    assert "helpcenter_site_valkey_up 1.0" in lines


def test_without_valkey_the_process_still_tells_its_own(
    client: Client, token: None, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock?db=0"
    with caplog.at_level(logging.WARNING):
        TASKS.add("articles.tasks.index_stale", "success")
        lines = page(client)
    assert "not_counted" in caplog.text
    assert "helpcenter_site_valkey_up 0.0" in lines
    assert any(line.startswith("helpcenter_turns_running ") for line in lines)
    assert not any(line.startswith("helpcenter_site_tasks") for line in lines)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_task_of_a_worker_is_counted(worker: object) -> None:
    from assistant.tasks import end_interrupted_turns
    from tests.processes import wait_until

    end_interrupted_turns.delay()
    labels = {"task": end_interrupted_turns.name, "outcome": "success"}
    wait_until(lambda: sample("helpcenter_site_tasks_total", **labels), "the count")
    assert sample("helpcenter_site_task_seconds_total", task=end_interrupted_turns.name) > 0
