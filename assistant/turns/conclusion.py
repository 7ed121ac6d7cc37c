"""What is stored and told when a turn has ended, from what it worked with."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from django.utils import translation

from assistant import tokens
from assistant.agent import Truncation, Usage
from assistant.bill.pricing import cost_of
from assistant.events import Done, Error, SourceEntry, source_payload
from assistant.failures import failure
from assistant.grounding import Facts, may_be_outside, verdict
from assistant.models import AnswerDocument, Grounding
from assistant.prompts import PROMPT_VERSION
from assistant.provenance import Entry, Exposure
from assistant.rendering.answer_html import answer_html
from assistant.turns.persistence import DocumentRecord, End
from assistant.turns.preparation import Work

DoneStatus = Literal["completed", "stopped", "truncated"]

_EXPOSURES = {
    Exposure.TITLE: AnswerDocument.Exposure.TITLE,
    Exposure.EXCERPT: AnswerDocument.Exposure.EXCERPT,
    Exposure.FULL: AnswerDocument.Exposure.FULL,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended. `error_code` is for operators, see `failures.failure` for visitors."""

    status: Literal["completed", "stopped", "truncated", "failed"]
    truncated: Truncation | None = None
    error_code: str = ""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What the visitor had when the turn ended. `last_seq`: of the event that will say so."""

    answer_id: uuid.UUID
    text: str
    last_seq: int
    first_token_at: datetime | None


def end_of(
    delivered: Delivered, ending: Ending, work: Work | None, *, outside: bool = False
) -> End:
    """What is stored. `work` is None where the turn failed before there was anything to do.
    `outside`: the question is far from everything the site has."""
    grounding = _grounding(ending, work, outside=outside)
    _settle_fallback(work, grounding)
    return End(
        answer_id=delivered.answer_id,
        status=ending.status,
        grounding=grounding,
        text=delivered.text,
        last_seq=delivered.last_seq,
        fields={
            "truncated_by": ending.truncated or "",
            "error_code": ending.error_code,
            "first_token_at": delivered.first_token_at,
            **(_facts_of(ending, work) if work else {}),
        },
        documents=_documents(work) if work else (),
        calls=tuple(work.progress.calls) if work else (),
        begun_at=work.begun_at if work else None,
        dropped=tuple((drop.text, drop.reason) for drop in work.ledger.dropped) if work else (),
    )


def last_event(end: End, work: Work | None, language: str) -> Done | Error:
    """What is told. Renders the answer, which takes milliseconds: not for the event loop."""
    _settle_fallback(work, end.grounding)
    sources = sources_of(work)
    with translation.override(language or None):
        if code := end.fields["error_code"]:
            told = failure(code)
            return Error(told.code, str(told.message), told.retryable, end.text, sources)
        ledger_links = (work.ledger.links, work.ledger.images) if work else ((), ())
        html = answer_html(end.text, map(source_payload, sources), *ledger_links)
    return Done(
        status=cast(DoneStatus, end.status),
        text=end.text,
        html=html,
        sources=sources,
        grounding=end.grounding,
        truncated=cast("Truncation | None", end.fields["truncated_by"] or None),
    )


def sources_of(work: Work | None) -> tuple[SourceEntry, ...]:
    """The sources as clients receive them."""
    return tuple(map(work.toolbox.describe, work.ledger.sources())) if work else ()


def _settle_fallback(work: Work | None, grounding: str) -> None:
    """What was given and not cited is shown, as searched, where the verdict is `uncited`. An
    answer that says that it found nothing, thanks, or broke off came from nowhere."""
    if work is not None and grounding != Grounding.UNCITED:
        work.ledger.show_uncited = False


def _facts_of(ending: Ending, work: Work) -> dict[str, Any]:
    """What is known of how the answer was made."""
    usage = work.progress.usage + _uncounted(ending, work)
    return {
        "model_text": "".join(work.progress.text),
        "allowed_links": sorted(work.ledger.links),
        "allowed_images": sorted(work.ledger.images),
        "declined": work.progress.declined,
        "search_mode": work.toolbox.search_mode,
        "search_fallback": work.toolbox.search_fallback[:60],
        "mode": work.model.mode,
        "provider": work.model.provider[:40],
        "model": work.model.name[:120],
        "prompt_version": PROMPT_VERSION,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "usage_estimated": usage.estimated or ending.status in ("stopped", "failed"),
        "cost": cost_of(work.model.name, usage),
    }


def _uncounted(ending: Ending, work: Work) -> Usage:
    """An estimate for a round that was cut short, of which the provider does not say what it took.
    One that failed before a word is taken for free."""
    progress = work.progress
    rounds, parts = progress.counted
    text = "".join(progress.text[parts:])
    is_silent = not text and ending.status != "stopped" and ending.error_code != "timeout"
    if progress.rounds == rounds or is_silent or work.model.mode == "extractive":
        return Usage()
    read = [str(message["content"]) for message in work.messages]
    read += [part for call in progress.calls for part in (call.arguments, call.result)]
    return Usage(sum(map(tokens.estimate, read)), 0, tokens.estimate(text), estimated=True)


def depends_on_scope(ending: Ending, work: Work | None) -> bool:
    """Whether the verdict depends on what the question is about."""
    return work is not None and may_be_outside(_grounds(ending, work))


def _grounding(ending: Ending, work: Work | None, *, outside: bool) -> str:
    if work is None:
        return Grounding.UNAVAILABLE
    return verdict(replace(_grounds(ending, work), outside=outside))


def _grounds(ending: Ending, work: Work) -> Facts:
    entries = work.ledger.entries()
    fresh = [entry.exposure for entry in entries if not entry.carried]
    used = [entry for entry in entries if entry.cited or entry.linked or entry.listed]
    return Facts(
        question=work.question,
        text="".join(work.progress.text),
        failed=ending.status in ("stopped", "failed") or ending.truncated == "content_filter",
        search_failed=work.toolbox.search_failed,
        degraded=work.toolbox.search_degraded,
        declined=work.progress.declined,
        searched=work.toolbox.searched,
        opened=fresh.count(Exposure.FULL),
        excerpts=fresh.count(Exposure.EXCERPT),
        cited=any(entry.exposure > Exposure.TITLE for entry in used),
        linked_titles=sum(entry.exposure == Exposure.TITLE for entry in used),
    )


def _documents(work: Work) -> tuple[DocumentRecord, ...]:
    places = {source.document.id: position for position, source in enumerate(work.ledger.sources())}
    return tuple(
        _document(work, entry, places.get(entry.document.id)) for entry in work.ledger.entries()
    )


def _document(work: Work, entry: Entry, position: int | None) -> DocumentRecord:
    """A carried document that this answer does not use has its text with the earlier one."""
    facts = work.toolbox.facts[entry.document.id]
    has_text = entry.exposure > Exposure.TITLE and (not entry.carried or position is not None)
    return DocumentRecord(
        ref=entry.ref,
        document_id=entry.document.id,
        article_id=facts.article_id,
        revision_id=facts.revision_id,
        title=facts.title,
        slug=facts.slug,
        exposure=_EXPOSURES[entry.exposure],
        via=entry.via,
        carried=entry.carried,
        cited=entry.cited,
        linked=entry.linked,
        consulted=entry.consulted,
        number=entry.number,
        position=position,
        passages=tuple(facts.passages) if has_text else (),
    )
