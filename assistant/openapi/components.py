"""The shapes that the chat takes and gives: questions, answers, sources, events."""

from __future__ import annotations

from articles.models import Rating
from assistant.answers import MAX_PASSAGES
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
)
from assistant.feedback import Reason
from assistant.models import Answer, Grounding
from assistant.openapi.schemas import (
    ID,
    NUMBER,
    TEXT,
    TIME,
    Schema,
    fields_of,
    list_of,
    nullable,
    object_of,
    reference,
)
from assistant.questions import KEY_LENGTH, SLUG_LENGTH

EVENTS: tuple[type[Event], ...] = (
    Started,
    Tool,
    References,
    Delta,
    Html,
    SourceAdded,
    Done,
    Error,
)


def components() -> dict[str, Schema]:
    events = {f"{event.__name__}Event": _event(event) for event in EVENTS}
    return {
        "Ask": _ask(),
        "AnswerVote": _vote(),
        "ChatPassage": object_of(**fields_of(PassageLink)),
        "HtmlBlock": object_of(**fields_of(HtmlBlock)),
        "Source": _source(),
        "Answer": _answer(),
        "Conversation": _conversation(),
        "ConversationList": object_of(
            conversations=list_of(object_of(id=ID, title=TEXT, created_at=TIME, updated_at=TIME)),
            next={**nullable(NUMBER), "description": "The `offset` of the next ones."},
        ),
        **events,
        "ChatEvent": {
            "oneOf": [reference(name) for name in events],
            "description": "The `data` of a server-sent event; its `id` is `seq`, its name `type`.",
        },
    }


def _ask() -> Schema:
    question = {**TEXT, "minLength": 1, "description": "At most 4,000 characters, by default."}
    optional = {
        "key": {
            **nullable(TEXT),
            "maxLength": KEY_LENGTH,
            "description": "Names the send; repeating it joins the same turn. "
            "The header `Idempotency-Key` does the same.",
        },
        "conversation_id": {**nullable(ID), "description": "The conversation to go on with."},
        "article": {
            **nullable(TEXT),
            "maxLength": SLUG_LENGTH,
            "description": "The slug of the page that the visitor asks about.",
        },
        "retry_of": {**nullable(ID), "description": "The answer that this send repeats."},
    }
    return object_of(optional, question=question)


def _vote() -> Schema:
    optional = {
        "reason": {**TEXT, "enum": ["", *Reason.values]},
        "comment": {**TEXT, "maxLength": 2000},
    }
    return object_of(optional, rating={**TEXT, "enum": Rating.values})


def _source() -> Schema:
    fields = fields_of(SourceEntry)
    optional = {
        "consulted": {**fields.pop("consulted"), "description": "Missing means true."},
        "changed": {**fields.pop("changed"), "description": "It has changed since it was read."},
        "available": {"type": "boolean", "description": "False: this reader may not see it now."},
    }
    fields["visibility"] = nullable(fields["visibility"])
    fields["passages"] = {**list_of(reference("ChatPassage")), "maxItems": MAX_PASSAGES}
    return object_of(optional, **fields)


def _answer() -> Schema:
    sources = list_of(reference("Source"))
    feedback = object_of(rating=TEXT, reason=TEXT, comment=TEXT)
    optional = {
        "truncated": {**TEXT, "description": "What cut the answer short."},
        "error": object_of(code=TEXT, message=TEXT, retryable={"type": "boolean"}),
    }
    return object_of(
        optional,
        id=ID,
        conversation_id=ID,
        turn=NUMBER,
        question=TEXT,
        status={**TEXT, "enum": Answer.Status.values},
        text={**TEXT, "description": "Markdown."},
        html={**TEXT, "description": "The text rendered, and safe to show."},
        sources=sources,
        references={**sources, "description": "The same, under the name older clients read."},
        retrieved={**sources, "description": "All that was looked at: activity, never sources."},
        grounding={"type": ["string", "null"], "enum": [*Grounding.values, None]},
        created_at=TIME,
        feedback={"oneOf": [feedback, {"type": "null"}]},
        reference={**TEXT, "description": "Names the answer to support: `7K2M-9QXP`."},
        escalated={"type": "boolean", "description": "Whether it was handed to support."},
    )


def _conversation() -> Schema:
    return object_of(id=ID, created_at=TIME, updated_at=TIME, turns=list_of(reference("Answer")))


def _event(event: type[Event]) -> Schema:
    """The fields of the dataclass, and those that every event has."""
    fields = fields_of(event)
    for name in ("sources", "references"):
        if name in fields:
            fields[name] = list_of(reference("Source"))
    if event is Done:
        fields["references"] = list_of(reference("Source"))
    if event is SourceAdded:
        fields["source"] = reference("Source")
    if event is Html:
        fields["blocks"] = list_of(reference("HtmlBlock"))
    optional: Schema = {name: fields.pop(name) for name in ("count", "truncated") if name in fields}
    return object_of(optional, **{"seq": NUMBER, "answer_id": ID, "conversation_id": ID, **fields})
