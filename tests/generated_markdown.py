"""Markdown as models and writers produce it, and as they do not: for Hypothesis."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        *("word", "[1]", "[2]", "`code [1]`", "**bold**", "a_b", "[label](/articles/a/)", "你好。"),
        *("&amp;", "<https://e.example>", "![alt](/media/a.png)", "\\[1]", "~~gone~~", "End."),
        *("|", "\t", "`"),
    ]
)
LINES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
PREFIXES = st.sampled_from(
    [
        *("", "", "", "- ", "* ", "1. ", "2) ", "  ", "   ", "    ", "\t", "> ", ">", "- > "),
        *("> - ", "# ", "### ", "```", "~~~", "    - ", "| ", ":::note ", ":::", "[r]: "),
        "- ```",
    ]
)
MARKER_LINES = st.sampled_from(
    [
        *("", "", "", " ", "\t", "---", "===", "***", "```", "```py", "~~~~", "|---|---|"),
        *("| a | b |", "-", "1.", "#", ">", ":::", "::::", ":::tip", "::::warning[Big]"),
        *("> [!NOTE]", "[r]: /x", "- a", "  b", "      c", "10. d", "# Heading {#id}", "Title"),
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r", "\n \n"])
BLOCKS = st.sampled_from(
    [
        "A paragraph\nof two lines.\n\n",
        "Setext\n======\n\n",
        "- tight\n- list\n\n",
        "- loose\n\n- list\n\n  continued\n\nafter\n\n",
        "1. one\n   - nested\n     - deeper\n\n   still one\n2. two\n\n",
        "- item\nlazy\n  - inner\nlazy again\n\n",
        "> quote\nlazy\n> more\n\n> another\n\n",
        "> - list in quote\n>   ```\n>   code\n\n",
        "```py\n\nprint('[1]')\n\n# no heading\n```\n\n",
        "~~~\nunclosed ``` \n\n",
        "    indented\n\n    still code\n\ntext\n\n",
        "| a | b |\n|---|:-:|\n| 1 | [1] |\n| 2 |\n\n",
        "text\n| a | b |\n|---|---|\n| 1 | 2 |\nafter\n\n",
        ":::tip Title\ninside\n\n- list\n\n## Heading inside\n:::\n\n",
        "::::note\n:::warning[*w*]\nx\n:::\n::::\n",
        "- item\n\n  :::note\n  inside\n  :::\n\n- item\n\n",
        "> [!WARNING]\n> careful\n\n",
        "# Heading\nText at once [1].\n## Another\n---\n",
        "Cut here\n---\n***\n\n",
        "[ref]: /articles/a/\n[ref] and ![ref]\n\n",
    ]
)


@st.composite
def _line(draw: st.DrawFn) -> str:
    text = draw(st.one_of(MARKER_LINES, st.tuples(PREFIXES, PREFIXES, LINES).map("".join)))
    return text + draw(ENDS)


def markdown() -> st.SearchStrategy[str]:
    """Whole documents, from well formed to nonsense; the last line may be unfinished."""
    pieces = st.one_of(BLOCKS, _line())
    return st.tuples(st.lists(pieces, max_size=14).map("".join), LINES | st.just("")).map("".join)


@st.composite
def sliced(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text, and slices that make it up."""
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=30)))
    bounds = [0, *cuts, len(text)]
    return text, [text[start:end] for start, end in pairwise(bounds)]
