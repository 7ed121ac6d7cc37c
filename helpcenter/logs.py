"""Logging: one line an event, its name first, then ids as `name=value`.

A log call names an event and passes ids: `logger.info("turn_started", extra={"answer_id": …})`.
What people write (questions, answers, search terms) and keys never belong in one.
"""

import logging
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
# What Django and Celery attach for their own formatters. A request's URL may hold a search.
_FOREIGN = frozenset({"request", "data", "server_time", "color_message", "websocket"})


class EventFormatter(logging.Formatter):
    """`2026-01-31T12:00:00+0000 INFO assistant.chat turn_started answer_id=17`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        extra = "".join(
            f" {name}={_value(value)}"
            for name, value in vars(record).items()
            if name not in _STANDARD | _FOREIGN
        )
        return super().formatMessage(record) + extra


def _value(value: object) -> str:
    text = str(value)
    return repr(text) if not text or any(char.isspace() for char in text) else text


def logging_settings() -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": {"()": "helpcenter.logs.EventFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "event"}},
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
