"""Search: the one function behind the pages, the API and the assistant's tools.

A query is analysed for each language searched. Passages are found by words and by
meaning, weighed (both in `articles.ranking`), and read through the gate of `articles.access`
again; an article is as good as its best passage. Nothing the reader may not see has any
part in a result: no hit, no count, no snippet.

Where a part fails, the rest answers, and the result says so: `mode` is what was
searched by, `fallback_reason` why it was not everything.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import JSONField, Q, QuerySet
from django.db.models.expressions import RawSQL

from articles import embeddings
from articles.access import Reader, answerable, readable
from articles.metrics import measured
from articles.models import Article, Category
from articles.ranking.calibration import scale_of
from articles.ranking.candidates import Candidate, QueryVector, Scope, find
from articles.ranking.hits import Hit, Mode, PassageHit, Reason, Results
from articles.ranking.queries import Analysed, analyse
from articles.ranking.weighing import Weighed, weigh
from articles.terms import frequencies
from articles.terms.analysis import base_language
from articles.terms.frequencies import Held

__all__ = [
    "Hit",
    "Mode",
    "PassageHit",
    "Reason",
    "Results",
    "Run",
    "Stage",
    "run",
    "search",
]

logger = logging.getLogger(__name__)

LONGEST_QUERY = 2_000
"""Characters of a query that are searched for."""

_LIVE_PASSAGES = """
(SELECT jsonb_agg(jsonb_build_array(p.id, p.heading_path, p.anchor, p.text))
FROM articles_passage p WHERE p.id = ANY(%s)
AND p.article_id = articles_article.id AND p.revision_id = articles_article.live_revision_id)
"""

_NO_TEXT = re.compile("[\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff\ud800-\udfff]+")


Row = tuple[int, list[str], str, str]
"""A passage as it is stored: its key, its headings, its anchor, its text."""

Rows = Mapping[int, Row]


@dataclass(frozen=True)
class Stage:
    """A search in one language: what each of its steps came to. `candidates` are in fused order,
    `weighed` are the ones among them that are worth showing, strongest first."""

    scope: Scope
    query: Analysed
    candidates: Sequence[Candidate]
    weighed: Sequence[Weighed]
    hits: Sequence[Hit]
    mode: Mode
    reason: Reason | None

    @property
    def language(self) -> str:
        return self.scope.language

    @property
    def is_enough(self) -> bool:
        """Whether no other language is searched for lack of a good hit in this one."""
        return any(hit.above_floor for hit in self.hits)


@dataclass(frozen=True)
class Run:
    """A search with all it did. `text` is the query as it was searched for."""

    text: str
    articles: QuerySet[Article]
    categories: tuple[int, ...] | None
    vector: QueryVector | None
    stages: tuple[Stage, ...]
    results: Results


@measured
def search(
    query: str,
    *,
    reader: Reader,
    for_answers: bool = False,
    language: str | None = None,
    category: Category | None = None,
    only: Q | None = None,
    limit: int = 10,
    passages_per_article: int = 3,
) -> Results:
    """The articles that `reader` may open and that match, best first.

    `for_answers` looks at what answers may use instead. `language` is searched first,
    then the site's own where that was not enough; without one, every language is.
    `category` includes the categories below it; `only` is a condition on articles. Any
    string is a query; what no text could contain is ignored.
    """
    return run(
        query,
        reader=reader,
        for_answers=for_answers,
        language=language,
        category=category,
        only=only,
        limit=limit,
        passages_per_article=passages_per_article,
    ).results


def run(
    query: str,
    *,
    reader: Reader,
    for_answers: bool = False,
    language: str | None = None,
    category: Category | None = None,
    only: Q | None = None,
    limit: int = 10,
    passages_per_article: int = 3,
) -> Run:
    """`search`, with what each step came to. Where only that is wanted, `limit` is 0: no article
    is read then, and every language that may be searched is."""
    text = " ".join(_NO_TEXT.sub(" ", query[:LONGEST_QUERY]).split())
    articles = answerable(reader) if for_answers else readable(reader)
    if only is not None:
        articles = articles.filter(only)
    categories = _with_descendants(category)
    if not text:
        nothing = Results(query, (), "title", "no_text", ())
        return Run(text, articles, categories, None, (), nothing)
    narrowed = only is not None or categories is not None
    asked = _Asked(text, articles, categories, narrowed, limit, passages_per_article)
    vector, reason = _vector(text)
    hits: dict[int, Hit] = {}
    stages: list[Stage] = []
    held = frequencies.held()
    for name in _languages(language, list(held)):
        stage = asked.in_language(name, held.get(name), vector)
        stages.append(stage)
        for hit in stage.hits:
            hits.setdefault(hit.article.pk, hit)
        if stage.is_enough or (hits and len(hits) >= limit):
            break
    results = Results(
        query,
        tuple(hits.values())[:limit],
        stages[0].mode if stages else "title",
        reason or next((stage.reason for stage in stages if stage.reason), None),
        tuple(stage.language for stage in stages),
        asked.nearest,
        tuple(held),
    )
    return Run(text, articles, categories, vector, tuple(stages), results)


@dataclass(frozen=True)
class _Asked:
    """What stays the same from one language to the next."""

    text: str
    articles: QuerySet[Article]
    categories: tuple[int, ...] | None
    narrowed: bool
    limit: int
    passages_per_article: int
    nearest: dict[str, float] = field(default_factory=dict)

    def in_language(self, language: str, held: Held | None, vector: QueryVector | None) -> Stage:
        query = analyse(self.text, language, held, narrowed=self.narrowed)
        scope = Scope(self.articles, language, self.categories)
        candidates = find(query, vector, scope)
        cosines = [one.cosine for one in candidates if one.cosine is not None]
        if cosines:
            self.nearest[language] = max(cosines)
        weighed = weigh(query, candidates)
        hits = self._hits(weighed)
        mode, reason = _mode(query, vector, candidates)
        if not query.words:
            titled = self._titled(language)
            hits = [*titled, *(hit for hit in hits if hit.article not in _articles(titled))]
            mode = "title" if titled else "dense"
        return Stage(scope, query, candidates, weighed, hits, mode, reason)

    def _hits(self, weighed: Sequence[Weighed]) -> list[Hit]:
        """The articles of the candidates, best first."""
        by_article: dict[int, list[Weighed]] = defaultdict(list)
        for one in weighed:
            by_article[one.article_id].append(one)
        first = [*by_article][: self.limit]
        best = {pk: by_article[pk][: self.passages_per_article] for pk in first}
        articles = self._articles(best)
        hits = []
        for pk, group in best.items():
            article, rows = articles.get(pk, (None, {}))
            passages = [one.candidate.passage_id for one in group]
            found = [
                _passage_hit(one, rows[passage])
                for one, passage in zip(group, passages, strict=True)
                if passage in rows
            ]
            if article is not None and found:
                hits.append(_hit(article, found))
        return hits

    def _articles(self, best: Mapping[int, Sequence[Weighed]]) -> dict[int, tuple[Article, Rows]]:
        """The articles, through the gate again, with the passages that are still of their live
        revision, as both are now: one query."""
        if not best:
            return {}
        passages = [one.candidate.passage_id for group in best.values() for one in group]
        shown = RawSQL(_LIVE_PASSAGES, [passages], JSONField())  # noqa: S611
        # In no order: their places are known, and an order has to be written, planned and sorted.
        found = self.articles.filter(pk__in=list(best)).order_by().annotate(found=shown)
        return {
            article.pk: (article, {row[0]: row for row in article.found or ()})
            for article in found.defer("body", "live_revision__body")
        }

    def _titled(self, language: str) -> list[Hit]:
        """The articles in whose title the query stands as it is, word for word."""
        if not any(map(str.isalnum, self.text)):
            return []
        pattern = r"\y" + re.sub(r"([^\w\s])", r"\\\1", self.text) + r"\y"
        found = self.articles.filter(
            live_revision__title__iregex=pattern,
            live_revision__language__iregex=rf"^{language}($|[-_])",
        )
        if self.categories is not None:
            found = found.filter(category__in=self.categories)
        found = found.order_by("live_revision__title", "pk")
        return [
            Hit(article, (), 0.0, None, 0.0, above_floor=False)
            for article in found.defer("body", "live_revision__body")[: self.limit]
        ]


def _mode(
    query: Analysed, vector: QueryVector | None, candidates: Sequence[Candidate]
) -> tuple[Mode, Reason | None]:
    """What a language was searched by; why not by everything."""
    if not query.words:
        return "dense", "only_common_words"
    if vector is None:
        return "lexical", None
    if candidates and all(candidate.dense_rank is None for candidate in candidates):
        return "lexical", "embeddings_missing"
    return "hybrid", None


def _languages(language: str | None, held: list[str]) -> list[str]:
    """Those the index holds, in the order in which they are searched; all where it holds none
    of those that are wanted."""
    default = base_language(settings.LANGUAGE_CODE)
    wanted = [base_language(language), default] if language else [default, *held]
    return [name for name in dict.fromkeys(wanted) if name in held] or held


def _vector(text: str) -> tuple[QueryVector | None, Reason | None]:
    """The query's vector; without one, why."""
    try:
        embedder = embeddings.active()
        if embedder is None:
            return None, "embeddings_off"
        scale = scale_of(embedder)
        values = tuple(embedder.embed([text])[0])
    except embeddings.EmbeddingError as error:
        logger.warning("query_not_embedded", extra={"reason": str(error)})
        return None, "embeddings_failed"
    return (QueryVector(values, embedder.name, scale) if any(values) else None), None


