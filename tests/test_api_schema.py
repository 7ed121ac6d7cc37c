"""The OpenAPI document tells the truth, and the reference page shows it without a script."""

from __future__ import annotations

from typing import Any, get_args

import jsonschema
import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from articles.access import ANONYMOUS
from articles.api.documentation import groups, schema
from articles.api.schema import operations
from articles.api.serializers import SearchResults
from articles.search import Mode, Reason
from assistant.answers import answer_payload, with_ledger
from assistant.events import Event
from assistant.models import Answer
from assistant.openapi import EVENTS, TAG
from tests.factories import make_answer, make_article, make_document

HIDDEN = {"/api/", "/api/v1/openapi.json"}


def component(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}", "components": schema()["components"]}


def addresses(patterns: Any, prefix: str = "/") -> set[str]:
    """All below `/api/`, with their parameters by place only."""
    found = set()
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found |= addresses(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and path.startswith("/api/"):
            found.add(path)
    return found


def shape(path: str) -> str:
    parts = ("{}" if part[:1] in "<{" else part for part in path.split("/"))
    return "/".join(parts)


def test_every_address_below_api_is_described_and_no_other() -> None:
    described = {shape(path) for path in schema()["paths"]}
    routed = {shape(path) for path in addresses(get_resolver().url_patterns) - HIDDEN}
    assert described == routed


def test_every_operation_says_what_it_is_and_shows_an_example() -> None:
    names = [operation["operationId"] for _path, _method, operation in operations(schema())]
    assert len(names) == len(set(names)) > 25
    for path, method, operation in operations(schema()):
        assert operation["summary"], path
        always = {"503"} if operation["tags"] == [TAG] else {"401", "406", "429", "503"}
        assert always <= operation["responses"].keys(), path
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert content.get("example") or content.get("examples"), (method, path)


def test_examples_are_what_the_schema_says() -> None:
    checked = 0
    for path, method, operation in operations(schema()):
        places = [operation.get("requestBody", {}), *operation["responses"].values()]
        for place in places:
            for content in place.get("content", {}).values():
                examples = [one["value"] for one in content.get("examples", {}).values()]
                for value in [*examples, *([content["example"]] if "example" in content else [])]:
                    spec = {**content["schema"], "components": schema()["components"]}
                    try:
                        jsonschema.validate(value, spec)
                    except jsonschema.ValidationError as error:
                        pytest.fail(f"{method} {path}: {error.message}")
                    checked += 1
    assert checked > 100


def test_the_chat_is_described_as_it_is() -> None:
    assert set(EVENTS) == set(get_args(Event))


def test_a_search_is_described_as_it_is() -> None:
    fields = SearchResults().fields
    assert set(fields["mode"].choices) == set(get_args(Mode))  # type: ignore[attr-defined]
    assert set(fields["fallback_reason"].choices) == set(get_args(Reason))  # type: ignore[attr-defined]


@pytest.mark.django_db
def test_a_stored_answer_is_what_the_schema_says() -> None:
    answer = make_answer()
    make_document(answer, make_article(), position=1, number=1)
    make_document(answer, make_article("Other", publish=False), ref=2)
    found = with_ledger(Answer.objects.all()).get()
    jsonschema.validate(answer_payload(found, ANONYMOUS), component("Answer"))


@pytest.mark.django_db
def test_the_reference_lists_every_operation(client: Client) -> None:
    page = client.get("/api/")
    text = page.content.decode()
    assert page.status_code == 200
    for _path, _method, operation in operations(schema()):
        assert f'id="{operation["operationId"]}"' in text
    assert sum(len(group.operations) for group in groups()) == len(list(operations(schema())))


def test_the_schema_is_served_and_kept(client: Client) -> None:
    first = client.get("/api/v1/openapi.json")
    assert first.json()["openapi"].startswith("3.1")
    again = client.get("/api/v1/openapi.json", headers={"if-none-match": first["ETag"]})
    assert again.status_code == 304
