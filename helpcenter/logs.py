"""Logging: one line an event, its name first, then ids, as text or as JSON.

A log call names an event and passes ids: `logger.info("turn_started", extra={"answer_id": …})`.
What people write (questions, answers, search terms) and keys never belong in one.

Ids that belong to all lines of a request, a turn or a task are bound once: `with bound(task_id=…)`.
They follow the code through `await`, and into other tasks and threads where those bind `ids()`.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

Format = Literal["text", "json"]

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
# What Django and Celery attach for their own formatters. A request's URL may hold a search.
_FOREIGN = frozenset({"request", "data", "server_time", "color_message", "websocket"})
_TIME = "%Y-%m-%dT%H:%M:%S%z"

_ids: ContextVar[Mapping[str, str]] = ContextVar("log_ids")


def ids() -> Mapping[str, str]:
    """What is bound here."""
    return _ids.get({})


def bind(**more: object) -> None:
    """From here to the end of this context, each line has these ids too."""
    _ids.set({**ids(), **{name: str(value) for name, value in more.items()}})


@contextmanager
def bound(**more: object) -> Iterator[None]:
    """Inside, each line has these ids too."""
    before = ids()
    bind(**more)
    try:
        yield
    finally:
        _ids.set(before)


class BoundIds(logging.Filter):
    """Gives a record the ids that are bound where it was made. Its own win."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in ids().items():
            vars(record).setdefault(name, value)
        return True


class EventFormatter(logging.Formatter):
    """`2026-01-31T12:00:00+0000 INFO assistant.chat turn_started answer_id=17`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", _TIME)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        extra = "".join(f" {name}={_value(value)}" for name, value in _extra(record).items())
        return super().formatMessage(record) + extra


class JsonFormatter(logging.Formatter):
    """`{"time": "…", "level": "INFO", "logger": "…", "event": "turn_started", "answer_id": "17"}`,
    and `traceback` where there is one."""

    def __init__(self) -> None:
        super().__init__(datefmt=_TIME)

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, self.datefmt),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
        }
        line = {**_extra(record), **line}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD | _FOREIGN}


def _value(value: object) -> str:
    text = str(value)
    return repr(text) if not text or any(char.isspace() for char in text) else text


def logging_settings(form: Format = "text") -> dict[str, Any]:
    formatter = {"text": "EventFormatter", "json": "JsonFormatter"}[form]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": {"()": f"helpcenter.logs.{formatter}"}},
        "filters": {"bound_ids": {"()": "helpcenter.logs.BoundIds"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "event",
                "filters": ["bound_ids"],
            }
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            # Django's own handlers would mail tracebacks and print each request's URL.
            "django": {"handlers": [], "propagate": True},
            "django.request": {"level": "ERROR"},
            # The web server's own events say what this one's say at INFO.
            "uvicorn.error": {"level": "WARNING"},
            # Two lines for each task, several times a minute; what a task did, it says itself.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            # These name hosts and URLs at INFO.
            "httpx2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
        },
    }
