"""Whether a question is far from everything that the site has and is about.

Asked for questions to which nothing was found, at the end of their turn, in the words
of the visitor and not of the model. Says so only where both tell: the question holds few
of the words of any passage, and is farther from all of them than the articles are from each
other (`articles.ranking.outskirts`). Meaning compares within a language, so a question in another
one than the articles', or in none that can be told, is not far but unanswered.
"""

from __future__ import annotations

from articles.access import Reader
from articles.embeddings import EmbeddingError
from articles.ranking import outskirts
from articles.search import run
from articles.terms.analysis import base_language
from assistant.classifiers.language_guess import language_of_message
from assistant.tools.confidence import LEAST_COVERAGE


def is_outside(question: str, reader: Reader, language: str) -> bool:
    """Asks the database. `language`: the visitor's; decides where words are of several."""
    spoken = language_of_message(question, base_language(language))
    try:
        floor = outskirts.floor_of(spoken) if spoken else None
    except EmbeddingError:
        return False
    if floor is None:
        return False
    found = run(question, reader=reader, for_answers=True, language=spoken, limit=0)
    weighed = (one for stage in found.stages for one in stage.weighed)
    covered = max((one.judgement.coverage for one in weighed), default=0.0)
    nearest = found.results.nearest.get(spoken)
    return nearest is not None and nearest < floor and covered < LEAST_COVERAGE
