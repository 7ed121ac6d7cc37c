"""Celery: what runs outside of requests. `celery -A helpcenter worker` finds the app here."""

import os
import time
import warnings
from typing import Any

from celery import Celery, signals
from celery.exceptions import SecurityWarning

from helpcenter import logs
from helpcenter.connections import IMPATIENT_BROKER
from helpcenter.postgres import DATABASE_DOWN

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

app = Celery("helpcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

OUTLASTS_THE_DATABASE: dict[str, Any] = {
    "autoretry_for": DATABASE_DOWN,
    "retry_backoff": 2,
    "retry_backoff_max": 8,
    "retry_jitter": False,
    "max_retries": 40,
}
"""For a task that nobody else hands out again: it is tried for five minutes."""

_begun: dict[str, float] = {}


def hand_out(task: str, *arguments: str | int) -> None:
    """Has a worker do a task while somebody waits: one short attempt. Named and not called, since
    the tasks import whoever hands them out. Raises kombu's `OperationalError`, or `OSError`."""
    with app.connection_for_write(transport_options=IMPATIENT_BROKER) as connection:
        app.send_task(task, list(arguments), connection=connection, retry=False)


@signals.worker_process_init.connect
def _watch_the_database(**_more: Any) -> None:
    """In each process that does tasks, which waited without an end for a server that is frozen."""
    from helpcenter.postgres.base import watch_as_a_worker

    watch_as_a_worker()


@signals.task_prerun.connect
def _bind_task(task_id: str, **_more: Any) -> None:
    """A worker's process runs one task at a time: the next one's id takes the place of this."""
    logs.bind(task_id=task_id)
    _begun[task_id] = time.monotonic()


@signals.task_postrun.connect
def _count_task(task_id: str, task: Any, state: str | None, **_more: Any) -> None:
    from helpcenter.site_counts import TASK_SECONDS, TASKS

    TASKS.add(task.name, (state or "unknown").lower())
    TASK_SECONDS.add(task.name, amount=time.monotonic() - _begun.pop(task_id))


# As root, with JSON alone accepted, this is about tidiness, and it would be repeated at each start.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)
