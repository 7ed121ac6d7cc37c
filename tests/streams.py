"""A verifier for every stream of a test: one beginning, exactly one end, nothing lost between."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]


def verified(events: Iterable[Event], after: int = 0) -> list[Event]:
    """The events of one answer's stream, checked; `after` is the cursor it was asked from."""
    events = list(events)
    assert events, "a stream has at least its end"
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(set(seqs)), f"seq rises: {seqs}"
    assert seqs[0] > after
    starts = [event for event in events if event["type"] == "started"]
    ends = [event for event in events if event["type"] in ("done", "error")]
    assert len(ends) == 1, f"one end: {[event['type'] for event in events]}"
    assert events[-1] is ends[0], "nothing after the end"
    if after == 0:
        assert starts == events[:1], "started comes first, once"
        assert seqs[0] == 1
    else:
        assert not starts
    assert len({event["answer_id"] for event in events}) == 1
    if after == 0 and not any(event["type"] == "html" for event in events):
        assert text_of(events) == ends[0]["text"], "the deltas are the text"
    _verify_tools(events)
    _verify_sources(events)
    return events


def text_of(events: Iterable[Event]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


def html_of(events: Iterable[Event]) -> str:
    """The page that the `html` events make, as a client puts it together."""
    blocks: dict[int, str] = {}
    finished: set[int] = set()
    for event in events:
        for block in event.get("blocks", ()) if event["type"] == "html" else ():
            assert block["block"] not in finished, "a finished block is sent once"
            blocks[block["block"]] = block["html"]
            if block["final"]:
                finished.add(block["block"])
    return "".join(blocks[number] for number in sorted(blocks))


def of_type(events: Iterable[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def parsed_sse(body: str) -> list[Event]:
    """The events of an SSE body; each one's id and name must repeat what its data says."""
    events = []
    for block in body.split("\n\n"):
        if not block or block.startswith(":"):
            continue
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        event = json.loads(fields["data"])
        assert fields["id"] == str(event["seq"])
        assert fields["event"] == event["type"]
        events.append(event)
    return events


def _verify_tools(events: Iterable[Event]) -> None:
    running: list[str] = []
    for event in of_type(events, "tool"):
        if event["state"] == "running":
            running.append(event["call_id"])
        elif event["call_id"] in running:
            running.remove(event["call_id"])
    last = list(events)[-1]
    assert not running or last["type"] == "error" or last["status"] == "stopped"


def _verify_sources(events: list[Event]) -> None:
    """The list only grows, and what it grew to is in the end, numbered alike."""
    told = {event["source"]["id"]: event["source"] for event in of_type(events, "source")}
    ended = {source["id"]: source for source in events[-1]["sources"]}
    for document_id, source in told.items():
        assert document_id in ended, "a source that was told stays"
        assert source["number"] == ended[document_id]["number"]
