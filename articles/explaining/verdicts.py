"""Where one article stands in a search, and what kept it from the first place.

Its ranks and scores are exact, computed for it alone: also where search left it out. Only
what has no passage in the index has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from articles.explaining.rows import Row, forms, rows
from articles.models import Article, ArticleRevision, Passage
from articles.ranking.candidates import Scope, standing
from articles.ranking.queries import analyse
from articles.ranking.weighing import Weighed, weigh
from articles.search import Run, Stage
from articles.terms import frequencies
from articles.terms.analysis import base_language

Reason = Literal[
    "won",
    "not_published",
    "not_for_reader",
    "other_category",
    "not_indexed",
    "language_not_searched",
    "no_text",
    "only_common_words",
    "no_word",
    "not_a_candidate",
    "not_weighed",
    "below_floor",
    "outranked",
]
"""What decided, the first of these that holds. `no_word`: no word of the question stands in it,
and its meaning is too far. `not_a_candidate`: words do, and both lists ended before it.
`not_weighed`: a candidate, beyond those that the second stage looks at. `below_floor`: found,
and too weak to answer from."""


@dataclass(frozen=True)
class Lead:
    """A part of the strength in which the first article is ahead: the shares of both."""

    part: str
    own: float
    other: float


@dataclass(frozen=True)
class Verdict:
    """An article that should have won.

    `place` is its place among the articles found, from 1. `best` is its best passage, with
    exact ranks among all that the reader may see and this article. `deserved` is the place
    that its strength would have had where it was left out. `first` is the article that came
    first; `leads` and `lacking`, the words that only its passage has, say why.
    """

    article: Article
    reason: Reason
    place: int | None = None
    best: Row | None = None
    deserved: int | None = None
    first: Article | None = None
    leads: tuple[Lead, ...] = ()
    lacking: tuple[str, ...] = ()
    searched_later: bool = False
    """Whether the languages before its own gave all that comes before it."""

    @property
    def strength(self) -> float | None:
        weighed = self.best.weighed if self.best else None
        return weighed.judgement.strength if weighed else None


def verdict(run: Run, article: Article) -> Verdict:
    """Where `article` stands in this search."""
    order = _order(run)
    first = run.results.hits[0].article if run.results.hits else None
    place = order.index(article.pk) + 1 if article.pk in order else None
    found = Verdict(article, "no_text", place, first=first)
    revision = article.live_revision
    if not article.is_live or revision is None:
        return replace(found, reason="not_published")
    if not run.text:
        return found
    return _Standing.of(run, article, revision).judged(found)


@dataclass(frozen=True)
class _Standing:
    """The article in its own language, searched or not: its passages, the best one first."""

    run: Run
    article: Article
    scope: Scope
    stage: Stage | None
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, run: Run, article: Article, revision: ArticleRevision) -> _Standing:
        language = base_language(revision.language)
        stage = next((one for one in run.stages if one.language == language), None)
        held = frequencies.held().get(language)
        query = stage.query if stage else analyse(run.text, language, held)
        in_category = run.categories is None or article.category_id in run.categories
        scope = Scope(
            run.articles | Article.objects.filter(pk=article.pk),
            language,
            run.categories if in_category else None,
        )
        own = standing(query, run.vector, scope, article.pk)
        weighed = weigh(query, own)
        strongest = [one.candidate for one in weighed]
        ordered = [*strongest, *(one for one in own if one not in strongest)]
        candidates = stage.candidates if stage else ()
        places = {one.passage_id: place for place, one in enumerate(candidates, start=1)}
        return cls(run, article, scope, stage, rows(query, ordered, weighed, places))

    def judged(self, found: Verdict) -> Verdict:
        best = self.rows[0] if self.rows else None
        reason = self._reason(found.place, best)
        known = replace(found, reason=reason, best=best)
        if best is None or best.weighed is None:
            return known
        if found.place is None:
            known = replace(known, deserved=self._deserved(best.weighed))
        return self._compared(known, best)

    def _reason(self, place: int | None, best: Row | None) -> Reason:
        return self._kept_out() or self._left_out(place) or self._placed(place, best)

    def _kept_out(self) -> Reason | None:
        """What keeps an article out whatever is asked."""
        run, article = self.run, self.article
        if not run.articles.filter(pk=article.pk).exists():
            return "not_for_reader"
        if run.categories is not None and article.category_id not in run.categories:
            return "other_category"
        if not Passage.objects.filter(revision=article.live_revision_id).exists():
            return "not_indexed"
        return None if self.stage else "language_not_searched"

    def _left_out(self, place: int | None) -> Reason | None:
        """Where on the way an article that was looked for got lost."""
        if place is not None or self.stage is None:
            return None
        if not self.stage.query.words:
            return "only_common_words"
        if not any(row.candidate.lexical_rank for row in self.rows):
            return "no_word"
        is_candidate = any(row.place for row in self.rows)
        return "not_weighed" if is_candidate else "not_a_candidate"

    def _placed(self, place: int | None, best: Row | None) -> Reason:
        """What an article that was found came to."""
        if place != 1:
            return "outranked"
        weighed = best.weighed if best else None
        return "won" if weighed and weighed.judgement.above_floor else "below_floor"

    def _deserved(self, own: Weighed) -> int:
        """The place that this strength would have among the articles of its language."""
        stronger = {
            one.article_id
            for one in (self.stage.weighed if self.stage else ())
            if one.judgement.strength > own.judgement.strength
        }
        return len(stronger) + 1

    def _compared(self, known: Verdict, best: Row) -> Verdict:
        """With why the first article is ahead, where the two can be compared."""
        first = known.first
        if first is None or first == self.article:
            return known
        rival = next((one for one in self._weighed() if one.article_id == first.pk), None)
        if rival is None or self.stage is None:
            later = self.run.stages and self.run.stages[0] is not self.stage
            return replace(known, searched_later=bool(later))
        (other,) = rows(self.stage.query, [rival.candidate], [rival], {}) or (None,)
        if other is None:
            return known
        return replace(known, leads=_leads(best, other), lacking=self._lacking(best, rival))

    def _weighed(self) -> Sequence[Weighed]:
        return self.stage.weighed if self.stage else ()

    def _lacking(self, best: Row, rival: Weighed) -> tuple[str, ...]:
        own = best.weighed.evidence.words if best.weighed else frozenset()
        words = self.stage.query.words if self.stage else ()
        return tuple(forms(words[index]) for index in sorted(rival.evidence.words - own))


def _order(run: Run) -> list[int]:
    """The articles found, best first: also those beyond the ones that are shown."""
    hits = [hit.article.pk for hit in run.results.hits]
    more = [hit.article.pk for stage in run.stages for hit in stage.hits]
    weighed = [one.article_id for stage in run.stages for one in stage.weighed]
    return list(dict.fromkeys([*hits, *more, *weighed]))


def _leads(own: Row, other: Row) -> tuple[Lead, ...]:
    """The parts in which `other` is ahead, the greatest difference first."""
    shares = own.shares
    leads = [
        Lead(part, shares.get(part, 0.0), share)
        for part, share in other.shares.items()
        if share > shares.get(part, 0.0)
    ]
    return tuple(sorted(leads, key=lambda lead: lead.own - lead.other))
