"""What is sent is checked before anything begins."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from assistant.questions import Ask, parse_ask, parse_cursor, parse_object
from assistant.refusals import InvalidQuestion, Malformed, NotFound

ID = "0b9d2b1e-8a63-4f7c-9b0e-111111111111"


def test_a_send_with_everything() -> None:
    data = {
        "question": " How? ",
        "key": "k",
        "conversation_id": ID,
        "article": "sso",
        "retry_of": ID,
    }
    parsed = uuid.UUID(ID)
    assert parse_ask(data) == Ask("How?", "k", parsed, "sso", parsed)


def test_nothing_but_the_question_is_needed_and_what_is_unknown_is_ignored() -> None:
    nulls = {"key": None, "conversation_id": None, "article": None, "retry_of": None}
    assert parse_ask({"question": "How?", "colour": "blue", **nulls}) == Ask("How?")


@pytest.mark.parametrize(
    "question",
    [
        None,
        "",
        "   \n\t ",
        "\u200b\u200d\ufeff\u2060",
        "\u3164\u115f\u2800",
        "\u0301",
        "\u202e\u200f",
        "a\0b",
        "half \ud83d",
        "x" * 4001,
        7,
        True,
        ["How?"],
        {"text": "How?"},
    ],
)
def test_what_is_no_question_is_refused(question: Any) -> None:
    with pytest.raises(InvalidQuestion) as refusal:
        parse_ask({"question": question})
    assert refusal.value.status == 400
    assert refusal.value.payload()["error"]["code"] == "invalid_question"


@pytest.mark.parametrize(
    "question", ["?", "你好", "🎉", "👩‍👩‍👧", "é", "e\u0301", "x" * 4000, "=1+2"]
)
def test_anything_that_can_be_seen_is_a_question(question: str) -> None:
    assert parse_ask({"question": question}).question == question


def test_the_limit_is_a_setting_and_the_message_names_it(settings: Any) -> None:
    settings.QUESTION_MAX_LENGTH = 10
    with pytest.raises(InvalidQuestion, match="invalid_question") as refusal:
        parse_ask({"question": "eleven char"})
    assert "11 characters; at most 10" in refusal.value.payload()["error"]["message"]


@pytest.mark.parametrize(
    "field",
    [
        {"key": 7},
        {"key": "x" * 101},
        {"key": "a\0"},
        {"key": "\udc00"},
        {"conversation_id": 7},
        {"retry_of": []},
        {"article": {}},
        {"article": "x" * 121},
        {"article": "a\0b"},
    ],
)
def test_wrong_types_are_named(field: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refusal:
        parse_ask({"question": "How?", **field})
    assert list(refusal.value.payload()["error"]["fields"]) == list(field)


@pytest.mark.parametrize("name", ["conversation_id", "retry_of"])
def test_an_id_that_cannot_be_anybodys_is_an_unknown_one(name: str) -> None:
    with pytest.raises(NotFound):
        parse_ask({"question": "How?", name: "1 OR 1=1"})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"type": "ask", ',
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"n": ' + b"9" * 60_000 + b"}",
        b'{"question": "' + b"x" * 70_000 + b'"}',
    ],
)
def test_what_is_no_json_object_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_object(data)


def test_a_json_object_is_read_from_text_and_bytes() -> None:
    assert parse_object(json.dumps({"a": 1})) == parse_object(b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(("cursor", "read"), [(None, 0), ("0", 0), ("12", 12), (12, 12)])
def test_a_cursor_is_a_number(cursor: Any, read: int) -> None:
    assert parse_cursor(cursor) == read


@pytest.mark.parametrize(
    "cursor", ["", "-1", "x", "1.5", "٣", "9" * 10, -1, 10**9, True, 1.5, [], {}]
)
def test_any_other_cursor_is_malformed(cursor: Any) -> None:
    with pytest.raises(Malformed):
        parse_cursor(cursor)
