"""Did you mean: a query whose unknown words are replaced by the nearest known ones.

Only words of articles that everyone may read are ever suggested, to whomever. `collect`
gathers them now and then; what decides is the articles' own rows at the moment of asking:
a word is suggested where it stands, as it is written, in a text that an anonymous reader
may open right now, and a typed word counts as known where it does. So neither a suggestion
nor the lack of one says anything about a draft, a hidden article or one that is gone.

Codes and numbers are never corrected: the code next to E-1042 is another error. Scripts
without spaces have no words to compare.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Max
from rapidfuzz import process
from rapidfuzz.distance import OSA

from articles.access import ANONYMOUS, readable
from articles.models import KnownWord, Passage
from articles.models.words import LONGEST_WORD
from articles.ranking.candidates import Scope
from articles.search import Results
from articles.searchable import Source, quoted
from articles.terms.analysis import fold, query_terms, without_accents

SHORTEST_WORD = 4
"""Letters; a shorter word is as near to many others."""

LONG_WORD = 6
"""From so many letters on two mistakes are forgiven, below it one."""

MOST_KNOWN = 100_000
"""Words kept of a language: those in the most articles."""

MOST_CORRECTED = 8
"""Words of a query that are looked at."""

NEAREST = 5
"""Words that are tried for each."""

_WORD = re.compile(rf"(?<!\w)[^\W\d_]{{{SHORTEST_WORD},{LONGEST_WORD}}}(?![\w@])")
_NOT_COMPARED = re.compile(
    "[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Scripts without spaces between words, and those whose vowels are marks."""

_LOCK = 7_206_119

_STANDS = """
SELECT form FROM unnest(%s::text[], %s::text[]) AS asked (form, query)
WHERE EXISTS (
    SELECT FROM articles_passage p JOIN articles_articlerevision r ON r.id = p.revision_id
    WHERE p.terms @@ asked.query::tsquery AND {condition} AND {as_written}
)
"""
_AS_WRITTEN = (
    "strpos(concat_ws(' ', r.title, array_to_string(p.heading_path, ' '), p.text), form) > 0"
)


def suggestion(results: Results) -> str | None:
    """What may have been meant where a search found nothing good; None where nothing is near.

    Asks the database only then.
    """
    if results.strong:
        return None
    for language in results.languages:
        corrected = correct(results.query, language)
        if corrected is not None:
            return corrected
    return None


def correct(query: str, language: str) -> str | None:
    """`query` with its unknown words replaced by the nearest known ones; None for no change."""
    text = unicodedata.normalize("NFKC", " ".join(query.split()))
    matches = [match for match in _words(text) if query_terms(match.group(), language)]
    typed = list(dict.fromkeys(match.group() for match in matches))[:MOST_CORRECTED]
    nearest = {word: _vocabulary(language).nearest(_bare(word)) for word in typed}
    if not any(nearest.values()):
        return None
    known = _standing(typed, language, as_written=False)
    candidates = [one for word in typed if word not in known for one in nearest[word]]
    standing = _standing(candidates, language, as_written=True)
    replaced = {
        word: next((one for one in nearest[word] if one in standing), word)
        for word in typed
        if word not in known
    }
    corrected = _WORD.sub(lambda match: replaced.get(match.group(), match.group()), text)
    return corrected if corrected != text else None


def collect() -> int:
    """Gather the words anew; returns how many. One transaction: suggestions see old or new."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        KnownWord.objects.all().delete()
        count = 0
        for language in Passage.objects.order_by().values_list("language", flat=True).distinct():
            rows = list(_collected(language))
            KnownWord.objects.bulk_create(rows, batch_size=5_000)
            count += len(rows)
    return count


def _collected(language: str) -> Iterator[KnownWord]:
    articles: Counter[str] = Counter()
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    last: dict[str, int] = {}
    for article_id, text in _texts(language):
        for match in _words(text):
            form, bare = match.group(), _bare(match.group())
            forms[bare][form] += 1
            if last.get(bare) != article_id:
                last[bare] = article_id
                articles[bare] += 1
    for bare, count in articles.most_common(MOST_KNOWN):
        (form, _times), *_others = forms[bare].most_common(1)
        yield KnownWord(language=language, bare=bare, text=form, articles=count)


def _texts(language: str) -> Iterator[tuple[int, str]]:
    """What everyone may read, article by article: titles, headings, and texts without the
    addresses of links."""
    live = readable(ANONYMOUS).order_by().values("live_revision")
    passages = Passage.objects.filter(language=language, revision__in=live)
    fields = ("article_id", "revision__title", "heading_path", "text")
    rows = passages.order_by("article_id", "position").values_list(*fields)
    for article_id, title, headings, text in rows.iterator(chunk_size=500):
        source = Source(title, headings, "", text, language)
        yield article_id, "\n".join([title, *headings, source.words()])


def _words(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _WORD.finditer(text) if not _NOT_COMPARED.search(match.group()))


def _bare(word: str) -> str:
    return without_accents(fold(word))[:LONGEST_WORD]


@dataclass(frozen=True)
class _Vocabulary:
    """The known words of a language, as one process holds them. `stamp` tells its age."""

    stamp: int | None
    bare: Sequence[str] = ()
    text: Sequence[str] = ()
    articles: Sequence[int] = ()

    def nearest(self, word: str) -> list[str]:
        """The words within reach of mistyping: nearest first, then those with the same first
        letter, then the more usual ones."""
        reach = 2 if len(word) >= LONG_WORD else 1
        found = process.extract(
            word, self.bare, scorer=OSA.distance, score_cutoff=reach, limit=10 * NEAREST
        )
        ranked = sorted(
            found,
            key=lambda one: (one[1], one[0][:1] != word[:1], -self.articles[one[2]], one[0]),
        )
        return [self.text[index] for _bare_word, _distance, index in ranked[:NEAREST]]


_vocabularies: dict[str, _Vocabulary] = {}


def _vocabulary(language: str) -> _Vocabulary:
    """Read once after each `collect`: that gives its rows new numbers."""
    words = KnownWord.objects.filter(language=language)
    stamp = words.aggregate(newest=Max("pk"))["newest"]
    held = _vocabularies.get(language)
    if held is None or held.stamp != stamp:
        rows = list(words.values_list("bare", "text", "articles"))
        columns = tuple(zip(*rows, strict=True)) if rows else ((), (), ())
        held = _vocabularies[language] = _Vocabulary(stamp, *columns)
    return held


def _standing(words: Iterable[str], language: str, *, as_written: bool) -> set[str]:
    """Those of the words that stand in what everyone may read now; in any form of theirs, or
    only `as_written`."""
    queries = {word: query_terms(word, language) for word in dict.fromkeys(words)}
    asked = {
        word: " | ".join(quoted(term) for terms in found for term in terms)
        for word, found in queries.items()
        if found
    }
    if not asked:
        return set()
    condition, values = Scope(readable(ANONYMOUS), language).condition()
    statement = _STANDS.format(
        condition=condition, as_written=_AS_WRITTEN if as_written else "true"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(asked), list(asked.values()), *values])
        return {form for (form,) in cursor.fetchall()}