def _with_descendants(category: Category | None) -> tuple[int, ...] | None:
    if category is None:
        return None
    children: dict[int | None, list[int]] = defaultdict(list)
    for pk, parent in Category.objects.values_list("pk", "parent_id"):
        children[parent].append(pk)
    found = [category.pk]
    for pk in found:
        found += [child for child in children[pk] if child not in found]
    return tuple(found)


def _passage_hit(weighed: Weighed, row: Row) -> PassageHit:
    passage_id, heading_path, anchor, text = row
    candidate, judgement = weighed.candidate, weighed.judgement
    return PassageHit(
        passage_id,
        tuple(heading_path),
        anchor,
        text,
        candidate.cosine,
        judgement.coverage,
        candidate.lexical_rank,
        candidate.dense_rank,
        judgement.strength,
        judgement.above_floor,
    )


def _hit(article: Article, passages: Sequence[PassageHit]) -> Hit:
    best = passages[0]
    cosines = [passage.cosine for passage in passages if passage.cosine is not None]
    return Hit(
        article,
        tuple(passages),
        best.strength,
        max(cosines, default=None),
        max(passage.coverage for passage in passages),
        best.above_floor,
    )


def _articles(hits: Sequence[Hit]) -> set[Article]:
    return {hit.article for hit in hits}
