"""Texts to vectors of unit length, behind one protocol.

`active()` is the embedder that the settings name: a static model that ships in its
wheel (`local`), any OpenAI-compatible endpoint (`openai`), none (`off`), or vectors of
hashed words (`hashed`), for tests that need neither a model's weight nor its knowledge.

Vectors of different models do not compare. Each model has a name, stored with every
vector it made; what is stored under another name is not searched.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from articles.terms.bm25 import dimension

LONGEST_TEXT = 8_000
"""Characters of one text; beyond, endpoints refuse it, and a mean of words says little."""

BATCH = 64


class EmbeddingError(Exception):
    """No vectors just now, or never with these settings. The message is for operators."""


class Embedder(Protocol):
    """`name` tells one vector space from another; `dimensions` is the length of its vectors."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, patient: bool = False) -> list[list[float]]:
        """One vector of unit length for each text that is not blank. `patient` may take a
        minute, for indexing. Raises EmbeddingError."""
        ...

    def __hash__(self) -> int: ...


def active() -> Embedder | None:
    """The embedder that the settings name, None for `off`. Raises EmbeddingError where
    they contradict each other."""
    if _is_without.get():
        return None
    return _embedder(
        settings.EMBEDDING_BACKEND,
        settings.EMBEDDING_MODEL,
        settings.EMBEDDING_DIMENSIONS,
        settings.OPENAI_BASE_URL,
        settings.OPENAI_API_KEY,
    )


_is_without: ContextVar[bool] = ContextVar("is_without_embeddings", default=False)


@contextmanager
def without() -> Iterator[None]:
    """Inside, there is no embedder: what search by words alone comes to can be tried."""
    token = _is_without.set(True)
    try:
        yield
    finally:
        _is_without.reset(token)


@lru_cache(maxsize=8)
def _embedder(
    backend: str, model: str, dimensions: int, base_url: str, api_key: str
) -> Embedder | None:
    if backend == "off":
        return None
    if backend == "openai":
        return EndpointEmbedder(model, dimensions, base_url, api_key)
    if backend == "hashed":
        return HashedEmbedder(dimensions)
    return LocalEmbedder(dimensions)


class LocalEmbedder:
    """wordllama: the mean of static word vectors. Works offline; thousands of texts a second."""

    DIMENSIONS = 256

    def __init__(self, dimensions: int) -> None:
        if dimensions != self.DIMENSIONS:
            raise EmbeddingError(
                f"the local model makes {self.DIMENSIONS} dimensions, "
                f"EMBEDDING_DIMENSIONS is {dimensions}"
            )
        self.name = "wordllama-l2-supercat-256"
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], *, patient: bool = False) -> list[list[float]]:
        # A batch is as wide as its longest text: alike ones together take half the time.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        cut = [texts[place][:LONGEST_TEXT] for place in order]
        vectors = _wordllama().embed(cut, batch_size=BATCH)
        lengths = (vectors**2).sum(axis=1, keepdims=True) ** 0.5
        lengths[lengths == 0] = 1
        by_place = dict(zip(order, (vectors / lengths).tolist(), strict=True))
        return [by_place[place] for place in range(len(texts))]


_loading = threading.Lock()


def _wordllama() -> Any:
    with _loading:
        return _load_wordllama()


@lru_cache(maxsize=1)
def _load_wordllama() -> Any:
    """Loaded at the first text: 0.3 s and 40 MB that a process without searches does not need."""
    # Its tokenizer's threads would not survive the fork of a Celery worker.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import wordllama

    # It looks for the tokenizer beside its cache only: its own folder is that cache.
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


class EndpointEmbedder:
    """A model behind any OpenAI-compatible embeddings endpoint.

    After a failure it is left alone for `PAUSE` seconds; then one search looks whether it is
    back. So a dead endpoint costs one search in a while its patience, and not every search.
    """

    SECONDS, PATIENT_SECONDS, PAUSE = 3.0, 60.0, 5.0

    def __init__(self, model: str, dimensions: int, base_url: str, api_key: str) -> None:
        self.name = f"{model}-{dimensions}"
        self.dimensions = dimensions
        # Costs each process a second and 20 MB: only those pay it that use an endpoint.
        import openai

        self._model = model
        self._refusal = openai.OpenAIError
        self._client = openai.OpenAI(
            base_url=base_url or None, api_key=api_key or "none", max_retries=0
        )
        self._closed_until = 0.0
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, patient: bool = False) -> list[list[float]]:
        if not patient and not self._may_ask():
            raise EmbeddingError("the embedding endpoint failed a moment ago")
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._batch(texts[start : start + BATCH], patient)
        return vectors

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _may_ask(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now < self._closed_until:
                return False
            if self._closed_until:
                self._closed_until = now + self.SECONDS  # this one looks, the others do without
            return True

    def _batch(self, texts: Sequence[str], patient: bool) -> list[list[float]]:
        client = self._client.with_options(
            timeout=self.PATIENT_SECONDS if patient else self.SECONDS,
            max_retries=3 if patient else 0,
        )
        try:
            response = client.embeddings.create(
                model=self._model,
                input=[text[:LONGEST_TEXT] for text in texts],
                encoding_format="float",
                **self._shortened(),
            )
        except self._refusal as error:
            self._closed_until = time.monotonic() + self.PAUSE
            raise EmbeddingError(f"the embedding endpoint: {type(error).__name__}") from error
        self._closed_until = 0.0
        found = [item.embedding for item in sorted(response.data, key=lambda item: item.index)]
        self._check(found, len(texts))
        return [_unit(vector) for vector in found]

    def _shortened(self) -> dict[str, Any]:
        """Only this family is known to take a length; others refuse the parameter."""
        if self._model.startswith("text-embedding-3"):
            return {"dimensions": self.dimensions}
        return {}

    def _check(self, vectors: list[list[float]], expected: int) -> None:
        if len(vectors) != expected:
            raise EmbeddingError(
                f"the embedding endpoint sent {len(vectors)} of {expected} vectors"
            )
        for vector in vectors:
            if len(vector) != self.dimensions:
                raise EmbeddingError(
                    f"{self._model} makes {len(vector)} dimensions, "
                    f"EMBEDDING_DIMENSIONS is {self.dimensions}"
                )


class HashedEmbedder:
    """Each word adds one to a dimension: texts that share words are near each other."""

    def __init__(self, dimensions: int) -> None:
        self.name = f"hashed-{dimensions}"
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], *, patient: bool = False) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in text.casefold().split():
            vector[dimension(word) % self.dimensions] += 1.0
        return _unit(vector)


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else list(vector)
