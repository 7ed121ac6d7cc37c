"""The labelled messages of grounding_questions.csv, a site to ask, and what is right for each.

The site is the manual and the articles of support_claims.json: a shop with accounts, appliances
and bicycles, some of it in German, French, Spanish and Japanese. `half` is whether a message may be
looked at while the classifier is worked on (`development`) or only measures it (`held out`).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

Label = Literal["smalltalk", "substantive", "out_of_scope"]

TESTS = Path(__file__).resolve().parent
MANUAL = TESTS.parent / "docs"

LABELS: dict[str, Label] = {
    "greeting": "smalltalk",
    "thanks": "smalltalk",
    "goodbye": "smalltalk",
    "chat": "smalltalk",
    "assistant": "smalltalk",
    "venting": "smalltalk",
    "question": "substantive",
    "mixed": "substantive",
    "short": "substantive",
    "typo": "substantive",
    "emoji": "substantive",
    "near": "substantive",
    "trouble": "substantive",
    "person": "substantive",
    "outside": "out_of_scope",
}
"""Kinds of messages. `mixed` greets and asks, `near` asks what the site nearly answers, `trouble`
says that something fails, `person` wants a human, `venting` only complains."""


@dataclass(frozen=True)
class Labelled:
    """A message as a visitor sent it, and what it is."""

    half: Literal["development", "held out"]
    kind: str
    language: str
    message: str

    @property
    def label(self) -> Label:
        return LABELS[self.kind]


def labelled(half: str = "") -> list[Labelled]:
    """The messages of a half, or all."""
    with (TESTS / "grounding_questions.csv").open(newline="", encoding="utf-8") as file:
        rows = [Labelled(**row) for row in csv.DictReader(file)]  # type: ignore[arg-type]
    return [row for row in rows if half in ("", row.half)]


def load_site() -> None:
    """Publish and index the site's articles. Asks the database."""
    from articles import indexing, publishing
    from articles.importing import frontmatter
    from articles.models import Article
    from articles.ranking import outskirts
    from articles.terms import frequencies

    for path in sorted(MANUAL.glob("*.md")):
        values, body = frontmatter.split(path.read_text(encoding="utf-8"))
        title = frontmatter.interpret(values).title or path.stem
        publishing.publish(Article(title=title, body=body, language="en"))
    for source in json.loads((TESTS / "support_claims.json").read_text(encoding="utf-8")):
        body = "\n\n".join(f"## {part['heading']}\n\n{part['text']}" for part in source["passages"])
        publishing.publish(Article(title=source["title"], body=body, language=source["language"]))
    for article_id in list(indexing.stale().values_list("pk", flat=True)):
        indexing.index_article(article_id)
    frequencies.recount()
    outskirts.measure()


def judged(message: Labelled) -> str:
    """The verdict on an answer that cites nothing, by a model that searched for the message."""
    from articles.access import ANONYMOUS
    from assistant.grounding import Facts, verdict
    from assistant.scope import is_outside
    from assistant.tools import queries

    found = queries.find(ANONYMOUS, message.language, message.message, "", cautious=False)
    return verdict(
        Facts(
            question=message.message,
            text="Here is what I can say.",
            searched=True,
            excerpts=len(found.articles),
            outside=is_outside(message.message, ANONYMOUS, message.language),
        )
    )


def outcome(verdict: str) -> Label:
    """What a verdict takes a message for."""
    if verdict in ("smalltalk", "out_of_scope"):
        return verdict  # type: ignore[return-value]
    return "substantive"


@dataclass(frozen=True)
class Judged:
    """A message and what it was taken for."""

    message: Labelled
    taken_for: Label

    @property
    def is_right(self) -> bool:
        return self.taken_for == self.message.label


def judge_all(messages: Iterable[Labelled]) -> list[Judged]:
    """Asks the database, where the site has to be loaded."""
    return [Judged(message, outcome(judged(message))) for message in messages]


def share_right(
    found: Iterable[Judged], *, half: str = "", label: str = "", kind: str = ""
) -> float:
    """Of the messages of a half, a label or a kind, those that were judged right."""
    return fmean(
        one.is_right
        for one in found
        if half in ("", one.message.half)
        and label in ("", one.message.label)
        and kind in ("", one.message.kind)
    )


def table(found: Sequence[Judged], by: Callable[[Labelled], str]) -> str:
    """A Markdown table, one row for each group: how many, how many right, what wrong ones
    were taken for."""
    lines = [
        "| | messages | right | held out, right | taken for |",
        "| --- | --- | --- | --- | --- |",
    ]
    for group in dict.fromkeys(by(one.message) for one in found):
        own = [one for one in found if by(one.message) == group]
        held = [one for one in own if one.message.half == "held out"]
        wrong = Counter(one.taken_for for one in own if not one.is_right)
        lines.append(
            f"| {group} | {len(own)} | {_share(own)} | {_share(held)} |"
            f" {', '.join(f'{name} {count}' for name, count in wrong.most_common()) or '-'} |"
        )
    return "\n".join(lines)


def _share(found: Sequence[Judged]) -> str:
    return f"{sum(one.is_right for one in found)} of {len(found)}"
