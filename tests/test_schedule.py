"""The schedule names tasks that exist and can be sent."""

from __future__ import annotations

import pytest
from django.conf import settings

from helpcenter.celery import app


@pytest.fixture(autouse=True, scope="module")
def tasks_are_loaded() -> None:
    app.loader.import_default_modules()


@pytest.mark.parametrize("entry", sorted(settings.CELERY_BEAT_SCHEDULE))
def test_a_scheduled_task_can_be_sent(entry: str) -> None:
    task = app.tasks[settings.CELERY_BEAT_SCHEDULE[entry]["task"]]
    assert task.time_limit is not None
    assert task.soft_time_limit is not None
    assert 0 < task.soft_time_limit < task.time_limit


def test_every_task_of_ours_has_limits_that_agree() -> None:
    ours = [task for name, task in app.tasks.items() if name.split(".")[1:2] == ["tasks"]]
    assert len(ours) >= 4
    for task in ours:
        assert task.time_limit is not None, task.name
        assert task.soft_time_limit is not None, task.name
        assert 0 < task.soft_time_limit < task.time_limit, task.name
