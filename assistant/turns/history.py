"""What a conversation has been so far, for the turn that comes: texts, references, documents.

References keep their numbers for the whole conversation. Whose text of an earlier turn may
still be used is decided now: by what the prompt has room for, and by what this reader may
have at this moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet

from articles.access import Reader, answerable
from articles.models import Article
from assistant.article_facts import ArticleFacts, PassageRead
from assistant.citations import restore_references
from assistant.models import Answer, AnswerDocument
from assistant.prompts import PageAsked, PastCall, PastTurn
from assistant.provenance import Exposure
from assistant.references import references_of

MAX_TURNS = 40
"""How far back texts are looked at; the prompt's budget usually ends earlier."""

_EXPOSURES = {
    AnswerDocument.Exposure.TITLE: Exposure.TITLE,
    AnswerDocument.Exposure.EXCERPT: Exposure.EXCERPT,
    AnswerDocument.Exposure.FULL: Exposure.FULL,
}


@dataclass(frozen=True, slots=True)
class Earlier:
    """A document of an earlier turn, with all of its text that the model was given."""

    facts: ArticleFacts
    exposure: Exposure


@dataclass(frozen=True, slots=True)
class History:
    """`refs`: by document id. `documents`: by reference, only what this reader may still have.
    `numbers`: those of the last answer, to references."""

    turns: tuple[PastTurn, ...] = ()
    refs: Mapping[str, int] = field(default_factory=dict)
    documents: Mapping[int, Earlier] = field(default_factory=dict)
    numbers: Mapping[int, int] = field(default_factory=dict)


def load_history(answer: Answer, reader: Reader) -> History:
    """The conversation before `answer`. Asks the database, unless there is nothing before."""
    if answer.turn == 1 and answer.article_id is None:
        return History()
    earlier = Answer.objects.filter(conversation=answer.conversation_id, turn__lt=answer.turn)
    refs = references_of(answer.conversation_id)
    told = list(_told(earlier))
    articles = {str(article.pk): article for article in _present(refs, reader)}
    return History(
        turns=tuple(_past_turn(turn, _page(turn, refs, articles, reader)) for turn in told),
        refs=refs,
        documents=_documents(earlier, articles, reader),
        numbers=_numbers(told[-1]) if told else {},
    )


def _told(earlier: QuerySet[Answer]) -> Iterable[Answer]:
    """The turns that the model is told of, oldest first: those that were tried again are not."""
    ended = earlier.exclude(status=Answer.Status.RUNNING)
    newest = ended.filter(retries__isnull=True).order_by("-turn")
    return reversed(newest.prefetch_related("tool_calls", "documents")[:MAX_TURNS])


def _past_turn(answer: Answer, page: PageAsked | None) -> PastTurn:
    calls = tuple(
        PastCall(call.name, call.arguments, call.result, call.call_id, call.round)
        for call in answer.tool_calls.all()
        if not call.error
    )
    text = restore_references(answer.text, _numbers(answer))
    return PastTurn(answer.question, text, calls, page)


def _page(
    answer: Answer, refs: Mapping[str, int], articles: Mapping[str, Article], reader: Reader
) -> PageAsked | None:
    article = articles.get(str(answer.article_id))
    if article is None:
        return None
    return PageAsked(refs[str(article.pk)], ArticleFacts.of(article, reader).title)


def _numbers(answer: Answer) -> dict[int, int]:
    return {
        document.number: document.ref
        for document in answer.documents.all()
        if document.number is not None
    }


def _documents(
    earlier: QuerySet[Answer], articles: Mapping[str, Article], reader: Reader
) -> dict[int, Earlier]:
    """What was read before and may still be: the rows decide, whatever was the case then."""
    rows = AnswerDocument.objects.filter(answer__in=earlier, document_id__in=articles)
    rows = rows.exclude(exposure=AnswerDocument.Exposure.TITLE)
    found: dict[int, Earlier] = {}
    for row in (
        rows.select_related("revision").prefetch_related("passages").order_by("answer__turn")
    ):
        found[row.ref] = _joined(found.get(row.ref), row, articles[row.document_id], reader)
    return found


def _present(refs: Mapping[str, int], reader: Reader) -> QuerySet[Article]:
    ids = [int(document_id) for document_id in refs if document_id.isdecimal()]
    return answerable(reader).filter(pk__in=ids).prefetch_related("old_slugs")


def _joined(
    known: Earlier | None, row: AnswerDocument, article: Article, reader: Reader
) -> Earlier:
    """The document with what one more turn read of it, in the revision that it read last."""
    facts = ArticleFacts.of(article, reader)
    if row.revision is not None:
        facts.revision_id, facts.revision = row.revision.pk, row.revision.number
    read = [PassageRead(part.heading, part.anchor, part.text) for part in row.passages.all()]
    before = known.facts.passages if known else []
    facts.passages = before + [passage for passage in read if passage not in before]
    exposure = _EXPOSURES[AnswerDocument.Exposure(row.exposure)]
    return Earlier(facts, max(exposure, known.exposure) if known else exposure)
