"""Why a question finds what it finds: a search with what each of its steps made of it.

`explain` runs `articles.search` itself, not a second search, and tells about one article
that should have won. For staff: an explanation names passages that the chosen reader may
see, and the article asked about whatever its state, so who may view articles may read it.
Nothing here is recorded or logged.

`rows` are passages at each step, `verdicts` say where one article stands and why it lost,
`reasons` put that into words, `explanation` is the door.
"""

from articles.explaining.explanation import Explanation, LanguageSteps, explain
from articles.explaining.reasons import in_words
from articles.explaining.rows import AskedWord, Row
from articles.explaining.verdicts import Lead, Reason, Verdict

__all__ = [
    "AskedWord",
    "Explanation",
    "LanguageSteps",
    "Lead",
    "Reason",
    "Row",
    "Verdict",
    "explain",
    "in_words",
]
