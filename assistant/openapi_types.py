"""Dataclasses as JSON schema: the properties that their fields have on the wire."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

_SIMPLE = {str: "string", int: "integer", bool: "boolean", float: "number"}


def fields_of(cls: type[Any]) -> dict[str, dict[str, Any]]:
    """A schema for each field. Of tuples, only that they are lists: their caller knows more."""
    hints = get_type_hints(cls)
    return {field.name: _schema(hints[field.name]) for field in fields(cls)}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is UnionType and NoneType in arguments:
        (inner,) = (one for one in arguments if one is not NoneType)
        return _or_null(_schema(inner))
    return {"type": "array" if origin is tuple else "object"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**nullable(schema), **values}
