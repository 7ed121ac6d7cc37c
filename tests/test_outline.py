"""The sections of a document: what is a heading, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from articles.markup.outline import normalised, sections
from tests.generated_markdown import markdown
from tests.growth import assert_linear


def headings(text: str) -> list[tuple[int, str]]:
    return [(section.level, section.title) for section in sections(text)[1:]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B ##\n###### C\n", [(1, "A"), (2, "B"), (6, "C")]),
        ("   # A\n#\tB", [(1, "A"), (1, "B")]),
        ("# A#\n# B \\#\n# C #d", [(1, "A#"), (1, "B #"), (1, "C #d")]),
        ("####### A\n#B\n    # C\n#\n## ##", []),
        ("#\n---\nA\n#\nB\n===", [(1, "B")]),
        ("A\n=\n\nB\n---\n", [(1, "A"), (2, "B")]),
        ("A\nover *two*\nlines\n===", [(1, "A over two lines")]),
        ("A\n\n---\n\n===\n", []),
        ("A\n  ---\nB\n    ---", [(2, "A")]),
        ("text\n# A\ntext", [(1, "A")]),
        ("```\n# a\n```\n# B", [(1, "B")]),
        ("````\n```\n# a\n````\n# B", [(1, "B")]),
        ("~~~ `x`\n# a\n~~~\n# B", [(1, "B")]),
        ("``` a`b\n# A", [(1, "A")]),
        ("```\n# never closed\n\n# a", []),
        ("   ```\n# a\n   ```\n# B", [(1, "B")]),
        ("```\n    ```\n# a\n", []),
        ("    code\n\n    # a\n# B", [(1, "B")]),
        ("text\n    # continued\n===", [(1, "text # continued")]),
        ("- a\n  # inside\n# B", [(1, "B")]),
        ("- a\n # B", [(1, "B")]),
        ("1. a\n\n   # inside\n\n  # B", [(1, "B")]),
        ("- a\n\n  ```\n  # code\n  ```\n\n# B", [(1, "B")]),
        ("- a\n  ```\n# B\n# C", [(1, "B"), (1, "C")]),
        ("-   a\n\n  # B", [(1, "B")]),
        ("- ```\n  # code\n  ```\n# B", [(1, "B")]),
        ("- a\n  - b\n    ```\n    # code\n    ```\n# B", [(1, "B")]),
        ("- a\nlazy\n---", []),
        ("- a\n\nB\n---", [(2, "B")]),
        ("- a\n  ```\n  x\n  ```\nB\n---", [(2, "B")]),
        ("-\n  # inside\n", []),
        ("-     code\n\n # B", [(1, "B")]),
        ("- a\n- b\n\ntext\n\n    # code", []),
        ("- a\n\n    deep\n\ntext\n# B", [(1, "B")]),
        ("  10. a\n\n     # inside\n", []),
        ("text\n2. no list\n===", [(1, "text 2. no list")]),
        ("text\n-\n", [(2, "text")]),
        ("text\n- list\n===", []),
        ("* * *\nA\n===", [(1, "A")]),
        ("> # quoted\n> A\n> ===\n# B", [(1, "B")]),
        ("> a\nlazy\n===", []),
        ("> a\n\nA\n===", [(1, "A")]),
        ("> a\n>\nA\n===", [(1, "A")]),
        ("| a | b |\n|---|---|\n| c | d |\n---\n# B", [(1, "B")]),
        ("a | b\n--- | ---\nc\n===\n", []),
        ("[r]: /x\n===\n# B", [(1, "B")]),
        ("[r]: /x\nA\n===", [(1, "A")]),
        (":::note\n# inside\n:::\n# B", [(1, "B")]),
        ("::::note\n:::\n# inside\n::::\n# B", [(1, "B")]),
        (":::note\n```\n:::\n```\n# inside\n:::\n# B", [(1, "B")]),
        (":::note\n# never closed", []),
        (":::unknown\n# A\n:::", [(1, "A")]),
        ("text\n:::tip\n# inside\n:::", []),
        ("<!--\n# A\n-->", [(1, "A")]),
        ("# [Label](/x) `code` ![alt](y)", [(1, "Label code alt")]),
        ("# A {#b}", [(1, "A")]),
    ],
)
def test_a_heading_stands_at_the_top_level(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected
    assert headings(text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ntitle: A\n---\nText", ("Text",)),
        ("\ufeff---\ntitle: A\n...\nText", ("Text",)),
        ("---\ntitle: |\n  long\n\n  text\ntags:\n- a\n# note\n---\nText", ("Text",)),
        ("---\ntitle: A\n---", ()),
        ("---\n\n---\nText", ("---", "", "---", "Text")),
        ("---\nText: and a sentence\nthat goes on\n---", ("---",)),
        ("---\ntitle: never closed", ("---", "title: never closed")),
        (" ---\ntitle: A\n", (" ---", "title: A", "")),
    ],
)
def test_front_matter_is_no_text(text: str, body: tuple[str, ...]) -> None:
    assert sections(text)[0].body == body


def test_sections_hold_the_lines_between_their_headings() -> None:
    found = sections("intro\n# A\na\n\n## B\nb\n\nSet\next\n---\nc")
    assert [(s.level, s.anchor, s.body) for s in found] == [
        (0, "", ("intro",)),
        (1, "a", ("a", "")),
        (2, "b", ("b", "")),
        (2, "set-ext", ("c",)),
    ]


def test_characters_that_nothing_can_store_are_replaced() -> None:
    assert normalised("a\x00b\ud800\r\nc\rd") == "a\ufffdb\ufffd\nc\nd"


@given(markdown())
def test_nothing_but_headings_and_front_matter_is_taken_away(text: str) -> None:
    found = sections(text)
    kept = sum(len(section.body) for section in found)
    assert kept + len(found) - 1 <= normalised(text).count("\n") + 1
    for section in found[1:]:
        assert section.anchor
        assert section.source


@given(markdown())
def test_headings_agree_with_commonmark_where_no_callouts_are(text: str) -> None:
    """The dialect decides in a few corners; a heading of its own making is never one of them."""
    text = text.replace(":", "")
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(normalised(text))
    expected = {
        tokens[index + 1].content.split("\n")[-1].strip()
        for index, token in enumerate(tokens)
        if token.type == "heading_open"
    }
    for section in sections(text)[1:]:
        written = section.source.split("\n")[-1]
        assert any(line.startswith(written) for line in expected), section.source


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *("# a\n", "a\n-\n", ":::note\n", ":::note\nx\n:::\n", "- ```\n", "> a\n", "- a\n"),
        *("|-|\n", "a: b\n", "# a {#x}\n", "-" + " " * 99 + "\n", "[a]: b\n", "# #\n", "* * x\n"),
    ],
)
def test_the_outline_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert_linear(lambda text: sections("---\n" + text), piece)
