"""Passages: about the target, never beyond the cap, whole where possible, with true anchors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from articles.chunking import Chunk, chunk
from articles.rendering import render_article
from tests.dom import parse
from tests.generated_markdown import markdown
from tests.growth import assert_linear

TARGET = 900
CAP = 1800


def texts(markdown: str, target: int = TARGET) -> list[str]:
    return [passage.text for passage in chunk(markdown, target)]


def ids(markdown: str) -> set[str]:
    root = parse(render_article(markdown).html)
    return {element.attributes["id"] for element in root.all() if "id" in element.attributes}


def words(count: int, prefix: str = "word") -> str:
    return " ".join(f"{prefix}{number}" for number in range(count))


def test_a_passage_stands_under_its_headings() -> None:
    document = (
        "Before.\n\n# Setup\n\nFirst.\n\n## On *Linux*\n\nSecond.\n\n"
        "## On Linux\n\nThird.\n\n# Usage {#use}\n\nFourth.\n\nNamed\n---\n\nFifth.\n"
    )
    assert chunk(document) == [
        Chunk((), "", "Before."),
        Chunk(("Setup",), "setup", "First."),
        Chunk(("Setup", "On Linux"), "on-linux", "Second."),
        Chunk(("Setup", "On Linux"), "on-linux-1", "Third."),
        Chunk(("Usage",), "use", "Fourth."),
        Chunk(("Usage", "Named"), "named", "Fifth."),
    ]


def test_a_level_that_is_left_out_does_not_matter() -> None:
    assert [c.heading_path for c in chunk("### A\n\na\n\n# B\n\nb\n\n#### C\n\nc")] == [
        ("A",),
        ("B",),
        ("B", "C"),
    ]


def test_a_heading_with_nothing_under_it_is_found_by_its_title() -> None:
    assert chunk("# Parent\n\n## How do I cancel?\n\n## Empty too\n") == [
        Chunk(("Parent", "How do I cancel?"), "how-do-i-cancel", "How do I cancel?"),
        Chunk(("Parent", "Empty too"), "empty-too", "Empty too"),
    ]


def test_a_heading_without_words_names_no_place() -> None:
    assert chunk("# ![](x.png)\n\ntext\n\n## ![](y.png)") == [Chunk((), "section", "text")]


@pytest.mark.parametrize("document", ["", "\n \n", "---\ntitle: A\n---\n", "***\n\n[r]: /x\n"])
def test_a_document_without_text_has_no_passages(document: str) -> None:
    assert chunk(document) == []


def test_front_matter_is_in_no_passage() -> None:
    assert texts("---\ntitle: Secret\n---\nText") == ["Text"]


def test_headings_inside_code_are_code() -> None:
    [passage] = chunk("```sh\n# install\napt\n```")
    assert passage == Chunk((), "", "```sh\n# install\napt\n```")


def test_short_paragraphs_share_a_passage_up_to_the_target() -> None:
    paragraphs = [words(40, f"p{number}x") for number in range(9)]
    found = texts("\n\n".join(paragraphs))
    assert "\n\n".join(found) == "\n\n".join(paragraphs)
    assert len(found) > 1
    assert all(TARGET // 3 < len(text) <= TARGET for text in found[:-1])


def test_a_lead_in_stays_with_its_list() -> None:
    items = "\n".join(f"- {words(12)}" for _ in range(13))
    assert TARGET < len(items) < CAP
    assert texts(f"Do this:\n\n{items}\n\n{words(150)}")[0] == f"Do this:\n\n{items}"


def test_a_long_paragraph_is_divided_at_the_ends_of_sentences() -> None:
    sentence = "This sentence says what the reader has to do next. "
    found = texts(sentence * 60)
    assert " ".join(found) == (sentence * 60).strip()
    assert all(text.endswith(".") and len(text) <= TARGET for text in found)


def test_a_paragraph_a_little_longer_than_the_target_stays_whole() -> None:
    sentence = "This sentence says what the reader has to do next. "
    assert len(texts(sentence * 23)) == 1
    assert len(texts(sentence * 24)) == 2


def test_a_short_last_line_joins_what_stands_before_it() -> None:
    paragraph = ("Word " * 179).strip()
    assert texts(f"{paragraph}\n\nDone.") == [f"{paragraph}\n\nDone."]


def test_what_just_fits_stays_whole() -> None:
    fits, too_long = (f"- {'a ' * 400}a\n- {'b' * size}" for size in (994, 995))
    assert len(fits) == CAP
    assert texts(fits) == [fits]
    assert len(texts(too_long)) == 2

    sentence = "This sentence says what the reader has to do next. "
    fits, too_long = (f"{sentence * 23}{'x' * size}." for size in (26, 27))
    assert len(fits) == TARGET * 4 // 3
    assert texts(fits) == [fits]
    assert len(texts(too_long)) == 2

    for size, count in ((TARGET // 4 - 1, 1), (TARGET // 4, 2)):
        assert len(texts(f"{'a' * size}\n\n- {words(150)}")) == count
    for size, count in ((448, 1), (449, 2)):
        assert len(texts(f"{'a' * 450}\n\n{'b' * size}")) == count
    assert texts("# " + "x" * TARGET) == ["x" * TARGET]
    assert [len(chunk(f"# {'x' * size}")) for size in (TARGET, TARGET + 1)] == [1, 2]


def test_only_the_neighbour_of_what_is_short_makes_a_passage_longer() -> None:
    whole = f"- {'a' * (CAP - 2)}"
    first, second = "b" * 500, "c" * 500
    assert texts(f"Hi.\n\n{whole}\n\n{first}\n\n{second}") == ["Hi.", whole, first, second]


def test_a_block_without_words_leaves_no_trace() -> None:
    assert texts("![](x.png)\n\nText") == ["Text"]
    assert texts("&nbsp;\n\nText") == ["Text"]
    code = "  ```\n  x\n  ```\n\n  ```\n  y\n  ```\n"
    assert texts(f"- {'a ' * 900}\n{code}")[-1].endswith("```\n  x\n  ```\n  ```\n  y\n  ```")


@pytest.mark.parametrize(("letters", "is_repeated"), [(12, True), (13, False)])
def test_what_is_repeated_has_at_most_half_of_a_passage(letters: int, is_repeated: bool) -> None:
    found = texts(f"```{'p' * letters}\n" + "x = 1\n" * 40 + "```", target=40)
    assert all(text.startswith("```") for text in found) is is_repeated
    assert all(text == text.strip("\n") for text in found)


def test_lines_of_code_fill_a_passage_and_never_more() -> None:
    found = texts("```\n" + f"{'x' * 15}\n" * 8 + "```", target=40)
    assert [text.count("x" * 15) for text in found] == [2, 2, 2, 2]
    found = texts("```\n" + f"{'x' * 38}\n" * 8 + "```", target=40)
    assert all(len(text) <= 40 for text in found)


def test_no_passage_is_made_of_the_empty_lines_of_code() -> None:
    fence = f"```{'p' * 13}\n"
    found = texts(fence + f"{'x' * 39}\n\n" * 6 + "```", target=40)
    assert found[1:-1] == ["x" * 39] * 5
    found = texts(fence + "x = 123\n" * 42 + "```", target=40)
    assert found[-1].endswith("x = 123\n\n```")
    assert "\n\n\n" not in found[-1]


def test_sentences_end_in_chinese_and_japanese_too() -> None:
    sentence = "您可以在账单页面下载电子发票。「はい。」"
    found = texts(sentence * 200)
    assert "".join(found) == sentence * 200
    assert all(text.endswith(("。", "」")) and len(text) <= TARGET for text in found)


def test_a_line_of_400_kilobytes_is_divided_between_words() -> None:
    line = words(60_000)
    found = texts(line)
    assert " ".join(found) == line
    assert max(map(len, found)) <= TARGET


def test_a_word_of_400_kilobytes_is_divided_between_characters_as_people_see_them() -> None:
    family = "👩\u200d👩\u200d👧\ufe0f"
    found = texts("x" + family * 20_000)
    assert "".join(found) == "x" + family * 20_000
    assert all(text.endswith("\ufe0f") for text in found)
    assert all(not text.startswith("\u0301") for text in texts("xe\u0301" + "e\u0301" * 5_000))
    assert "".join(texts("\u0301" * 5_000)) == "\u0301" * 5_000


def test_a_list_that_fits_is_whole() -> None:
    first = "1. First *step*\n   - inner\n     lazy\n\n   more"
    second = "2. Second\n   ```sh\n   # *run*\n   ```"
    written = f"{first}\n{second}\n\nafter"
    assert texts(written) == [written.replace("*step*", "step")]


def test_a_long_list_is_divided_between_its_items() -> None:
    items = [f"- item {number}: {words(20)}" for number in range(40)]
    found = texts("\n\n".join(items))
    assert "\n".join(found).split("\n") == items
    assert all(text.startswith("- item") for text in found)
    assert all(len(text) <= TARGET for text in found[:-1])


def test_an_item_too_long_for_a_passage_is_divided_at_its_pieces() -> None:
    code = "\n".join(f"  line {number}" for number in range(300))
    found = texts(f"- {words(100)}\n\n  - {words(300)}\n\n  ```py\n{code}\n  ```\n- last")
    assert all(len(text) <= CAP for text in found)
    pieces = [text for text in found if "```" in text]
    assert len(pieces) > 1
    assert all(len(re.findall(r"^  ```", text, re.MULTILINE)) == 2 for text in pieces)
    assert found[-1].endswith("- last")


def test_a_table_that_is_divided_repeats_its_header() -> None:
    rows = "\n".join(f"|  row {number}  | {words(10)} |" for number in range(60))
    found = texts(f"Before\n| Name   | Value |\n|:-----|------:|\n{rows}\n\nAfter")
    assert found[0].startswith("Before\n\n| Name | Value |\n|:---|---:|\n| row 0 | word0")
    assert all("| Name | Value |\n|:---|---:|\n| row" in text for text in found)
    assert [int(n) for n in re.findall(r"row (\d+)", " ".join(found))] == list(range(60))
    assert found[-1].endswith("|\n\nAfter")


def test_a_header_too_long_to_repeat_is_not_repeated() -> None:
    header = "| " + " | ".join(f"column{number}" for number in range(200)) + " |"
    found = texts(f"{header}\n{'|-' * 200}|\n" + "| x\n" * 10)
    assert all(len(text) <= CAP for text in found)
    assert sum(text.count("column5 ") for text in found) == 1


def test_code_that_is_divided_keeps_its_fences_and_its_language() -> None:
    lines = [f"    value_{number} = [1]  # **kept**" for number in range(200)]
    found = texts("```python title='x'\n" + "\n".join(lines) + "\n```")
    assert all(t.startswith("```python\n    value") and t.endswith("\n```") for t in found)
    assert [line for text in found for line in text.split("\n")[1:-1]] == lines


def test_code_is_not_moved_right_without_end() -> None:
    far, near = " " * 3_000, " " * 12
    [text] = texts(f"- a\n{far}```\n{far}  x = 1\n{far}```\n- b")
    assert text == f"- a\n{near}```\n{near}  x = 1\n{near}```\n- b"


def test_fences_that_would_fill_half_a_passage_are_not_repeated() -> None:
    found = texts("```language-with-a-long-name\n" + "x = 1\n" * 40 + "```", target=40)
    assert "\n".join(found).count("x = 1") == 40
    assert not any("`" in text for text in found[1:-1])
    assert all(len(text) <= 80 for text in found)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("    a\n\n\tb\n", "```\na\n\nb\n```"),
        ("  ```\n  a\n    b\n c\n  ```", "```\na\n  b\nc\n```"),
        ("````md\n```js\nx\n```\n````", "~~~md\n```js\nx\n```\n~~~"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("```\n``` ~~~ ```` ~~~~ `````\n`````", "```\n``` ~~~ ```` ~~~~ `````\n```"),
        ("```\n\n```\nx", "x"),
        ("> quoted *text*\nlazy\n> > deeper\n\nafter", "quoted text\nlazy\ndeeper\n\nafter"),
        ("> [!NOTE]\n> Mind `this`\n>\n> - a\n> - b", "Mind `this`\n\n- a\n- b"),
        (":::tip Have *this*\ninside\n:::\nafter", "Have this\n\ninside\n\nafter"),
        (":::note\n## Part ##\ninside\n:::", "Part\n\ninside"),
        ("text\n- list\n\n\n- more\n***\nend", "text\n\n- list\n- more\n\nend"),
        ("- a\n\nafter\n- b\n  > c", "- a\n\nafter\n\n- b\n  > c"),
        ("- a\n# B", "- a"),
        ("- a\nlazy\n\nafter", "- a\nlazy\n\nafter"),
        ("- a\n* * *\nafter", "- a\n\nafter"),
        ("- *a\n  - b* c", "- *a\n  - b* c"),
        ("-\n- b", "-\n- b"),
        ("text\n2. on\n| a |", "text\n2. on\n| a |"),
        ("a | b\n--- | ---\n`c|d` | e", "a | b\n--- | ---\n`c|d` | e"),
        ("| a |\n|---|\n> quote", "| a |\n|---|\n\nquote"),
        ("[r]: https://e.example/\n\n[a][r] and [b](/own/)", "[a](https://e.example/) and b"),
        ("![Map](data:image/png;base64,AAAA)\n\n![](x.png)", "Map"),
        ("```\nurl(data:image/png;base64,AAAA)\n```", "```\nurl(data:)\n```"),
        ("a  \nb\\\nc", "a\nb\nc"),
        ("- `a\n- b` c", "- `a\n- b` c"),
    ],
)
def test_blocks_are_text_that_reads_well(document: str, text: str) -> None:
    assert chunk(document)[0].text == text


@pytest.mark.parametrize("target", [60, 200, 900])
@given(document=markdown())
def test_every_document_keeps_to_the_cap_and_its_own_anchors(target: int, document: str) -> None:
    anchors = ids(document)
    for passage in chunk(document, target):
        assert passage.text.strip()
        assert len(passage.text) <= 2 * target
        assert (passage.anchor in anchors) if passage.anchor else not passage.heading_path


@given(markdown())
def test_anchors_are_in_the_order_of_the_page(document: str) -> None:
    contents = ["", *(entry.anchor for entry in render_article(document).contents)]
    found = [passage.anchor for passage in chunk(document) if passage.anchor in contents]
    assert [contents.index(anchor) for anchor in found] == sorted(map(contents.index, found))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "# a\n",
            "a\n=\n",
            "- a\n",
            "- a\n\n",
            "> a\n\n",
            "    x\n",
            "```\nx\n```\n",
            "|a|\n|-|\n",
        ),
        *(
            "- ```\n",
            "1. x\n\n   y\n",
            ":::note\nx\n:::\n",
            "x" * 10,
            "word. ",
            "\u200d",
            "*a",
            "[a",
        ),
        *("\n", " ", "|x", ". ", "。", "- a\n" + "\n" * 50, "> " * 50),
    ],
)
def test_cutting_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert_linear(chunk, piece)
    assert all(len(text) <= CAP for text in texts(piece * 1_000))


@pytest.mark.slow
def test_a_real_help_center_is_cut_into_passages_with_anchors_of_its_pages(
    shared_dir: Path,
) -> None:
    folder = shared_dir / "corpora" / "plausible-docs"
    if not folder.is_dir():
        pytest.skip("needs the corpus plausible-docs in ../shared")
    lengths = []
    for path in sorted(folder.rglob("*.md")):
        document = path.read_text()
        titles = {entry.anchor: entry.text for entry in render_article(document).contents}
        for passage in chunk(document):
            lengths.append(len(passage.text))
            assert not passage.anchor or titles[passage.anchor] == passage.heading_path[-1]
    assert max(lengths) <= CAP
    assert 300 < sorted(lengths)[len(lengths) // 2] < TARGET
