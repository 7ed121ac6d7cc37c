"""What else a search looks for: the writers' synonyms, as terms of one language.

A query's words are compared with the groups' terms after the same analysis, so case,
accents and word forms do not matter, and a phrase is found as a phrase. What a synonym
finds counts for less than what was typed.

Each process keeps the groups compiled. `STAMP` is read with the state of the index, in
a statement that a search makes anyway: where it differs, the groups are read again. So a
change counts in every process from the next search on, and costs no query before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from articles.models import SynonymGroup
from articles.ranking.relevance import Word
from articles.terms.analysis import base_language, query_terms

DISCOUNT = 0.8
"""What a synonym is worth, as a share of what it stands for."""

Terms = tuple[str, ...]
"""The terms that find a word: any of them does."""

Phrase = tuple[Terms, ...]
"""Words that stand side by side."""


@dataclass(frozen=True)
class Synonym:
    """`text` as the writers typed it, `phrase` as it stands in passages."""

    text: str
    phrase: Phrase


@dataclass(frozen=True)
class Expansion:
    """What else finds the words `[start, end)` of a query, together."""

    start: int
    end: int
    synonyms: tuple[Synonym, ...]


@dataclass(frozen=True)
class Expansions:
    """The synonyms of a query, whose words are given in order."""

    words: tuple[Terms, ...]
    found: tuple[Expansion, ...] = ()

    def terms(self) -> set[str]:
        """The terms of all synonyms: how common they are has to be looked up."""
        synonyms = (synonym for one in self.found for synonym in one.synonyms)
        return {term for synonym in synonyms for word in synonym.phrase for term in word}

    def texts(self) -> list[str]:
        return [synonym.text for one in self.found for synonym in one.synonyms]

    def applied(
        self, words: Sequence[Word], idfs: Mapping[str, float], known: Container[str]
    ) -> tuple[list[Word], dict[str, float]]:
        """The words with what else finds them, and what the terms of that weigh in the query.

        A synonym is worth at most what it stands for, less `DISCOUNT`. A word that is not
        `known` to the index has the greatest idf there is, which nothing could ever reach: it
        is worth no more than its best synonym.
        """
        weights: dict[str, float] = {}
        also: defaultdict[Terms, list[Phrase]] = defaultdict(list)
        most: dict[Terms, float] = {}
        for one in self.found:
            stretch = self.words[one.start : one.end]
            limit = sum(max(idfs[term] for term in terms) for terms in stretch)
            for synonym in one.synonyms:
                worth, weighed = _weights(synonym, limit, idfs)
                weights |= {term: max(weight, weights.get(term, 0.0)) for term, weight in weighed}
                for terms in stretch:
                    also[terms].append(synonym.phrase)
                    most[terms] = max(worth / len(stretch), most.get(terms, 0.0))
        unknown = {terms: worth for terms, worth in most.items() if not _any(terms, known)}
        return [
            replace(
                word,
                also=tuple(dict.fromkeys(also[word.terms])),
                idf=min(word.idf, unknown.get(word.terms, word.idf)),
            )
            for word in words
        ], weights


Table = Mapping[Terms, tuple[Synonym, ...]]
"""What finds a sequence of terms as well. No groups, no entries."""

_tables: dict[str, tuple[str, Table]] = {}


STAMP = "(SELECT concat(count(*), ' ', max(changed_at)) FROM articles_synonymgroup)"
"""SQL that differs whenever the groups do: their count and their last change."""


def expand(words: Sequence[Terms], language: str, stamp: str | None) -> Expansions:
    """The synonyms of a query's words, given what `STAMP` was in the database just now.

    One query where the groups have changed since this process read them, else none.
    """
    table = _table(language, stamp or "")
    longest = max(map(len, table), default=0)
    found = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            synonyms = _synonyms(table, words[start:end])
            if synonyms:
                found.append(Expansion(start, end, synonyms))
    return Expansions(tuple(words), tuple(found))


def also_searched(query: str, languages: Iterable[str]) -> list[str]:
    """What a search of `query` in these languages has just looked for as well, for people."""
    texts: list[str] = []
    for language in languages:
        read_at, _table_then = _tables.get(language, ("", {}))
        words = [tuple(terms) for terms in query_terms(query, language)]
        texts += expand(words, language, read_at).texts()
    return list(dict.fromkeys(texts))


def _weights(
    synonym: Synonym, limit: float, idfs: Mapping[str, float]
) -> tuple[float, list[tuple[str, float]]]:
    """What a synonym is worth by its idf, at most `limit`, and what its terms weigh in a query."""
    own = [max(idfs[term] for term in terms) for terms in synonym.phrase]
    worth = min(limit, sum(own))
    share = DISCOUNT * worth / sum(own)
    weighed = zip(synonym.phrase, own, strict=True)
    return worth, [(term, share * idf / len(terms)) for terms, idf in weighed for term in terms]


def _any(terms: Terms, known: Container[str]) -> bool:
    return any(term in known for term in terms)


def _table(language: str, stamp: str) -> Table:
    known, table = _tables.get(language, (None, {}))
    if known != stamp:
        table = _compiled(language) if stamp else {}
        _tables[language] = stamp, table
    return table


def _compiled(language: str) -> Table:
    found: defaultdict[Terms, list[Synonym]] = defaultdict(list)
    for group in SynonymGroup.objects.filter(is_active=True):
        if group.language and base_language(group.language) != language:
            continue
        targets = group.targets or group.terms
        synonyms = [synonym for text in targets if (synonym := _synonym(text, language)).phrase]
        for text in group.terms:
            for key in _keys(text, language):
                found[key] += [one for one in synonyms if one.text != text]
    return {key: tuple(dict.fromkeys(synonyms)) for key, synonyms in found.items()}


def _synonym(text: str, language: str) -> Synonym:
    return Synonym(text, tuple(tuple(terms) for terms in query_terms(text, language)))


def _keys(text: str, language: str) -> set[Terms]:
    """The sequences of terms that mean `text` in a query.

    The first term of each word; a compound also as one word, and only so where nothing else
    is left of it: "sign-on" is not every "sign".
    """
    words = query_terms(text, language)
    keys = {tuple(word[0] for word in words)} if len(words) > 1 else set()
    keys.add(tuple(word[-1] for word in words))
    if len(words) > 1 and len(words[0]) > 1 and len(text.split()) == 1:
        keys.add((words[0][-1],))
    return keys - {()}


def _synonyms(table: Table, words: Sequence[Terms]) -> tuple[Synonym, ...]:
    """Those of a sequence of words, each by its own term or as the compound it begins."""
    typed = [tuple(word[0] for word in words), tuple(word[-1] for word in words)]
    found = (synonym for key in dict.fromkeys(typed) for synonym in table.get(key, ()))
    return tuple(dict.fromkeys(found))
