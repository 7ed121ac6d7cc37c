"""Which parts of a Markdown text are code, so that nothing in them is taken for markup.

Standard library only, linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n]*)")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_TICKS = re.compile(r"\\.|`+", re.DOTALL)
_RUN = re.compile("`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")

Range = tuple[int, int]


def code_ranges(text: str, *, indented: bool = True) -> list[Range]:
    """The start and end of every fence, indented block and code span, in order.

    `indented=False` is MDX, which has no indented code.
    """
    blocks = list(_code_blocks(text, indented))
    ranges: list[Range] = []
    done = 0
    for start, end in [*blocks, (len(text), len(text))]:
        ranges.extend(_code_spans(text, done, start))
        if end > start:
            ranges.append((start, end))
        done = end
    return ranges


def substitute(
    pattern: re.Pattern[str],
    replace: Callable[[re.Match[str]], str],
    text: str,
    *,
    indented: bool = True,
) -> str:
    """`pattern.sub` for the matches that begin outside code."""
    is_code = membership(code_ranges(text, indented=indented))
    return pattern.sub(
        lambda match: match.group() if is_code(match.start()) else replace(match), text
    )


def membership(ranges: list[Range]) -> Callable[[int], bool]:
    """Whether a position lies in one of `ranges`."""
    starts = [start for start, _ in ranges]

    def contains(position: int) -> bool:
        index = bisect_right(starts, position) - 1
        return index >= 0 and position < ranges[index][1]

    return contains


def _code_blocks(text: str, indented: bool) -> Iterator[Range]:
    """Fences up to their closing line, and indented lines outside lists after a blank one."""
    fence, start, position = "", 0, 0
    after_blank, in_list, in_code = True, False, False
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        blank = not line.strip()
        match = _FENCE.match(line)
        if fence:
            if match and _closes(match, fence):
                yield start, end
                fence = ""
        elif match and _opens(match):
            fence, start = match[1], position + match.start(1)
        elif not blank:
            if _ITEM.match(line):
                in_list = True
            elif after_blank and not line[0].isspace():
                in_list = False
            is_indented = indented and not in_list and line.startswith(("    ", "\t"))
            in_code = is_indented and (after_blank or in_code)
            if in_code:
                yield position, end
        after_blank, position = blank, end
    if fence:
        yield start, len(text)


def _opens(match: re.Match[str]) -> bool:
    return match[1][0] == "~" or "`" not in match[2]


def _closes(match: re.Match[str], fence: str) -> bool:
    run = match[1]
    return run[0] == fence[0] and len(run) >= len(fence) and not match[2].strip()


def _code_spans(text: str, start: int, end: int) -> Iterator[Range]:
    """Runs of backticks up to the next run as long, within a paragraph."""
    while start < end:
        gap = _BLANK_LINE.search(text, start, end)
        stop = gap.start() if gap else end
        yield from _spans_of_paragraph(text, start, stop)
        start = gap.end() if gap else end


def _spans_of_paragraph(text: str, start: int, end: int) -> Iterator[Range]:
    # An escape only keeps a backtick from opening a span; inside one it is a character, so
    # closers are looked for among all runs.
    runs = list(_RUN.finditer(text, start, end))
    closers: dict[int, tuple[int, int]] = {}
    following: dict[int, tuple[int, int]] = {}
    for run in reversed(runs):
        length = run.end() - run.start()
        if length in following:
            closers[run.start()] = following[length]
        following[length] = run.span()
    done = start
    for match in _TICKS.finditer(text, start, end):
        if match.start() >= done and match.start() in closers and match[0][0] == "`":
            done = closers[match.start()][1]
            yield match.start(), done
