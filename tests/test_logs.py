"""Log lines: an event and its ids, nothing that people wrote."""

import logging

import pytest

from helpcenter.logs import EventFormatter


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
