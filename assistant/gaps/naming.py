"""A topic's name: the question that is nearest to all of its questions, shortened."""

from __future__ import annotations

import numpy as np

from assistant.gaps.clustering import Vectors

LONGEST = 120


def name_of(question: str) -> str:
    """A name from a question: its first line, shortened at a word."""
    line = " ".join(question.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rsplit(' ', 1)[0]}…"


def title_of(name: str) -> str:
    """A draft's title from a topic's name."""
    return name.rstrip(" ?")


def inert(text: str) -> str:
    """`text` as one line of Markdown that is nothing but text."""
    line = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|!~&" else char for char in line)


def heading_of(question: str) -> str:
    """A line of Markdown that is a heading, and of the visitor's words nothing but text."""
    return f"## {inert(name_of(question))}"


def central(vectors: Vectors) -> int:
    """The place of the row nearest to the mean of all; of equally near ones the first."""
    return int(np.argmax(np.round(vectors @ vectors.mean(axis=0), 5)))
