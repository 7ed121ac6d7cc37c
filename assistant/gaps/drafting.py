"""From a topic to an article: a first draft to write on, and whether it would answer.

A draft is a working copy like any other, linked to the topic and never published by itself. Its
outline is made of the topic's different questions, its raw material are the nearest passages,
quoted with where they come from, in a comment block that says what it is. Trying questions
publishes and indexes the working copy inside a transaction that is undone, and searches as
answers do: nobody else sees a row of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db import transaction
from django.utils.translation import gettext

from articles import indexing, publishing
from articles.access import ANONYMOUS, Reader
from articles.models import Article, Visibility
from articles.models.content import default_language
from articles.ranking.hits import PassageHit
from articles.search import search
from assistant.gaps import evidence, queue
from assistant.gaps.naming import heading_of, title_of
from assistant.gaps.vectors import vectors_of
from assistant.models import GapTopic

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SECTIONS = 6
TRIED = 20
ALIKE = 0.75
"""The cosine from which two questions need one section."""


@dataclass(frozen=True)
class Tried:
    """A question against the draft. `place` is the draft's among the articles found, None where
    it is not; `answers`: it comes first and near enough to answer from."""

    text: str
    place: int | None
    answers: bool
    section: tuple[str, ...]
    instead: str
    """The title of the article that came first, where it was another."""


@dataclass(frozen=True)
class _Question:
    text: str
    language: str


@transaction.atomic
def draft(topic: GapTopic, user: User) -> Article:
    """The article that is being written for the topic; a new draft where there is none yet."""
    topic = GapTopic.objects.select_for_update().get(pk=topic.pk)
    if topic.article is not None:
        return topic.article
    asked = evidence.samples(topic, TRIED)
    article = Article(
        title=title_of(topic.name),
        body=outline(topic, asked),
        author_id=user.pk,
        language=topic.language or default_language(),
    )
    article.save()
    queue.change(
        [topic],
        user,
        status=GapTopic.Status.DRAFTED,
        assignee_id=topic.assignee_id or user.pk,
        article_id=article.pk,
    )
    return article


def outline(topic: GapTopic, asked: Sequence[evidence.Sample]) -> str:
    """Markdown: a heading for each of the different questions, then the raw material."""
    headings = [f"{heading_of(text)}\n\n" for text in different(asked, topic.language)]
    near = [one for one in evidence.nearest(topic, asked) if one.text]
    if not near:
        return "\n".join(headings)
    said = gettext("Raw material: the nearest passages. Delete it before you publish.")
    quoted = [f"> **{said}**"]
    for one in near:
        revision = one.article.live_revision
        where = " › ".join([revision.title if revision else "", *one.section])
        lines = one.text.strip().splitlines()
        quoted += [
            ">",
            f"> {heading_of(where).removeprefix('## ')}:",
            ">",
            *(f"> {line}" for line in lines),
        ]
    return "\n".join([*headings, *quoted, ""])


def different(asked: Sequence[evidence.Sample], language: str) -> list[str]:
    """Questions that need a section of their own, the most typical first."""
    if not asked:
        return []
    vectors = vectors_of([_Question(one.text, language) for one in asked])
    kept: list[int] = []
    for place in range(len(asked)):
        nearest = (vectors[kept] @ vectors[place]).max() if kept else np.float32(0)
        if nearest < ALIKE:
            kept.append(place)
    return [asked[place].text for place in kept[:SECTIONS]]


def try_questions(article: Article, topic: GapTopic) -> list[Tried]:
    """Which of the topic's questions would find their answer in the working copy."""
    asked = evidence.samples(topic, TRIED)
    article = Article.objects.get(pk=article.pk)
    with transaction.atomic():
        publishing.publish(article, index=False)
        indexing.index_article(article.pk)
        tried = [_tried(article, sample.text, topic.language) for sample in asked]
        transaction.set_rollback(True)
    return tried


def _tried(article: Article, text: str, language: str) -> Tried:
    results = search(
        text, reader=_reader_for(article), for_answers=True, language=language or None, limit=10
    )
    places = {hit.article.pk: place for place, hit in enumerate(results.hits, start=1)}
    place = places.get(article.pk)
    own = results.hits[place - 1] if place else None
    first = results.hits[0].article if results.hits else None
    other = first.live_revision if first and first.pk != article.pk else None
    return Tried(
        text,
        place,
        bool(own and place == 1 and any(map(_answers, own.passages))),
        tuple(own.passages[0].heading_path) if own and own.passages else (),
        other.title if other else "",
    )


def _answers(passage: PassageHit) -> bool:
    """Near enough to answer from, and more than the heading of a section without any text: that of
    a fresh draft is the question itself."""
    is_heading = bool(passage.heading_path) and passage.text in passage.heading_path[-1]
    return passage.above_floor and not is_heading


def _reader_for(article: Article) -> Reader:
    """The least of all readers who may see the article when it is published."""
    if article.visibility == Visibility.STAFF:
        return Reader(is_authenticated=True, is_staff=True)
    if article.visibility == Visibility.SIGNED_IN:
        return Reader(is_authenticated=True)
    return ANONYMOUS
