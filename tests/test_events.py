"""The wire form of each event: what every transport sends, as the protocol page describes it."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from assistant.events import (
    Delta,
    Done,
    Error,
    Event,
    Html,
    HtmlBlock,
    PassageLink,
    References,
    SourceAdded,
    SourceEntry,
    Started,
    Tool,
    payload,
    source_payload,
)

SOURCE = SourceEntry(
    id="7",
    slug="sso",
    title="Set up SSO",
    url="/articles/sso/",
    number=1,
    consulted=True,
    via="opened",
    category="accounts",
    passages=(PassageLink("Okta", "okta"),),
    revision=3,
)
WIRE: dict[str, Any] = {
    "id": "7",
    "slug": "sso",
    "title": "Set up SSO",
    "url": "/articles/sso/",
    "number": 1,
    "consulted": True,
    "via": "opened",
    "category": "accounts",
    "visibility": "public",
    "passages": [{"heading": "Okta", "anchor": "okta"}],
    "revision": 3,
}

CASES: list[tuple[Event, dict[str, Any]]] = [
    (
        Started("a", "c", 2),
        {"type": "started", "answer_id": "a", "conversation_id": "c", "turn": 2},
    ),
    (
        Tool("t", "list_categories", "Looking", "running"),
        {
            "type": "tool",
            "call_id": "t",
            "name": "list_categories",
            "label": "Looking",
            "state": "running",
        },
    ),
    (
        Tool("t", "search_articles", "Found", "finished", 0),
        {
            "type": "tool",
            "call_id": "t",
            "name": "search_articles",
            "label": "Found",
            "state": "finished",
            "count": 0,
        },
    ),
    (References((SOURCE,)), {"type": "references", "references": [WIRE]}),
    (Delta("See [1]."), {"type": "delta", "text": "See [1]."}),
    (
        Html((HtmlBlock(0, "<p>See</p>", True), HtmlBlock(1, "", False))),
        {
            "type": "html",
            "blocks": [
                {"block": 0, "html": "<p>See</p>", "final": True},
                {"block": 1, "html": "", "final": False},
            ],
        },
    ),
    (SourceAdded(SOURCE), {"type": "source", "source": WIRE}),
    (
        Done("completed", "See [1].", "<p>See</p>", (SOURCE,), "grounded"),
        {
            "type": "done",
            "status": "completed",
            "text": "See [1].",
            "html": "<p>See</p>",
            "sources": [WIRE],
            "references": [WIRE],
            "grounding": "grounded",
        },
    ),
    (
        Done("truncated", "See", "<p>See</p>", (), "uncited", "length"),
        {
            "type": "done",
            "status": "truncated",
            "text": "See",
            "html": "<p>See</p>",
            "sources": [],
            "references": [],
            "grounding": "uncited",
            "truncated": "length",
        },
    ),
    (
        Error("unavailable", "It is down.", True, "See", (SOURCE,)),
        {
            "type": "error",
            "code": "unavailable",
            "message": "It is down.",
            "retryable": True,
            "text": "See",
            "sources": [WIRE],
        },
    ),
]


@pytest.mark.parametrize(("event", "wire"), CASES, ids=lambda value: getattr(value, "type", ""))
def test_an_event_is_sent_as_the_protocol_says(event: Event, wire: dict[str, Any]) -> None:
    assert payload(event) == wire


def test_each_kind_of_event_is_among_the_cases() -> None:
    assert {type(event) for event, _ in CASES} == set(get_args(Event))


def test_a_flag_that_is_not_known_is_left_out() -> None:
    unflagged = SourceEntry("7", "sso", "SSO", None, None, None, "excerpt")
    assert "consulted" not in source_payload(unflagged)
    assert source_payload(unflagged)["url"] is None


def test_only_a_source_that_changed_says_so() -> None:
    changed = SourceEntry("7", "sso", "SSO", None, None, False, "excerpt", changed=True)
    assert source_payload(changed)["changed"] is True
    assert "changed" not in source_payload(SOURCE)
