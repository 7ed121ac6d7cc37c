"""The lines of an article that answer a question, word for word. Pure.

Takes passages as search cuts them: blocks apart by empty lines, lists whole. The block
that shares the rarest words with the question is quoted with what it needs to be
understood: a list with the sentence that introduces it, a sentence with the list that
it announces. Structure stays; only long paragraphs and long lists are cut, and show it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from articles.terms.analysis import query_terms, tokens

MOST_ITEMS = 8
LONGEST_PARAGRAPH = 480
"""Characters; of a longer one the best sentences are quoted."""

MOST_SENTENCES = 3
SHORTEST_QUOTE = 120
"""A quote below this takes its neighbour along."""

_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s")
_TOP_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])\s")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKUP = re.compile(r"\s*(?:</?[a-zA-Z][^>]*>?|import .* from .*)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|(?<=[a-z)][.!?])(?=[A-Z])")
_STEPS_WANTED = re.compile(
    r"\b(?:how|steps?|wie|comment|c[oó]mo|come|como|hoe|как)\b", re.IGNORECASE
)
_STEPS_WEIGHT = 1.3


@dataclass(frozen=True)
class _Block:
    """Lines that belong together: a paragraph, a list, a table or code."""

    lines: tuple[str, ...]
    language: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_list(self) -> bool:
        return _ITEM.match(self.lines[0]) is not None

    @property
    def is_code(self) -> bool:
        return _FENCE.match(self.lines[0]) is not None

    @property
    def is_prose(self) -> bool:
        return not (self.is_list or self.is_code or self.lines[0].lstrip().startswith("|"))

    @property
    def announces(self) -> bool:
        """Whether what comes next is needed to understand it."""
        return self.is_prose and self.text.rstrip().endswith((":", "："))

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(term for token in tokens(self.text, self.language) for term in token.terms)


def quote(question: str, passages: Sequence[str], language: str) -> str:
    """The lines of the first passage that answer best; empty where it has no text.

    The other passages tell how rare a word is in this article.
    """
    blocks = [_blocks(passage, language) for passage in passages]
    if not blocks or not blocks[0]:
        return ""
    asked = _Asked(question, language, [block for each in blocks for block in each])
    chosen = _with_context(blocks[0], asked.best(blocks[0]))
    return "\n\n".join(_cut(block, asked) for block in chosen)


class _Asked:
    """A question's words, weighed by how rare they are in the article."""

    def __init__(self, question: str, language: str, blocks: Sequence[_Block]) -> None:
        self.wants_steps = _STEPS_WANTED.search(question) is not None
        self.language = language
        terms = {term for word in query_terms(question, language) for term in word}
        counts = Counter(term for block in blocks for term in block.terms & terms)
        self.weights = {term: math.log(1 + len(blocks) / n) for term, n in counts.items()}

    def score(self, terms: frozenset[str]) -> float:
        return sum(self.weights.get(term, 0.0) for term in terms)

    def best(self, blocks: Sequence[_Block]) -> int:
        """The place of the block that answers best; the first where none has a word of it."""
        scores = [
            self.score(block.terms) * (_STEPS_WEIGHT if self.wants_steps and block.is_list else 1)
            for block in blocks
        ]
        return scores.index(max(scores))


def _blocks(passage: str, language: str) -> list[_Block]:
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in passage.splitlines():
        opens = _FENCE.match(line) is not None
        if not fenced and (_MARKUP.fullmatch(line) or not line.strip()):
            blocks.append([])
            continue
        if not fenced and blocks[-1] and (opens or _begins_list(line, blocks[-1])):
            blocks.append([])
        blocks[-1].append(line)
        fenced = fenced != opens
        if opens and not fenced:
            blocks.append([])
    return [_Block(tuple(lines), language) for lines in _joined_lists(blocks) if lines]


def _begins_list(line: str, above: Sequence[str]) -> bool:
    return _TOP_ITEM.match(line) is not None and _ITEM.match(above[0]) is None


def _joined_lists(blocks: Sequence[list[str]]) -> list[list[str]]:
    """Items that empty lines or images keep apart are one list."""
    joined: list[list[str]] = []
    for lines in blocks:
        if not lines:
            continue
        if joined and _ITEM.match(lines[0]) and _ITEM.match(joined[-1][0]):
            joined[-1] += lines
        else:
            joined.append(list(lines))
    return joined


def _with_context(blocks: Sequence[_Block], place: int) -> list[_Block]:
    """The block, with the one that announces it or that it announces, or a neighbour."""
    first, last = place, place
    if not blocks[place].is_prose and place and blocks[place - 1].is_prose:
        first -= 1
    if blocks[place].announces and place + 1 < len(blocks):
        last += 1
    if sum(len(block.text) for block in blocks[first : last + 1]) < SHORTEST_QUOTE:
        if last + 1 < len(blocks):
            last += 1
            if blocks[last].announces and last + 1 < len(blocks):
                last += 1
        elif first:
            first -= 1
    return list(blocks[first : last + 1])


def _cut(block: _Block, asked: _Asked) -> str:
    if block.is_list:
        return _best_items(block, asked)
    if block.is_prose and len(block.text) > LONGEST_PARAGRAPH:
        return _best_sentences(block, asked)
    return block.text


def _best_items(block: _Block, asked: _Asked) -> str:
    """The list; of a long one the items up to the one that answers best, and what follows."""
    items: list[list[str]] = []
    for line in block.lines:
        if _TOP_ITEM.match(line) or not items:
            items.append([])
        items[-1].append(line)
    if len(items) <= MOST_ITEMS:
        return block.text
    scores = [asked.score(_Block(tuple(item), block.language).terms) for item in items]
    best = scores.index(max(scores))
    start = 0 if best < MOST_ITEMS else min(best - 1, len(items) - MOST_ITEMS)
    shown = ["\n".join(item) for item in items[start : start + MOST_ITEMS]]
    if start:
        shown.insert(0, "…\n")
    if start + MOST_ITEMS < len(items):
        shown.append("\n…")
    return "\n".join(shown)


def _best_sentences(block: _Block, asked: _Asked) -> str:
    """Neighbouring sentences, as they stand, that share most with the question."""
    text = " ".join(block.lines)
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    sentences = [text[start:end] for start, end in pairwise(starts) if start < end]
    windows = [
        "".join(sentences[place : place + MOST_SENTENCES])
        for place in range(max(1, len(sentences) - MOST_SENTENCES + 1))
    ]
    scores = [asked.score(_Block((window,), block.language).terms) for window in windows]
    best = scores.index(max(scores))
    before = "… " if best else ""
    after = " …" if best + 1 < len(windows) else ""
    return f"{before}{windows[best].strip()}{after}"
