"""Vectors of questions: made by the embedder that search uses, else of their words.

Stored as `halfvec`, read as one float32 matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from articles import embeddings
from articles.embeddings import HashedEmbedder
from articles.ranking.calibration import scale_of
from articles.terms.analysis import query_terms
from assistant.gaps.clustering import LOCAL, Thresholds, Vectors

BATCH = 2_000
"""Texts turned into vectors at once: as lists of numbers they take ten times their room."""

WORDS = HashedEmbedder(256)


class Text(Protocol):
    """What has a text in a language."""

    @property
    def text(self) -> str: ...
    @property
    def language(self) -> str: ...


def model_name() -> str:
    """The name that the vectors of now go by. Raises `EmbeddingError`."""
    embedder = embeddings.active()
    return embedder.name if embedder else f"words-{WORDS.dimensions}"


def thresholds() -> Thresholds:
    """Those of clustering, on the scale of the embedder. Raises `EmbeddingError`."""
    embedder = embeddings.active()
    if embedder is None:
        return LOCAL
    scale = scale_of(embedder)
    return Thresholds(scale.own(LOCAL.floor), scale.own(LOCAL.join), scale.own(LOCAL.merge))


def vectors_of(texts: Sequence[Text]) -> Vectors:
    """One row of unit length for each text; zeros for one without a word. Raises
    `EmbeddingError` while an endpoint is down: what is asked then waits for the next run."""
    embedder = embeddings.active()
    dimensions = embedder.dimensions if embedder else WORDS.dimensions
    result = np.zeros((len(texts), dimensions), np.float32)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        if embedder:
            # An endpoint refuses a blank text, and a model makes something of it.
            said = [(at, one.text) for at, one in enumerate(batch, start) if one.text.strip()]
        else:
            said = [(at, _words(one)) for at, one in enumerate(batch, start)]
        made = (embedder or WORDS).embed([text for _at, text in said], patient=True)
        for (at, _text), vector in zip(said, made, strict=True):
            result[at] = vector
    return result


def read(stored: Sequence[memoryview | bytes], dimensions: int) -> Vectors:
    """Rows that `halfvec_send` gave, as a matrix."""
    raw = b"".join(bytes(one)[4:] for one in stored)
    flat: NDArray[np.float16] = np.frombuffer(raw, ">f2")
    return flat.reshape(len(stored), dimensions).astype(np.float32)


def written(vector: Vectors) -> str:
    """A vector as PostgreSQL reads it."""
    return f"[{','.join(map('{:.5g}'.format, vector.tolist()))}]"


def _words(one: Text) -> str:
    return " ".join(term for word in query_terms(one.text, one.language) for term in word)
