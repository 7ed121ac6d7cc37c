"""Background tasks: JSON alone, handed out again only when they must have ended, and done."""

import pytest
from celery import shared_task
from django.conf import settings
from kombu.exceptions import EncodeError
from kombu.utils.imports import symbol_by_name

from helpcenter.celery import app
from helpcenter.processes import Child
from tests.processes import wait_until


@shared_task
def example(argument: object) -> None:
    """Never run: only sent."""


def test_a_task_takes_nothing_but_json() -> None:
    assert app.conf.accept_content == ["json"]
    with pytest.raises(EncodeError):
        example.delay(object())


def test_a_task_is_handed_out_again_only_after_it_must_have_ended() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_soft_time_limit < app.conf.task_time_limit
    assert app.conf.broker_transport_options["visibility_timeout"] > app.conf.task_time_limit


class _EnoughError(Exception):
    """So many attempts."""


def test_a_worker_looks_every_few_seconds_for_its_broker_and_never_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Celery's own pauses grow to thirty seconds, and after a hundred attempts it ends."""
    consumer_class = symbol_by_name(app.conf.worker_consumer)
    consumer = object.__new__(consumer_class)
    consumer.app, consumer.first_connection_attempt = app, False
    consumer.broker_connection_retry_attempt = 0
    pauses: list[float] = []

    def failed(*_line: object) -> None:
        pauses.append(0)
        if len(pauses) > 101:
            raise _EnoughError

    def sleep(seconds: float) -> None:
        pauses[-1] += seconds

    monkeypatch.setattr("celery.worker.consumer.consumer.error", failed)
    monkeypatch.setattr("kombu.utils.functional.sleep", sleep)
    monkeypatch.setattr("celery.worker.consumer.consumer.maybe_shutdown", lambda: None)
    with app.connection_for_read("redis://127.0.0.1:1/0") as broker, pytest.raises(_EnoughError):
        consumer.ensure_connected(broker)
    assert max(pauses) == 3


def test_each_scheduled_task_exists() -> None:
    app.loader.import_default_modules()
    tasks = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert tasks <= set(app.tasks)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_knows_every_task_of_the_apps(worker: Child) -> None:
    app.loader.import_default_modules()
    own = {name for name in app.tasks if name.startswith(("articles.", "assistant."))}
    assert own

    def known() -> set[str]:
        return {
            name for tasks in (app.control.inspect().registered() or {}).values() for name in tasks
        }

    wait_until(lambda: own <= known(), "the worker's tasks")
