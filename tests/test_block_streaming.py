"""A stream of rendered blocks: each finished one once, and together the rendered answer."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.markup import answer_streaming
from articles.markup.answer_rendering import Citation, Registered, finished_length, render_answer
from articles.markup.answer_streaming import LONGEST_PREVIEW, Block, BlockRenderer
from tests.generated_markdown import BLOCKS, markdown, sliced

REGISTERED = Registered(
    links=frozenset({"/articles/a/"}),
    images=frozenset({"/media/a.png"}),
    citations={1: Citation(1, "First", "/articles/a/"), 2: Citation(2, "Second", None)},
)


def streamed(slices: Iterable[str], *, previews: bool = True) -> list[Block]:
    """All finished blocks, after checking numbers, and previews if asked, on the way."""
    renderer = BlockRenderer(lambda: REGISTERED)
    blocks: list[Block] = []
    for text in slices:
        blocks += renderer.feed(text)
        preview = renderer.pending() if previews else None
        assert preview is None or (preview.block == len(blocks) and not preview.final)
    blocks += renderer.close()
    assert renderer.pending() is None
    assert renderer.close() == []
    assert [block.block for block in blocks] == list(range(len(blocks)))
    assert all(block.final for block in blocks)
    return blocks


def html_of(blocks: Iterable[Block]) -> str:
    return "".join(block.html for block in blocks)


@given(sliced(markdown()))
def test_finished_blocks_together_are_the_rendered_answer(case: tuple[str, list[str]]) -> None:
    text, slices = case
    assert html_of(streamed(slices)) == render_answer(text, REGISTERED)


@given(markdown())
def test_one_character_at_a_time_gives_the_same_as_all_at_once(text: str) -> None:
    by_character = streamed(text, previews=False)
    assert html_of(by_character) == html_of(streamed([text])) == render_answer(text, REGISTERED)


@given(st.lists(BLOCKS, min_size=1, max_size=6).map("".join), markdown())
def test_what_is_called_finished_does_not_depend_on_what_follows(start: str, end: str) -> None:
    length = finished_length(start)
    finished = render_answer(start[:length], REGISTERED)
    assert render_answer(start + end, REGISTERED).startswith(finished)


@pytest.mark.parametrize(
    "block",
    [
        "A paragraph.\n\n",
        "Two\nlines.\n \t\n",
        "# Heading\n\n",
        "Setext\n---\n\n",
        "***\n\n",
        "> quote\n\n",
        "> [!NOTE]\n> alert\n\n",
        "```\ncode\n```\n\n",
        "| a |\n|---|\n| b |\n\n",
        ":::tip\ntext\n\nmore\n:::\n\n",
    ],
)
def test_a_block_is_finished_by_the_blank_line_after_it(block: str) -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    for character in block[:-1]:
        assert renderer.feed(character) == []
    [finished] = renderer.feed(block[-1])
    assert finished == Block(0, str(render_answer(block, REGISTERED)), final=True)


@pytest.mark.parametrize(
    "block",
    [
        "- item\n\n",
        "1. item\n\n   more\n\n",
        "    code\n\n",
        "```\ncode\n\n",
        ":::note\ntext\n\n",
        "::::note\n:::\n\n",
    ],
)
def test_a_block_that_may_go_on_after_a_blank_line_is_not_finished(block: str) -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    assert renderer.feed(block) == []
    preview = renderer.pending()
    assert preview is not None
    assert preview.html == render_answer(block, REGISTERED)


def test_a_list_is_finished_by_the_block_after_it() -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    assert renderer.feed("- one\n\n- two\n\nAnd now ") == []
    assert [block.block for block in renderer.feed("text.\n\n")] == [0, 1]


def test_a_carriage_return_waits_for_its_line_feed() -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    assert renderer.feed("a\r\n\r") == []
    assert [block.html for block in renderer.feed("\nb\r")] == ["<p>a</p>\n"]
    assert [block.html for block in renderer.close()] == ["<p>b</p>\n"]


def test_a_citation_registered_before_its_block_is_finished_is_rendered() -> None:
    citations: dict[int, Citation] = {}
    renderer = BlockRenderer(lambda: Registered(citations=citations))
    assert renderer.feed("Press Save [1].") == []
    preview = renderer.pending()
    assert preview is not None
    assert preview.html == "<p>Press Save [1].</p>\n"
    citations[1] = Citation(1, "Saving", "/articles/saving/")
    [block] = renderer.feed("\n\n")
    assert 'href="/articles/saving/"' in block.html


def test_a_preview_is_made_only_of_something_new() -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    assert renderer.pending() is None
    renderer.feed("\n")
    assert renderer.pending() is None
    renderer.feed("**Hel")
    assert renderer.pending() == Block(0, "<p>**Hel</p>\n", final=False)
    assert renderer.pending() is None
    renderer.feed("lo**")
    assert renderer.pending() == Block(0, "<p><strong>Hello</strong></p>\n", final=False)


def test_the_next_block_has_a_preview_however_short_it_is() -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    renderer.feed("A long paragraph.")
    renderer.pending()
    renderer.feed("\n\n")
    renderer.feed("B")
    assert renderer.pending() == Block(1, "<p>B</p>\n", final=False)


def test_a_long_unfinished_block_is_escaped_text_in_growing_steps() -> None:
    renderer = BlockRenderer(lambda: REGISTERED)
    renderer.feed("**<b>** " + "x" * LONGEST_PREVIEW)
    preview = renderer.pending()
    assert preview is not None
    assert preview.html.startswith('<p class="unfinished">**&lt;b&gt;** xxx')
    renderer.feed("y" * 100)
    assert renderer.pending() is None
    renderer.feed("y" * 400)
    assert renderer.pending() is not None
    [block] = renderer.close()
    assert block.html.startswith("<p><strong>&lt;b&gt;</strong> xxx")


@pytest.mark.field_report("B74")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "`" * 50_001,
        "<think " * 10_000,
        "- item\n\n" * 1_000,
        "```\n" + "x\n\n" * 2_000,
        "para\n\n" * 1_000,
        "> a\n" * 1_000,
        ":::note\n\n" * 1_000,
    ],
)
def test_parsing_is_linear_however_the_answer_is_written(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = 0

    def counted(source: str) -> int:
        nonlocal parsed
        parsed += len(source)
        return finished_length(source)

    monkeypatch.setattr(answer_streaming, "finished_length", counted)
    renderer = BlockRenderer(lambda: REGISTERED)
    for start in range(0, len(text), 4):
        renderer.feed(text[start : start + 4])
    renderer.close()
    assert parsed <= 6 * len(text)
