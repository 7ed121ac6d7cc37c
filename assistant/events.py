"""The events of a turn: a closed union of frozen dataclasses, and their wire form.

Pure. Skins encode, they do not invent: `payload(event)` is the JSON object of
every transport, see the protocol page of the manual. `seq` is given by the log
when an event is appended, so an event does not know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, assert_never


@dataclass(frozen=True, slots=True)
class PassageLink:
    """A heading that was read, and the anchor that leads to it."""

    heading: str
    anchor: str


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source as clients receive it. `consulted` None leaves the flag out: show it."""

    id: str
    slug: str
    title: str
    url: str | None
    number: int | None
    consulted: bool | None
    via: str
    category: str | None = None
    visibility: str = "public"
    passages: tuple[PassageLink, ...] = ()
    revision: int | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    answer_id: str
    conversation_id: str
    turn: int
    type: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call begins or ends. `label` is what a person reads: "Searching for …"."""

    call_id: str
    name: str
    label: str
    state: Literal["running", "finished", "failed"]
    count: int | None = None
    type: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class References:
    """All documents retrieved so far: activity, never Sources."""

    references: tuple[SourceEntry, ...]
    type: Literal["references"] = "references"


@dataclass(frozen=True, slots=True)
class Delta:
    """Delivered Markdown; final."""

    text: str
    type: Literal["delta"] = "delta"


@dataclass(frozen=True, slots=True)
class HtmlBlock:
    block: int
    html: str
    final: bool


@dataclass(frozen=True, slots=True)
class Html:
    """Rendered blocks, in place of `Delta` and under its `seq`, for `render=html`."""

    blocks: tuple[HtmlBlock, ...]
    type: Literal["html"] = "html"


@dataclass(frozen=True, slots=True)
class SourceAdded:
    """A document became a source. The list only grows."""

    source: SourceEntry
    type: Literal["source"] = "source"


@dataclass(frozen=True, slots=True)
class Done:
    status: Literal["completed", "stopped", "truncated"]
    text: str
    html: str
    sources: tuple[SourceEntry, ...]
    grounding: str
    truncated: Literal["length", "content_filter", "tool_rounds"] | None = None
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Error:
    """The end of a turn that failed, with what was delivered before. `message` is for a visitor."""

    code: str
    message: str
    retryable: bool
    text: str = ""
    sources: tuple[SourceEntry, ...] = ()
    type: Literal["error"] = "error"


Event = Started | Tool | References | Delta | Html | SourceAdded | Done | Error


def source_payload(source: SourceEntry) -> dict[str, Any]:
    """The JSON object of a source. A flag that is None is left out, `changed` only if true."""
    payload: dict[str, Any] = {
        "id": source.id,
        "slug": source.slug,
        "title": source.title,
        "url": source.url,
        "number": source.number,
        "via": source.via,
        "category": source.category,
        "visibility": source.visibility,
        "passages": [
            {"heading": passage.heading, "anchor": passage.anchor} for passage in source.passages
        ],
        "revision": source.revision,
    }
    if source.consulted is not None:
        payload["consulted"] = source.consulted
    if source.changed:
        payload["changed"] = True
    return payload


def payload(event: Event) -> dict[str, Any]:
    """The JSON object of an event, without its `seq`."""
    match event:
        case Started():
            return {
                "type": event.type,
                "answer_id": event.answer_id,
                "conversation_id": event.conversation_id,
                "turn": event.turn,
            }
        case Tool():
            call = {
                "type": event.type,
                "call_id": event.call_id,
                "name": event.name,
                "label": event.label,
                "state": event.state,
            }
            return call if event.count is None else {**call, "count": event.count}
        case References():
            return {"type": event.type, "references": _sources(event.references)}
        case Delta():
            return {"type": event.type, "text": event.text}
        case Html():
            return {
                "type": event.type,
                "blocks": [
                    {"block": block.block, "html": block.html, "final": block.final}
                    for block in event.blocks
                ],
            }
        case SourceAdded():
            return {"type": event.type, "source": source_payload(event.source)}
        case Done():
            sources = _sources(event.sources)
            done = {
                "type": event.type,
                "status": event.status,
                "text": event.text,
                "html": event.html,
                "sources": sources,
                "references": sources,
                "grounding": event.grounding,
            }
            return done if event.truncated is None else {**done, "truncated": event.truncated}
        case Error():
            return {
                "type": event.type,
                "code": event.code,
                "message": event.message,
                "retryable": event.retryable,
                "text": event.text,
                "sources": _sources(event.sources),
            }
    assert_never(event)


def _sources(sources: tuple[SourceEntry, ...]) -> list[dict[str, Any]]:
    return [source_payload(source) for source in sources]
