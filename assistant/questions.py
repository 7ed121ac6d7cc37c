"""What somebody sends, checked before anything is begun: a body or a frame becomes an `Ask`.

Raises the refusals of `assistant.refusals`; it asks no database.
"""

from __future__ import annotations

import json
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from assistant.refusals import InvalidQuestion, Malformed, NotFound
from helpcenter.texts import is_storable

MAX_BYTES = 64 * 1024
KEY_LENGTH = 100
SLUG_LENGTH = 120

_BLANK_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Cs", "Mn", "Zl", "Zp", "Zs"})
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a symbol that show nothing: Hangul fillers and the empty Braille pattern."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A send. `key` names it, empty where the sender named none; `article` is a page's slug."""

    question: str
    key: str = ""
    conversation_id: uuid.UUID | None = None
    article: str = ""
    retry_of: uuid.UUID | None = None


def parse_object(data: str | bytes) -> dict[str, Any]:
    """A JSON object; anything else is malformed."""
    if len(data) > MAX_BYTES:
        raise Malformed(_("The request is too large."))
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Malformed(_("The request is not JSON.")) from None
    if not isinstance(value, dict):
        raise Malformed(_("Expected a JSON object."))
    return value


def parse_ask(data: Mapping[str, Any]) -> Ask:
    """The send that a body or an `ask` frame describes. Fields that are unknown are ignored."""
    return Ask(
        question=_question(data.get("question")),
        key=parse_key(data.get("key")),
        conversation_id=parse_id(data, "conversation_id"),
        article=_text(data, "article", SLUG_LENGTH),
        retry_of=parse_id(data, "retry_of"),
    )


def parse_key(value: object) -> str:
    """A send's key: any printable text of at most 100 characters."""
    return _text({"key": value}, "key", KEY_LENGTH)


def parse_id(data: Mapping[str, Any], name: str) -> uuid.UUID | None:
    """An id; one that cannot be anybody's is refused as an unknown one."""
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong(name, _("Expected a text."))
    try:
        return uuid.UUID(value)
    except ValueError:
        raise NotFound from None


def parse_cursor(value: object, name: str = "after") -> int:
    """How far a client has come in what `name` counts; 0 where it says nothing."""
    if value is None:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9:
        return value
    raise _wrong(name, _("Expected a number, 0 or greater."))


def _question(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidQuestion(_("The question is not a text."))
    question = value.strip()
    if not is_storable(question):
        raise InvalidQuestion(_("The question has characters that are not text."))
    if not any(map(_is_visible, question)):
        raise InvalidQuestion(_("The question is empty."))
    limit = settings.QUESTION_MAX_LENGTH
    if len(question) > limit:
        raise InvalidQuestion(
            _("The question has %(length)d characters; at most %(limit)d are possible.")
            % {"length": len(question), "limit": limit}
        )
    return question


def _text(data: Mapping[str, Any], name: str, limit: int) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(name, _("Expected a text."))
    if len(value) > limit or not is_storable(value):
        raise _wrong(name, _("The text is too long, or has characters that are not text."))
    return value


def _wrong(name: str, message: Any) -> Malformed:
    return Malformed(fields={name: [message]})


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _BLANK_CATEGORIES and char not in _BLANK_LETTERS
