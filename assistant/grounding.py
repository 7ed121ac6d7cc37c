"""The verdict on an answer: what it rests on, and whether it shows a gap in the articles.

`verdict` is a pure function of facts that are stored with the answer, and the first rule
that matches wins; the manual's page on sources explains each. A model that never calls
`cannot_answer` is judged by its words (`says_not_found`).
"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.classifiers.not_found import says_not_found
from assistant.classifiers.small_talk import is_small_talk
from assistant.models import Grounding

GAPS = (Grounding.REJECTED, Grounding.NO_HITS, Grounding.UNSEARCHED)
"""The verdicts that show something missing; `uncited` is reported as a kind of its own."""

FAR_COSINE = 0.18
"""A question whose nearest passage is farther is about nothing that the site is about.
Questions whose own article is missing were never farther than 0.20, see `bench/extractive.py`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an answer when its turn has ended.

    `failed`: the turn failed, was stopped, interrupted or filtered. `search_failed`:
    search was down whenever it was tried. `text`: the model's. `opened`, `excerpts`:
    documents of which this turn gave the whole text, or passages. `cited`: one whose
    text was given, now or in an earlier turn, is cited. `linked_titles`: titles only,
    which the answer links. `nearest`: the best cosine of any passage, below the floors
    too; None where nothing was measured.
    """

    question: str
    text: str
    failed: bool = False
    search_failed: bool = False
    declined: str = ""
    searched: bool = False
    opened: int = 0
    excerpts: int = 0
    cited: bool = False
    linked_titles: int = 0
    nearest: float | None = None


def verdict(facts: Facts) -> Grounding:
    """The verdict. A message that asks nothing shows no gap, whatever was searched for it."""
    asked = not is_small_talk(facts.question)
    found = bool(facts.opened or facts.excerpts)
    missed = asked and facts.searched and not found
    is_far = missed and not facts.cited and _is_far(facts.nearest)
    rejects = facts.declined == "not_in_docs" or (asked and says_not_found(facts.text))
    rules = (
        (facts.failed or facts.search_failed, Grounding.UNAVAILABLE),
        (not facts.text.strip() and not missed, Grounding.UNAVAILABLE),
        (facts.declined == "out_of_scope" or is_far, Grounding.OUT_OF_SCOPE),
        (facts.declined == "unclear_question", Grounding.UNCLEAR),
        (rejects, Grounding.REJECTED),
        (facts.opened > 0 or facts.cited, Grounding.GROUNDED),
        (asked and facts.excerpts > 0, Grounding.UNCITED),
        (facts.linked_titles > 0, Grounding.LISTING),
        (missed, Grounding.NO_HITS),
        (not asked, Grounding.SMALLTALK),
    )
    return next((value for holds, value in rules if holds), Grounding.UNSEARCHED)


def _is_far(nearest: float | None) -> bool:
    return nearest is not None and nearest < FAR_COSINE
