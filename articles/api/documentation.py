"""The OpenAPI schema of the whole API, and the reference page that is made from it.

The page is plain HTML in the site's design: it loads nothing from elsewhere, needs no
script, and can be searched, printed and read aloud. Swagger UI and ReDoc carry pictures as
`data:` addresses, which the site's Content-Security-Policy forbids.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from articles.api.schema import build, operations
from articles.caching import help_page, public_document
from articles.rendering import render_article

schema = functools.cache(build)


@dataclass(frozen=True)
class Field:
    """A parameter, or a property of a body; `name` of a nested one is a path with dots.

    Descriptions here and below are HTML, made from the schema's Markdown.
    """

    name: str
    type: str
    required: bool
    description: SafeString
    place: str = ""


@dataclass(frozen=True)
class Reply:
    status: str
    description: SafeString
    fields: list[Field]
    example: str


@dataclass(frozen=True)
class Operation:
    anchor: str
    method: str
    path: str
    summary: str
    description: SafeString
    needs_token: bool
    parameters: list[Field]
    body: list[Field]
    body_example: str
    replies: list[Reply]
    refusals: list[Reply]


@dataclass(frozen=True)
class Group:
    anchor: str
    name: str
    operations: list[Operation]


@require_safe
@public_document()
def openapi(request: HttpRequest) -> HttpResponse:
    """The schema as JSON."""
    return JsonResponse(schema())


@require_safe
@help_page
def reference(request: HttpRequest) -> HttpResponse:
    """The schema for people."""
    return render(request, "api/reference.html", {"groups": groups(), "info": schema()["info"]})


@functools.cache
def groups() -> list[Group]:
    """The operations by their tag, in the schema's order."""
    by_tag: dict[str, list[Operation]] = {tag["name"]: [] for tag in schema()["tags"]}
    for path, method, operation in operations(schema()):
        by_tag[operation["tags"][0]].append(_operation(path, method, operation))
    return [Group(slugify(name), name, listed) for name, listed in by_tag.items()]


def _operation(path: str, method: str, operation: dict[str, Any]) -> Operation:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    replies = [_reply(status, told) for status, told in sorted(operation["responses"].items())]
    return Operation(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=_html(operation.get("description", "")),
        needs_token={} not in operation.get("security", [{}]),
        parameters=[_parameter(one) for one in operation.get("parameters", [])],
        body=_fields(content.get("schema", {})),
        body_example=_example(content),
        replies=[reply for reply in replies if reply.status < "400"],
        refusals=[reply for reply in replies if reply.status >= "400"],
    )


def _reply(status: str, told: dict[str, Any]) -> Reply:
    content = told.get("content", {}).get("application/json", {})
    fields = _fields(content.get("schema", {})) if status < "300" else []
    return Reply(status, _html(told.get("description", "")), fields, _example(content))


def _parameter(parameter: dict[str, Any]) -> Field:
    return Field(
        parameter["name"],
        _type(parameter["schema"]),
        parameter.get("required", False),
        _html(parameter.get("description", "")),
        parameter["in"],
    )


def _fields(spec: dict[str, Any], prefix: str = "", depth: int = 0) -> list[Field]:
    """The properties of an object, those of objects inside it after it."""
    spec = _resolved(spec)
    found = []
    for name, value in spec.get("properties", {}).items():
        inner = _resolved(value)
        description = _html(value.get("description", ""))
        is_required = name in spec.get("required", [])
        found.append(Field(prefix + name, _type(value), is_required, description))
        nested = inner.get("items", inner)
        if depth < 3:
            many = "[]" if "items" in inner else ""
            found += _fields(nested, f"{prefix}{name}{many}.", depth + 1)
    return found


def _html(markdown: str) -> SafeString:
    return render_article(markdown).html


def _resolved(spec: dict[str, Any]) -> dict[str, Any]:
    """Follows a reference, also one that may be null instead."""
    for choice in spec.get("allOf", []) + spec.get("oneOf", []) + spec.get("anyOf", []):
        if "$ref" in choice:
            spec = choice
            break
    if "$ref" not in spec:
        return spec
    found: dict[str, Any] = schema()["components"]["schemas"][spec["$ref"].rpartition("/")[2]]
    return found


def _type(spec: dict[str, Any]) -> str:
    resolved = _resolved(spec)
    if values := resolved.get("enum"):
        return " | ".join("null" if value is None else str(value) for value in values)
    kind = resolved.get("type", "object")
    name = " | ".join(kind) if isinstance(kind, list) else str(kind)
    if "items" in resolved:
        return f"{name} of {_type(resolved['items'])}"
    if any(choice.get("type") == "null" for choice in spec.get("oneOf", [])):
        name += " | null"
    form = resolved.get("format")
    return f"{name} ({form})" if form in {"date-time", "uri", "uuid"} else name


def _example(content: dict[str, Any]) -> str:
    examples = [one["value"] for one in content.get("examples", {}).values()]
    value = content.get("example", examples[0] if examples else None)
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
