"""Pieces of JSON schema: simple types, references, lists, objects, and fields of dataclasses."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
ID: Schema = {"type": "string", "format": "uuid"}
TIME: Schema = {"type": "string", "format": "date-time"}
_SIMPLE = {str: "string", int: "integer", bool: "boolean", float: "number"}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def object_of(optional: Schema | None = None, **required: Schema) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def fields_of(cls: type[Any]) -> dict[str, Schema]:
    """A schema for each field. Of tuples, only that they are lists: their caller knows more."""
    hints = get_type_hints(cls)
    return {field.name: _schema(hints[field.name]) for field in fields(cls)}


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def _schema(hint: Any) -> Schema:
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is UnionType and NoneType in arguments:
        (inner,) = (one for one in arguments if one is not NoneType)
        return _or_null(_schema(inner))
    return {"type": "array" if origin is tuple else "object"}


def _or_null(schema: Schema) -> Schema:
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**nullable(schema), **values}
