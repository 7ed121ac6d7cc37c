"""A topic's name: the question that is nearest to all of its questions, shortened."""

from __future__ import annotations

import numpy as np

from assistant.gaps.clustering import Vectors

LONGEST = 120


def name_of(question: str) -> str:
    """A name from a question: its first line, shortened at a word."""
    line = " ".join(question.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rsplit(' ', 1)[0]}…"


def central(vectors: Vectors) -> int:
    """The place of the row nearest to the mean of all; of equally near ones the first."""
    return int(np.argmax(np.round(vectors @ vectors.mean(axis=0), 5)))
