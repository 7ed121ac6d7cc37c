"""What the answerer without a model opens, and when it says that it found nothing.

    python bench/extractive.py [--show N]

Asks every question through the whole loop: prompt, tools, ledger, writer, verdict. The
question set and the other product's articles are in ../shared; the manual is our own.
Starts servers of its own in a temporary folder. Prints a Markdown table; `--show` prints
N answers of each part as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import corpora, databases, retrieval  # noqa: E402

if TYPE_CHECKING:
    from assistant.agent import Outcome


@dataclass
class Asked:
    """A question as it was answered. `opened`: external ids, in order."""

    question: str
    text: str = ""
    opened: list[str] = field(default_factory=list)
    declined: bool = False
    milliseconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=0)
    show = parser.parse_args().show
    with databases.passing():
        run(show)


def run(show: int) -> None:
    wix = corpora.wixqa()
    load(wix.articles)
    own = ask_all(wix.questions)
    load(corpora.plausible_articles())
    foreign = ask_all(wix.questions)
    pages, asked = manual()
    load(pages)
    about_us = ask_all([item["question"] for item in asked])
    right_pages = [set(item["pages"]) for item in asked]
    print("\n| what | share |\n| --- | --- |")
    print(f"| own articles: a right one opened | {opened_right(own, wix.relevant):.3f} |")
    print(f"| own articles: two opened | {fmean(len(one.opened) > 1 for one in own):.3f} |")
    print(f"| another product's: could not find it | {declined(foreign):.3f} |")
    print(f"| the manual: a right page opened | {opened_right(about_us, right_pages):.3f} |")
    times = quantiles([one.milliseconds for one in [*own, *foreign]], n=20)
    print(f"\nms for a whole answer: p50 {times[9]:.0f}, p95 {times[18]:.0f}")
    for name, group in (("own", own), ("foreign", foreign), ("manual", about_us)):
        for one in group[:show]:
            print(f"\n--- {name}: {one.question}\n{one.text}")
    for one, right in zip(about_us, right_pages, strict=True):
        if not right.intersection(one.opened):
            print(f"\nmissed: {one.question} -> {one.opened or 'declined'}, not {sorted(right)}")


def load(articles: Sequence[corpora.Article]) -> None:
    """These articles, and no others."""
    from articles.models import Article

    Article.objects.all().delete()
    retrieval.load(articles)


def manual() -> tuple[list[corpora.Article], list[dict[str, Any]]]:
    """The manual's pages, and questions with the pages that answer them."""
    from articles.importing import frontmatter

    pages = []
    for path in sorted((PROJECT / "docs").glob("*.md")):
        values, text = frontmatter.split(path.read_text())
        title = frontmatter.interpret(values).title or path.stem
        pages.append(corpora.Article(path.name, title, text, "en"))
    return pages, json.loads((PROJECT / "tests/manual_questions.json").read_text())


def ask_all(questions: Sequence[str]) -> list[Asked]:
    async def each() -> list[Asked]:
        return [await ask(question) for question in questions]

    return asyncio.run(each())


async def ask(question: str) -> Asked:
    """One turn without the door: what it yields, and what its ledger says."""
    from articles.access import ANONYMOUS
    from articles.models import Article
    from assistant import agent, prompts
    from assistant.citations import CitationWriter
    from assistant.database import db
    from assistant.provenance import Exposure, Ledger
    from assistant.providers.extractive import ExtractiveModel
    from assistant.tools.toolbox import ArticleToolbox

    began = time.perf_counter()
    ledger = Ledger()
    toolbox = ArticleToolbox(ANONYMOUS, "en", ledger, db, cautious=True)
    prompt = prompts.build(site="Help", mode="extractive", question=question)
    events = agent.run(
        messages=prompt.messages,
        model=ExtractiveModel(),
        toolbox=toolbox,
        ledger=ledger,
        writer=CitationWriter(ledger),
        describe=toolbox.describe,
        references=toolbox.references,
        limits=agent.Limits(),
    )
    asked, outcome = Asked(question), None
    async with aclosing(events) as running:
        async for event in running:
            if isinstance(event, agent.Outcome):
                outcome = event
            elif event.type == "delta":
                asked.text += event.text
    opened = [int(e.document.id) for e in ledger.entries() if e.exposure == Exposure.FULL]
    names = await db(lambda: dict(Article.objects.values_list("pk", "external_id")))
    asked.opened = [str(names[pk]) for pk in opened]
    asked.declined = _declined(outcome)
    asked.milliseconds = (time.perf_counter() - began) * 1000
    return asked


def _declined(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.declined == "not_in_docs"


def opened_right(asked: Sequence[Asked], right: Sequence[set[str]]) -> float:
    pairs = zip(asked, right, strict=True)
    return fmean(bool(pages.intersection(one.opened)) for one, pages in pairs)


def declined(asked: Sequence[Asked]) -> float:
    return fmean(one.declined for one in asked)


if __name__ == "__main__":
    main()
