"""From a hostile model's text to HTML: writer and renderer together let out what the ledger knows.

What may be linked and shown is written down here and not read from the ledger: the pages of
the documents and the addresses that stand in their texts. A citation leads to the document
that has its number, and stands only where the text holds that number outside code.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from articles.markup.answer_rendering import INERT, Citation, Registered, render_blocks
from articles.markup.answer_streaming import Block, BlockRenderer
from articles.markup.outline import normalised
from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger
from assistant.rendering.answer_html import answer_html
from assistant.rendering.inert_code import InertCode
from tests.citation_judge import numbers_in
from tests.citing import HOST
from tests.dom import Element, parse
from tests.hostile_markdown import ALL, DISAGREEMENTS

DOCUMENTS = {
    number: Document(str(number), f"Title {number}", f"/articles/t{number}/")
    for number in range(1, 5)
}
GIVEN = "See <https://status.example.org/now> and ![m](/media/m.png)."
LINKS = {
    *("https://status.example.org/now", "/media/m.png"),
    *(document.url for document in DOCUMENTS.values()),
}
PIECES = [
    *("word ", "End. ", "[1]", "[2]", "[3] ", "[4]", "[9]", "[1, 3]", "【2†s】", " ", "  ", "    "),
    *("`", "``", "```", "~~~", "\n```\n", "\n- ```\n", "\n> ```\n", "\n  ", "\n    ", "\\", "|"),
    *("\n\n", "\n", "\n- ", "\n1. ", "\n> ", "\n# ", "\n===\n", "\n\n:::note\n", "\r\n", "\t"),
    *("[x](/articles/t2/)", "[x](/articles/t9/)", "[x](https://evil.example)", "\n|---|---|\n"),
    *("<https://status.example.org/now>", "https://evil.example ", "<https://evil.example>"),
    *("![i](/media/m.png)", "![i](//evil.example/p)", "[r]", "[r]: /articles/t1/", "&#91;1]"),
    *("](", "[", "<", "*", "**", "www.evil.example ", "<a@evil.example>", "[l][1]"),
    *("[1](/articles/t4/)", "\n\n| a [1] | b |\n|---|---|\n| "),
]


class Played:
    """An answer as the writer delivers it, piece by piece, and its ledger."""

    def __init__(self, text: str, slices: random.Random) -> None:
        self.ledger = Ledger(site_hosts=[HOST])
        for document in DOCUMENTS.values():
            self.ledger.expose(document, Exposure.FULL, GIVEN)
        self._writer = CitationWriter(self.ledger)
        self._renderer = BlockRenderer(self._registered)
        self._inert = InertCode()
        self.text = ""
        self.blocks: list[Block] = []
        cuts = sorted(slices.choices(range(len(text) + 1), k=len(text) // 4))
        for start, end in pairwise([0, *cuts, len(text)]):
            self._deliver(self._writer.feed(text[start:end]))
        self._deliver(self._writer.close())
        self.blocks += self._renderer.feed(self._inert.close()) + self._renderer.close()

    def html(self) -> str:
        """The whole answer's, as the end of the stream and the history have it."""
        sources = [_source(number, one) for number, one in self.ledger.numbers.items()]
        return answer_html(self.text, sources, self.ledger.links, self.ledger.images)

    def _deliver(self, text: str) -> None:
        self.text += text
        self.blocks += self._renderer.feed(self._inert.feed(text))

    def _registered(self) -> Registered:
        numbers = self.ledger.numbers.items()
        cited = {number: Citation(number, one.title, one.url) for number, one in numbers}
        return Registered(frozenset(self.ledger.links), frozenset(self.ledger.images), cited)


def _source(number: int, document: Document) -> dict[str, Any]:
    return {"number": number, "title": document.title, "url": document.url, "passages": []}


