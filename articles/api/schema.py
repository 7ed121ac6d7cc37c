"""What drf-spectacular cannot see by itself: how callers prove who they are, and refusals.

Every operation can be refused in several ways that no view names. Which, follows from
what it takes: a body, parameters, an address that may be nobody's, a token.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import override
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator

MANAGE = "/api/v1/manage/"
PREFIX = "/api/v1/"
METHODS = ("get", "post", "put", "patch", "delete")

ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "For programs; it does not change."},
                "message": {"type": "string", "description": "For people."},
                "fields": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                    "description": "What is wrong with each field that was sent.",
                },
            },
        }
    },
}

REFUSALS = {
    400: ("malformed", "A value, or the whole request, cannot be used."),
    401: ("unauthorized", "There is no token, or it is not valid."),
    403: ("forbidden", "The caller may not do this."),
    404: ("not_found", "There is no such thing, or it is not the caller's to see."),
    406: ("not_acceptable", "The API answers in JSON only."),
    409: ("conflict", "Something else stands against it."),
    410: ("gone", "It was archived."),
    411: ("length_required", "The body was sent in chunks, without its `Content-Length`."),
    412: ("stale", "It has changed since it was read."),
    413: ("too_large", "The request is too large."),
    415: ("unsupported_media_type", "The body is not JSON."),
    428: ("precondition_required", "`If-Match` is missing."),
    429: ("rate_limited", "Too many requests; `Retry-After` says when to come back."),
    503: ("unavailable", "The database cannot be reached; `Retry-After` says when to come back."),
}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "articles.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token, made in the admin under API tokens.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "articles.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The session of a reader who is signed in on the site.",
        }


def only_articles(endpoints: list[Any]) -> list[Any]:
    """Preprocessing hook: the views that describe themselves."""
    return [one for one in endpoints if one[3].cls.__module__.startswith("articles.api.")]


def add_refusals(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Postprocessing hook: errors, ETags, and bodies that take no other fields."""
    schemas = result["components"]["schemas"]
    schemas["Error"] = ERROR
    for path, method, operation in operations(result):
        for status in _statuses(path, method, operation):
            operation["responses"][str(status)] = refusal(status)
        if method == "get":
            operation["responses"]["304"] = {"description": "The caller has this version already."}
        _add_headers(operation)
        for body in _bodies(operation):
            schemas[body]["additionalProperties"] = False
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if "\\w" in field.get("pattern", ""):
                # Letters of any script here, of English only to who reads it as JSON Schema.
                del field["pattern"]
    return result


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and operation of each."""
    for path, item in schema["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def refusal(status: int) -> dict[str, Any]:
    """The response object of a refusal."""
    code, description = REFUSALS[status]
    example = {"error": {"code": code, "message": description}}
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}
    return {"description": description, "content": {"application/json": content}}


def _statuses(path: str, method: str, operation: dict[str, Any]) -> Iterator[int]:
    places = {parameter["in"] for parameter in operation.get("parameters", [])}
    names = {one["name"]: one.get("required") for one in operation.get("parameters", [])}
    yield from (401, 406, 429, 503)
    is_publishing = operation["operationId"] == "publish_article"  # what has no text is refused
    if "query" in places or "requestBody" in operation or is_publishing:
        yield 400
    if "path" in places:
        yield 404
    if operation["operationId"] == "get_article":
        yield 410
    if "requestBody" in operation:
        yield from (411, 413, 415)
    if path.startswith(MANAGE) or method == "post":
        yield 403
    if path.startswith(MANAGE) and method != "get":
        yield 409
    if "If-Match" in names:
        yield 412
    if names.get("If-Match"):
        yield 428


def _add_headers(operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if status in {"200", "201"}:
            response["headers"] = {"ETag": {"schema": {"type": "string"}}}


def _bodies(operation: dict[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if reference := content["schema"].get("$ref"):
            yield reference.rpartition("/")[2]


def build() -> dict[str, Any]:
    """The whole schema, in English: it names things for programs."""
    with override("en"):
        generator = SchemaGenerator()  # type: ignore[no-untyped-call]
        schema: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema
