"""Emphasis in scripts without spaces: `请**小心：**不要` is bold in this dialect.

CommonMark tells whether `*` opens or closes by the white space and punctuation around it,
and where words are not parted by spaces it gets that wrong: a run between punctuation and
a letter neither opens nor closes. Here a Chinese, Japanese or Korean neighbour on the
outer side counts like a space. `_` stays as it is.
"""

from __future__ import annotations

import unicodedata

from markdown_it.common.utils import isWhiteSpace
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import emphasis as commonmark


def emphasis(state: StateInline, silent: bool) -> bool:
    """Inline rule in place of the library's: the same, and then what it cannot know."""
    start, known = state.pos, len(state.delimiters)
    found = commonmark.tokenize(state, silent)
    if found and state.src[start] == "*":
        before = state.src[start - 1] if start else " "
        behind = state.src[state.pos] if state.pos < state.posMax else " "
        for delimiter in state.delimiters[known:]:
            delimiter.open = delimiter.open or (_is_cjk(before) and not _is_space(behind))
            delimiter.close = delimiter.close or (_is_cjk(behind) and not _is_space(before))
    return found


def _is_cjk(character: str) -> bool:
    """A wide letter or mark; an emoji, which is wide too, is a symbol."""
    is_wide = unicodedata.east_asian_width(character) in ("W", "F", "H")
    return is_wide and unicodedata.category(character) != "So"


def _is_space(character: str) -> bool:
    return isWhiteSpace(ord(character))