def judge(text: str, seed: int = 0) -> Played:
    """Plays an answer and checks its HTML, whole and streamed."""
    played = Played(text, random.Random(seed))
    html = played.html()
    assert "".join(block.html for block in played.blocks) == html, text
    assert [block.block for block in played.blocks] == list(range(len(played.blocks)))
    root = parse(html)
    cited = [e for e in root.all("a", "span") if e.attributes.get("class") == "citation"]
    for link in root.all("a"):
        if link not in cited:
            assert link.attributes["href"] in LINKS, (text, link)
    for image in root.all("img"):
        assert image.attributes["src"] == "/media/m.png", (text, image)
    for citation in cited:
        document = played.ledger.numbers[int(citation.text)]
        assert citation.attributes["href"] == document.url, (text, citation)
    written = Counter(map(str, numbers_in(played.text)))
    assert Counter(e.text for e in cited) <= written, (text, played.text)
    assert "evil" not in _addresses(root), text
    return played


def _addresses(root: Element) -> str:
    named = [e.attributes.get(name, "") for e in root.all() for name in ("href", "src")]
    return " ".join(named)


def generated(seeds: Iterable[int]) -> Iterable[tuple[int, str]]:
    for seed in seeds:
        chance = random.Random(seed)
        some = chance.choices(PIECES, k=chance.randint(3, 12))
        yield seed, "".join(chance.choices(some, k=chance.randint(2, 30)))


@pytest.mark.parametrize("text", ALL)
def test_a_hostile_answer_links_shows_and_cites_only_what_is_registered(text: str) -> None:
    judge(text)
    judge(f"First [2] and [3], then [x](/articles/t1/).\n\n{text}\n\nAt last [1].")


def test_300_generated_answers_link_show_and_cite_only_what_is_registered() -> None:
    for seed, text in generated(range(300)):
        judge(text, seed)


@pytest.mark.slow
def test_10000_generated_answers_link_show_and_cite_only_what_is_registered() -> None:
    for seed, text in generated(range(300, 10_300)):
        judge(text, seed)


def test_the_generator_reaches_what_it_is_about() -> None:
    played = [Played(text, random.Random(seed)) for seed, text in generated(range(300))]
    html = "".join(one.html() for one in played)
    for piece in ('class="citation"', 'href="https://status', "<img", "<pre", "<td", "callout"):
        assert piece in html
    reasons = {dropped.reason for one in played for dropped in one.ledger.dropped}
    assert {"unknown_ref", "not_retrieved", "foreign_link", "image"} <= reasons


@pytest.mark.parametrize(
    "code", ["- ```\n  code\nafter [2]", "> ```\n> code\nafter [2]", "1. ~~~\n   x\n\nafter [2]"]
)
def test_a_number_in_code_of_the_writers_cites_nothing_where_the_parser_sees_text(
    code: str,
) -> None:
    played = judge(f"Refunds [2] and plans [3].\n\n{code}")
    root = parse(played.html())
    assert [e.text for e in root.all("a")] == ["1", "2"]
    assert "after [2]" in root.text


def test_a_registered_address_in_code_of_the_writers_is_no_link_and_no_image() -> None:
    text = (
        "[x](/articles/t1/) <https://status.example.org/now> ![i](/media/m.png)\n\n- ```\n  code\n"
        "after [y](/articles/t1/) ![i](/media/m.png) <https://status.example.org/now>"
    )
    root = parse(judge(text).html())
    assert len(root.all("a")) == 2
    assert len(root.all("img")) == 1
    assert "[y](/articles/t1/) ![i](/media/m.png) <https://status.example.org/now>" in root.text


def test_code_is_shown_as_it_was_written() -> None:
    code = "cells[1] = rows[2](x) <b> a[3]"
    root = parse(judge(f"Use `{code}`:\n\n```\n{code}\n```\n\n    {code}\n").html())
    assert [e.text.strip() for e in root.all("code")] == [code] * 3


@pytest.mark.parametrize("texts", [ALL[::3], DISAGREEMENTS], ids=["all", "disagreements"])
def test_each_finished_block_is_rendered_once(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []

    def counted(text: str, registered: Registered) -> list[str]:
        rendered.append(text)
        return render_blocks(text, registered)

    monkeypatch.setattr("articles.markup.answer_streaming.render_blocks", counted)
    for text in texts:
        rendered.clear()
        played = Played(f"{text}\n\nEnd [1].\n\n{text}", random.Random(1))
        assert "".join(rendered).replace(INERT, "") == normalised(played.text)
