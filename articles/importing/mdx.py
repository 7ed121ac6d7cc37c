"""Markdown with HTML tags, or MDX, as plain Markdown.

The product renders no raw HTML, so what tags say in Markdown's own words is said in
them, the rest of the tags goes and their content stays. Callouts (`:::note`) are the
renderer's own and stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from articles.importing.prose import code_ranges, membership, substitute
from articles.importing.tags import parse
from articles.importing.writer import Writer

_IMPORT = re.compile(
    r"^import\s(?:\s*(?P<names>[\w$*{},\s]+?)\s+from\s*)?[\"'](?P<path>[^\"'\n]+)[\"'];?[ \t]*$",
    re.MULTILINE,
)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|function|default|async|class)\b", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(slots=True)
class Converted:
    """Plain Markdown, and how often which component had nothing to leave behind."""

    text: str
    left_out: Counter[str] = field(default_factory=Counter)


def to_markdown(text: str, *, is_mdx: bool = False) -> Converted:
    """`text` without tags, imports, exports and comments.

    MDX is also what `is_mdx` does not say but an import line does: the common tools
    read `.md` files as MDX.
    """
    is_mdx = is_mdx or any(_statements(text))
    names: dict[str, str] = {}
    if is_mdx:
        names = _imported_files(text)
        text = _without_statements(text)
    writer = Writer(is_mdx)
    written = writer.write(parse(text, is_mdx=is_mdx, names=names))
    if is_mdx:
        written = _flush_left(written)
    return Converted(_tidy(written), writer.left_out)


def _statements(text: str) -> list[re.Match[str]]:
    is_code = membership(code_ranges(text, indented=False))
    return [match for match in _IMPORT.finditer(text) if not is_code(match.start())]


def _imported_files(text: str) -> dict[str, str]:
    """What each name of a default import stands for: `import logo from './logo.png'`."""
    return {
        match["names"].strip(): match["path"]
        for match in _statements(text)
        if match["names"] and _NAME.fullmatch(match["names"].strip())
    }


def _without_statements(text: str) -> str:
    """Import lines go, and exports up to the blank line at which their brackets are closed."""
    text = substitute(_IMPORT, lambda _: "", text, indented=False)
    is_code = membership(code_ranges(text, indented=False))
    kept, done = [], 0
    for match in _EXPORT.finditer(text):
        if match.start() >= done and not is_code(match.start()):
            kept.append(text[done : match.start()])
            done = _statement_end(text, match.start())
    return "".join([*kept, text[done:]])


def _statement_end(text: str, start: int) -> int:
    depth = 0
    for match in re.compile(r"[{(\[]|[})\]]|\n[ \t]*(?=\n)").finditer(text, start):
        if match[0] in "{([":
            depth += 1
        elif match[0] in "})]":
            depth -= 1
        elif depth <= 0:
            return match.end()
    return len(text)


def _flush_left(text: str) -> str:
    """Without the indents that would be code in Markdown: MDX has no indented code."""
    is_code = membership(code_ranges(text, indented=False))
    pieces, done = [], 0
    for start, end in code_ranges(text):
        if text[start] in " \t" and not is_code(start):
            pieces += [text[done:start], text[start:end].lstrip(" \t")]
            done = end
    return "".join([*pieces, text[done:]])


def _tidy(text: str) -> str:
    """At most one blank line in a row outside code, and none at the ends."""
    return substitute(_EMPTY_LINES, lambda _: "\n\n", text, indented=False).strip("\n")
