"""The support of an answer's citations: judged after its end by a worker, and stored.

Judged once more, it is replaced: what is stored follows from the stored answer, the index'
frequencies and the embedder alone.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.urls import reverse

from articles.embeddings import EmbeddingError, active
from articles.markup.answer_rendering import Citation, Registered, render_answer
from articles.models import IndexState, Term
from articles.ranking.calibration import scale_of
from articles.terms import bm25
from articles.terms.analysis import base_language
from assistant.classifiers.language_guess import guess_language
from assistant.models import Answer, AnswerDocument, AnswerPassage, CitationSupport
from assistant.rendering.inert_code import with_inert_code
from assistant.support.claims import Sentence, sentences
from assistant.support.scoring import Claim, Passage, Source, Support, Vectors, judge, says_enough
from helpcenter.celery import hand_out

MOST_CITATIONS = 100
"""Of one answer that are judged, the first ones."""

GUESSED_BY = 5_000
"""Characters of a source by which its language is guessed."""

TASK = "assistant.tasks.judge_support"

logger = logging.getLogger(__name__)


def judge_on_commit(answer_id: uuid.UUID, documents: Iterable[AnswerDocument]) -> None:
    """Has a worker judge the answer once it is stored, if it cites anything."""
    if any(document.is_cited for document in documents):
        transaction.on_commit(lambda: hand_out(TASK, str(answer_id)), robust=True)


def judge_answer(answer_id: uuid.UUID) -> int:
    """Judges the citations of a finished answer. Returns how many it has; 0 for one that is
    gone."""
    answer = Answer.objects.filter(pk=answer_id).first()
    if answer is None:
        return 0
    found = _supports(answer)
    with transaction.atomic():
        if not Answer.objects.select_for_update().filter(pk=answer_id).exists():
            return 0
        CitationSupport.objects.filter(document__answer=answer_id).delete()
        CitationSupport.objects.bulk_create(found)
    return len(found)


def _supports(answer: Answer) -> list[CitationSupport]:
    cited = _citations(answer)[:MOST_CITATIONS]
    given = {document: _given(document) for _sentence, document in cited}
    language = guess_language(answer.text)
    sources = {
        document: _source(document, passages, language) for document, passages in given.items()
    }
    found = [
        CitationSupport(
            document=document,
            position=sentence.position,
            sentence=sentence.text,
            unjudged=_why_not(sentence, sources[document], language),
        )
        for sentence, document in cited
    ]
    judged = [one for one in found if not one.unjudged]
    claims = [Claim(one.sentence, sources[one.document]) for one in judged]
    for one, support in zip(judged, _judge(claims, answer.pk), strict=True):
        one.score, one.evidence = support.score, support.evidence
        one.passage = given[one.document][support.passage]
        for name, value in asdict(support.parts).items():
            setattr(one, name, value)
    return found


def _citations(answer: Answer) -> list[tuple[Sentence, AnswerDocument]]:
    """Each sentence with each document that it cites or links, once."""
    documents = list(answer.documents.select_related("revision").prefetch_related("passages"))
    by_number = {document.number: document for document in documents if document.number}
    by_path = {_path(_address(document)): document for document in documents}
    registered = Registered(
        frozenset(answer.allowed_links),
        frozenset(answer.allowed_images),
        {number: Citation(number, one.title, None) for number, one in by_number.items()},
    )
    pairs = [
        (sentence, by_number[cite.number] if cite.number else by_path.get(_path(cite.address)))
        for sentence in sentences(render_answer(with_inert_code(answer.text), registered))
        for cite in sentence.cites
    ]
    return list(dict.fromkeys((sentence, one) for sentence, one in pairs if one is not None))


def _address(document: AnswerDocument) -> str:
    return reverse("articles:article", args=[document.slug])


def _path(address: str) -> str:
    return unquote(urlsplit(address).path)


def _given(document: AnswerDocument) -> list[AnswerPassage]:
    return [passage for passage in document.passages.all() if passage.text.strip()]


def _source(
    document: AnswerDocument, passages: Sequence[AnswerPassage], language_of_answer: str
) -> Source:
    texts = tuple(Passage(passage.heading, passage.text) for passage in passages)
    declared = document.revision.language if document.revision else language_of_answer
    return Source(document.title, base_language(declared), texts)


def _why_not(sentence: Sentence, source: Source, language: str) -> str:
    """Why a sentence of an answer in this language cannot be judged by the source, if so."""
    if not source.passages:
        return CitationSupport.Unjudged.NO_TEXT
    if not says_enough(sentence.own, source.language):
        return CitationSupport.Unjudged.SHORT
    given = " ".join(passage.text for passage in source.passages)[:GUESSED_BY]
    if language and language != (guess_language(given) or source.language):
        return CitationSupport.Unjudged.LANGUAGE
    return ""


def _judge(claims: Sequence[Claim], answer_id: uuid.UUID) -> list[Support]:
    """By vectors and words; by words alone where there are no vectors just now."""
    try:
        vectors = _vectors()
        return judge(claims, term_weights, vectors)
    except EmbeddingError as error:
        extra = {"answer_id": answer_id, "problem": str(error)}
        logger.warning("support_by_words_alone", extra=extra)
        return judge(claims, term_weights, None)


def _vectors() -> Vectors | None:
    embedder = active()
    return Vectors(embedder.embed, scale_of(embedder).comparable) if embedder else None


def term_weights(language: str, terms: Collection[str]) -> Mapping[str, float]:
    """As the index counts them; all alike where it holds nothing in that language."""
    state = IndexState.objects.filter(language=language).first()
    counted = Term.objects.filter(language=language, text__in=terms)
    counts = dict(counted.values_list("text", "passages"))
    total = state.passages if state else 0
    return {term: bm25.idf(total, counts.get(term, 0)) for term in terms}
