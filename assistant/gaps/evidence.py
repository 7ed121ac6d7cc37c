"""What a topic shows a writer: how it is asked, what is near it already, and so what to do.

The suggestion rests on the search that answers use, as a visitor without an account finds
things, for the topic's central questions: an article that is found well and was not given to
those who asked has a problem of retrieval; one that was given, or is near, lacks a section;
where nothing is near, an article has to be written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from django.db.models import Count, Max

from articles.access import ANONYMOUS
from articles.models import Article
from articles.search import search
from assistant.gaps.clustering import smoothed
from assistant.models import AnswerDocument, GapQuestion, GapTopic

Advice = Literal["write", "extend", "fix_retrieval"]

SAMPLES = 5
NEAREST = 3
HELD = 2_000
"""The newest different questions that the central ones are chosen among."""

NEAR = 0.45
"""The cosine from which an article is about the same things, see `articles.pages.related`."""


@dataclass(frozen=True)
class Sample:
    """A question as it was asked, how often in these words, and when last."""

    text: str
    times: int
    last: object
    question_id: int


@dataclass(frozen=True)
class Near:
    """An article near the topic. `section` is the path of headings of its best passage;
    `closeness` is its cosine in percent, None where only words were compared. `was_given`: those
    who asked had it among what their answers were given."""

    article: Article
    section: tuple[str, ...]
    anchor: str
    text: str
    closeness: int | None
    answers_it: bool
    was_given: bool


@dataclass(frozen=True)
class Suggestion:
    advice: Advice
    near: Near | None


def samples(topic: GapTopic, count: int = SAMPLES) -> list[Sample]:
    """Different questions, the most typical first."""
    rows = list(
        topic.questions.exclude(text="")
        .values("fingerprint")
        .annotate(times=Count("pk"), last=Max("asked_at"), newest=Max("pk"))
        .order_by("-newest")[:HELD]
    )
    chosen = {row["newest"]: row for row in rows}
    texts = dict(GapQuestion.objects.filter(pk__in=chosen).values_list("pk", "text"))
    ranked = sorted(rows, key=_order(topic, [row["fingerprint"] for row in rows]))
    return [
        Sample(texts[row["newest"]], row["times"], row["last"], row["newest"])
        for row in ranked[:count]
    ]


def nearest(topic: GapTopic, asked: Sequence[Sample]) -> list[Near]:
    """The articles nearest to the topic's central questions, best first."""
    given = _given(topic)
    found: dict[int, Near] = {}
    for sample in asked[:NEAREST]:
        language = topic.language or None
        results = search(
            sample.text, reader=ANONYMOUS, for_answers=True, language=language, limit=NEAREST
        )
        for hit in results.hits:
            best = hit.passages[0] if hit.passages else None
            cosine = None if hit.cosine is None else round(100 * hit.cosine)
            near = Near(
                hit.article,
                tuple(best.heading_path) if best else (),
                best.anchor if best else "",
                best.text if best else "",
                cosine,
                hit.above_floor,
                hit.article.pk in given,
            )
            known = found.get(hit.article.pk)
            if known is None or _closeness(near) > _closeness(known):
                found[hit.article.pk] = near
    return sorted(found.values(), key=_closeness, reverse=True)[:NEAREST]


def suggestion(near: Sequence[Near]) -> Suggestion:
    for one in near:
        if one.answers_it and not one.was_given:
            return Suggestion("fix_retrieval", one)
    for one in near:
        if one.answers_it or one.was_given or (one.closeness or 0) >= 100 * NEAR:
            return Suggestion("extend", one)
    return Suggestion("write", None)


def _closeness(near: Near) -> tuple[bool, int]:
    return near.answers_it, near.closeness or 0


def _given(topic: GapTopic) -> set[int]:
    """Articles that at least every second answer of the topic was given text of."""
    answers = topic.questions.exclude(answer=None)
    total = answers.count()
    given = (
        AnswerDocument.objects.filter(answer__gap_question__topic=topic, article__isnull=False)
        .exclude(exposure=AnswerDocument.Exposure.TITLE)
        .values_list("article_id")
        .annotate(times=Count("answer", distinct=True))
    )
    return {article for article, times in given if article and 2 * times >= total}


def _order(topic: GapTopic, marks: Sequence[str]) -> Callable[[Any], tuple[float, int]]:
    """A sorting key: nearest to the mean of all first, then the most repeated."""
    stored = topic.questions.filter(fingerprint__in=marks, embedding__isnull=False)
    rows = list(stored.values_list("fingerprint", "embedding", "embedding_model"))
    model = Counter(row[2] for row in rows).most_common(1)
    kept = {mark: vector for mark, vector, made_by in rows if model and made_by == model[0][0]}
    cosines: dict[str, float] = {}
    if kept:
        matrix = np.array([list(vector or ()) for vector in kept.values()], np.float32)
        near = smoothed(matrix, matrix)
        cosines = dict(zip(kept, (near @ near.mean(axis=0)).tolist(), strict=True))
    return lambda row: (-round(cosines.get(row["fingerprint"], -1.0), 4), -row["times"])
