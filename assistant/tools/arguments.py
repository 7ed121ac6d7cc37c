"""The tools' names, what they take, and the check of what a model sends them. Pure.

A model is told what is wrong in words it can act on; nothing runs on a guess. `ref` as
a text of digits and a missing object for a tool that needs nothing are taken as meant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assistant.agent import ToolCallRequest, ToolSpec

LONGEST_QUERY = 500

DECLINING_REASONS = ("not_in_docs", "unclear_question", "out_of_scope")


class BadCallError(Exception):
    """The call cannot run; the message is for the model."""


def _spec(
    name: str,
    description: str,
    properties: Mapping[str, Mapping[str, Any]] | None = None,
    required: tuple[str, ...] = (),
) -> ToolSpec:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {key: dict(value) for key, value in (properties or {}).items()},
        "additionalProperties": False,
    }
    if required:
        parameters["required"] = list(required)
    return ToolSpec(name, description, parameters)


_CATEGORY = {"type": "string", "description": "A category's slug or name, from list_categories."}

SPECS = (
    _spec(
        "search_articles",
        "Finds articles of the help center by what they say. Returns passages of the best ones."
        " Search in the words that an article would use; again in other words if that fails.",
        {
            "query": {"type": "string", "description": "What to look for."},
            "category": _CATEGORY,
        },
        ("query",),
    ),
    _spec(
        "open_article",
        "Reads a whole article. Open the article that answers before you answer from it.",
        {
            "ref": {"type": "integer", "description": "The article's ref in an earlier result."},
            "slug": {"type": "string", "description": "Or its slug, the last part of its url."},
        },
    ),
    _spec("list_categories", "Lists the categories with the number of articles in each."),
    _spec(
        "list_articles",
        "Lists titles and urls of articles, for questions about what there is to read.",
        {
            "category": _CATEGORY,
            "page": {"type": "integer", "description": "From 1; the result says how many."},
        },
    ),
    _spec(
        "cannot_answer",
        "Call this before you tell the visitor that you cannot answer. not_in_docs: the"
        " articles do not say it. unclear_question: you have to ask back. out_of_scope: it has"
        " nothing to do with this site.",
        {"reason": {"type": "string", "enum": list(DECLINING_REASONS)}},
        ("reason",),
    ),
)
NAMES = tuple(spec.name for spec in SPECS)
_BY_NAME = {spec.name: spec for spec in SPECS}


def read_arguments(call: ToolCallRequest) -> dict[str, Any]:
    """The arguments of a call, of the right names and types. Raises `BadCallError`."""
    spec = _BY_NAME.get(call.name)
    if spec is None:
        raise BadCallError(
            f"There is no tool {call.name[:60]!r}. The tools are {', '.join(NAMES)}."
        )
    given = _parsed(call.arguments, call.name)
    properties = spec.parameters["properties"]
    arguments = {
        name: _value(name, given[name], schema)
        for name, schema in properties.items()
        if given.get(name) is not None
    }
    for name in spec.parameters.get("required", ()):
        if name not in arguments:
            raise BadCallError(f"{call.name} needs {name!r}.")
    if call.name == "open_article" and not arguments:
        raise BadCallError("open_article needs 'ref' or 'slug'.")
    return arguments


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise BadCallError(f"The arguments of {name} are not valid JSON.") from None
    if not isinstance(value, dict):
        raise BadCallError(f"The arguments of {name} are not a JSON object.")
    return value


def _value(name: str, value: object, schema: Mapping[str, Any]) -> object:
    if schema["type"] == "integer":
        return _integer(name, value)
    if not isinstance(value, str):
        raise BadCallError(f"{name!r} has to be a text.")
    text = value.replace("\x00", " ").encode("utf-8", "ignore").decode()
    text = " ".join(text.split())[:LONGEST_QUERY]
    if not any(map(str.isalnum, text)):
        raise BadCallError(f"{name!r} is empty.")
    if text not in schema.get("enum", (text,)):
        raise BadCallError(f"{name!r} has to be one of {', '.join(schema['enum'])}.")
    return text


def _integer(name: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.strip().isdigit():
        value = int(value[:9])
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**9:
        raise BadCallError(f"{name!r} has to be a whole number from 1.")
    return value
