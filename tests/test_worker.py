"""Background tasks: JSON alone, handed out again only when they must have ended, and done."""

import pytest
from celery import shared_task
from django.conf import settings
from kombu.exceptions import EncodeError

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
