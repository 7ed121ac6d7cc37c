"""Log lines: an event and its ids, nothing that people wrote."""

import asyncio
import json
import logging
import sys
import uuid
from contextvars import Context, ContextVar
from datetime import datetime

import pytest
from celery import signals

from assistant.background import spawn
from assistant.database import db
from helpcenter import logs
from helpcenter.logs import BoundIds, EventFormatter, JsonFormatter


def line(message: str, **extra: object) -> str:
    record = logging.makeLogRecord(
        {"name": "assistant.chat", "levelname": "INFO", "msg": message, "created": 0.0, **extra}
    )
    return EventFormatter().format(record)


def test_a_line_names_the_event_and_its_ids() -> None:
    assert line("turn_started", answer_id=17, owner="visitor").endswith(
        " INFO assistant.chat turn_started answer_id=17 owner=visitor"
    )


@pytest.mark.parametrize(
    ("value", "shown"), [("", "''"), ("two words", "'two words'"), ("a\nb", "'a\\nb'")]
)
def test_a_value_cannot_look_like_another_field_or_line(value: str, shown: str) -> None:
    assert line("event", name_of_it=value).endswith(f" event name_of_it={shown}")


def test_what_frameworks_attach_is_left_out() -> None:
    assert line("Not found", request="GET /search/?q=private").endswith(" Not found")


def test_a_json_line_has_the_same_event_and_ids() -> None:
    record = logging.makeLogRecord(
        {"name": "assistant.chat", "levelname": "INFO", "msg": "turn_started", "created": 0.0}
    )
    vars(record).update(answer_id=uuid.UUID(int=17), request="GET /search/?q=private")
    assert json.loads(JsonFormatter().format(record)) == {
        "time": datetime.fromtimestamp(0).astimezone().strftime("%Y-%m-%dT%H:%M:%S%z"),
        "level": "INFO",
        "logger": "assistant.chat",
        "event": "turn_started",
        "answer_id": str(uuid.UUID(int=17)),
    }


def test_a_traceback_stays_on_its_json_line() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        record = logging.makeLogRecord({"msg": "turn_broke", "exc_info": sys.exc_info()})
    text = JsonFormatter().format(record)
    assert "\n" not in text
    assert "ValueError: two\nlines" in json.loads(text)["traceback"]


def recorded(**extra: object) -> dict[str, object]:
    record = logging.makeLogRecord({"msg": "event", **extra})
    BoundIds().filter(record)
    return vars(record)


def test_what_is_bound_stands_in_each_line_until_its_end() -> None:
    with logs.bound(task_id=1):
        with logs.bound(answer_id=2):
            record = recorded()
            assert (record["task_id"], record["answer_id"]) == ("1", "2")
        assert "answer_id" not in recorded()
    assert "task_id" not in recorded()


def test_a_line_that_names_an_id_itself_means_that_one() -> None:
    with logs.bound(answer_id=2):
        assert recorded(answer_id=3)["answer_id"] == 3


def test_the_ids_go_along_to_other_threads_and_tasks_and_nothing_else_does() -> None:
    async def work() -> tuple[object, object, object]:
        here = recorded()
        there = await db(recorded)
        return here.get("request_id"), there.get("request_id"), other.get(None)

    async def body() -> tuple[object, object, object]:
        other.set("of the request")
        with logs.bound(request_id="r-1"):
            return await spawn(work(), "work", logs.ids())

    other: ContextVar[str] = ContextVar("other")
    assert asyncio.run(body()) == ("r-1", "r-1", None)


def test_a_task_of_the_worker_has_its_id_in_its_lines() -> None:
    def body() -> object:
        signals.task_prerun.send(None, task_id="t-1")
        signals.task_prerun.send(None, task_id="t-2")
        return recorded()["task_id"]

    assert Context().run(body) == "t-2"
