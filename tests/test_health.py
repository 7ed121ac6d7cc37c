"""`/healthz` and `/readyz`: what a load balancer asks."""

import asyncio

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient, Client
from pytest_django.fixtures import Settings

from helpcenter import drain, health, probes


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> dict[str, health.Check]:
    """The platform's own checks, in a register that a test may change."""
    own = ("server", "database", "migrations", "valkey")
    register = {name: health._checks[name] for name in own}
    monkeypatch.setattr(health, "_checks", register)
    monkeypatch.setattr(health, "_notes", {})
    return register


def test_a_process_that_lives_says_so_without_asking_anybody(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_a_site_that_can_serve_lists_its_checks(
    client: Client, checks: dict[str, health.Check]
) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ok",
        "checks": {"server": "ok", "database": "ok", "migrations": "ok", "valkey": "ok"},
        "notes": {},
    }


@pytest.mark.django_db
def test_a_note_is_shown_and_changes_nothing(
    client: Client, checks: dict[str, health.Check]
) -> None:
    health.register_note("provider", lambda: "given up for a while")
    health.register_note("other", lambda: None)
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["notes"] == {"provider": "given up for a while", "other": "ok"}


@pytest.mark.django_db
def test_a_check_of_an_app_counts(client: Client, checks: dict[str, health.Check]) -> None:
    health.register("index", lambda: "3 articles wait")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["status"] == "unavailable"
    assert response.json()["checks"]["index"] == "3 articles wait"


@pytest.mark.django_db
def test_a_check_that_raises_has_failed_and_says_nothing_of_why(
    client: Client, checks: dict[str, health.Check], caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> str | None:
        raise RuntimeError("the password is swordfish")

    health.register("broken", broken)
    response = client.get("/readyz")
    assert response.json()["checks"]["broken"] == "failed"
    assert "swordfish" not in response.content.decode()
    assert "health_check_failed" in caplog.text


@pytest.mark.django_db
def test_a_server_that_is_out_of_reach_is_logged_in_one_line(
    client: Client, checks: dict[str, health.Check], caplog: pytest.LogCaptureFixture
) -> None:
    def out_of_reach() -> str | None:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    health.register("database", out_of_reach)
    assert client.get("/readyz").json()["checks"]["database"] == "failed"
    [record] = [record for record in caplog.records if record.name == "helpcenter.health"]
    assert record.exc_info is None
    assert (record.levelname, record.__dict__["error"]) == ("WARNING", "OperationalError")


@pytest.mark.django_db
def test_a_missing_migration_makes_it_unready(
    client: Client, checks: dict[str, health.Check]
) -> None:
    MigrationRecorder(connection).record_unapplied("helpcenter", "0002_api_tokens")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["migrations"] == "1 migrations are not applied"


@pytest.mark.django_db
def test_a_valkey_that_is_gone_makes_it_unready(
    client: Client, checks: dict[str, health.Check], settings: Settings
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock?db=0"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"] == {
        "server": "ok",
        "database": "ok",
        "migrations": "ok",
        "valkey": "failed",
    }


@pytest.mark.django_db
def test_a_server_that_drains_is_not_ready_but_alive(
    client: Client, checks: dict[str, health.Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain, "_draining", asyncio.Event())
    drain.begin()
    assert client.get("/readyz").status_code == 503
    assert client.get("/readyz").json()["checks"]["server"] == "draining"
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(("url", "status"), [("/healthz", 200), ("/readyz", 503)])
def test_a_server_that_drains_answers_at_once_whatever_else_is_stuck(
    url: str, status: int, checks: dict[str, health.Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the event loop itself, without a thread and without a look at any other server."""
    monkeypatch.setattr(drain, "_draining", asyncio.Event())
    drain.begin()
    monkeypatch.setattr(probes, "sync_to_async", None)
    checks["database"] = lambda: pytest.fail("asked")
    response = async_to_sync(AsyncClient().get)(url)
    assert response.status_code == status
