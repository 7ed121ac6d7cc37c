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


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an answer when its turn has ended.

    `failed`: the turn failed, was stopped, interrupted or filtered. `search_failed`:
    search was down whenever it was tried. `degraded`: a search could not compare meanings,
    so what it did not find may be there. `text`: the model's. `opened`, `excerpts`:
    documents of which this turn gave the whole text, or passages. `cited`: one whose
    text was given, now or in an earlier turn, is cited. `linked_titles`: titles only,
    which the answer links. `outside`: the question is far from everything the site has,
    see `assistant.scope`.
    """

    question: str
    text: str
    failed: bool = False
    search_failed: bool = False
    degraded: bool = False
    declined: str = ""
    searched: bool = False
    opened: int = 0
    excerpts: int = 0
    cited: bool = False
    linked_titles: int = 0
    outside: bool = False


def verdict(facts: Facts) -> Grounding:
    """The verdict. A message that asks nothing shows no gap, whatever was searched for it."""
    asked = not is_small_talk(facts.question)
    found = bool(facts.opened or facts.excerpts)
    missed = asked and facts.searched and not found
    is_far = facts.outside and may_be_outside(facts)
    says_so = facts.declined == "not_in_docs" or says_not_found(facts.text)
    rules = (
        (facts.failed or facts.search_failed, Grounding.UNAVAILABLE),
        (not facts.text.strip() and not missed, Grounding.UNAVAILABLE),
        (facts.declined == "out_of_scope" or is_far, Grounding.OUT_OF_SCOPE),
        (facts.declined == "unclear_question", Grounding.UNCLEAR),
        (asked and says_so, Grounding.REJECTED),
        (facts.opened > 0 or facts.cited, Grounding.GROUNDED),
        (asked and facts.excerpts > 0, Grounding.UNCITED),
        (facts.linked_titles > 0, Grounding.LISTING),
        (missed, Grounding.NO_HITS),
        (not asked, Grounding.SMALLTALK),
    )
    found_out = next((value for holds, value in rules if holds), Grounding.UNSEARCHED)
    return Grounding.UNAVAILABLE if facts.degraded and found_out in GAPS else found_out


def may_be_outside(facts: Facts) -> bool:
    """Whether the verdict depends on what the question is about. What was found, cited or
    listed is near enough, and a turn that failed says nothing of its question."""
    used = facts.opened or facts.excerpts or facts.cited or facts.linked_titles
    return not (facts.failed or facts.search_failed or used or is_small_talk(facts.question))
