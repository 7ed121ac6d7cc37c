"""Celery: what runs outside of requests. `celery -A helpcenter worker` finds the app here."""

import os
import warnings
from typing import Any

from celery import Celery, signals
from celery.exceptions import SecurityWarning

from helpcenter import logs

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

app = Celery("helpcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.task_prerun.connect
def _bind_task(task_id: str, **_more: Any) -> None:
    """A worker's process runs one task at a time: the next one's id takes the place of this."""
    logs.bind(task_id=task_id)


# As root, with JSON alone accepted, this is about tidiness, and it would be repeated at each start.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)
