"""Texts to vectors: the model in the wheel, an endpoint, and what goes wrong with one."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from articles import embeddings
from articles.embeddings import (
    EmbeddingError,
    EndpointEmbedder,
    HashedEmbedder,
    LocalEmbedder,
    active,
)
from articles.ranking import calibration
from articles.ranking.calibration import LOCAL, scale_of


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class Endpoint:
    """An OpenAI-compatible embeddings endpoint; `answer` says what it does next."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        self.size = 8
        self.missing = 0
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(body)
                texts = body["input"][endpoint.missing :]
                data = [
                    {"object": "embedding", "index": index, "embedding": endpoint.vector(text)}
                    for index, text in enumerate(texts)
                ]
                # The order is not promised.
                payload = json.dumps({"object": "list", "data": data[::-1], "model": "m"}).encode()
                self.send_response(endpoint.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *arguments: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def vector(self, text: str) -> list[float]:
        return [float(len(text)), 1.0] + [0.0] * (self.size - 2)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    thread = threading.Thread(target=endpoint.server.serve_forever)
    thread.start()
    yield endpoint
    endpoint.server.shutdown()
    thread.join()
    endpoint.server.server_close()


@pytest.fixture
def embedder(endpoint: Endpoint) -> Iterator[EndpointEmbedder]:
    embedder = EndpointEmbedder("m", 8, endpoint.url, "")
    yield embedder
    embedder.close()


# Local


def test_the_local_model_knows_what_is_near() -> None:
    password, passphrase, invoice = LocalEmbedder(256).embed(
        ["Reset your password", "I forgot my passphrase", "Download the invoice as PDF"]
    )
    assert len(password) == 256
    assert math.isclose(cosine(password, password), 1.0, rel_tol=1e-5)
    assert cosine(password, passphrase) > cosine(password, invoice) + 0.2


def test_the_local_model_takes_any_text() -> None:
    vectors = LocalEmbedder(256).embed(["", "\U0001f600", "账单", "x" * 500_000, "\ud83d"[:0]])
    assert [len(vector) for vector in vectors] == [256] * 5
    assert not any(map(math.isnan, vectors[0]))


def test_the_local_model_is_loaded_once_by_many_threads() -> None:
    loaded: list[Any] = []
    threads = [
        threading.Thread(target=lambda: loaded.append(embeddings._wordllama())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, loaded))) == 1


# Choosing


def test_the_settings_choose(settings: Any) -> None:
    assert isinstance(active(), LocalEmbedder)
    assert active() is active()
    settings.EMBEDDING_BACKEND = "hashed"
    assert isinstance(active(), HashedEmbedder)
    settings.EMBEDDING_BACKEND = "off"
    assert active() is None


def test_dimensions_that_the_local_model_does_not_make_are_refused(settings: Any) -> None:
    settings.EMBEDDING_DIMENSIONS = 768
    with pytest.raises(EmbeddingError, match=r"makes 256 dimensions, EMBEDDING_DIMENSIONS is 768"):
        active()


def test_hashed_vectors_are_near_where_words_are_shared() -> None:
    one, other, third = HashedEmbedder(256).embed(["red blue", "Red green", "black white"])
    assert cosine(one, other) == pytest.approx(0.5)
    assert cosine(one, third) < 0.5


# Endpoint


def test_an_endpoint_gets_texts_in_batches_and_gives_unit_vectors_in_order(
    endpoint: Endpoint, embedder: EndpointEmbedder
) -> None:
    vectors = embedder.embed(["x" * length for length in range(1, 131)])

    assert [len(request["input"]) for request in endpoint.requests] == [64, 64, 2]
    assert [round(vector[0] / vector[1]) for vector in vectors] == list(range(1, 131))
    assert all(math.isclose(cosine(vector, vector), 1.0) for vector in vectors)
    assert "dimensions" not in endpoint.requests[0]


def test_a_long_text_is_cut_before_it_is_sent(
    endpoint: Endpoint, embedder: EndpointEmbedder
) -> None:
    embedder.embed(["x" * 100_000])
    assert len(endpoint.requests[0]["input"][0]) == embeddings.LONGEST_TEXT


def test_only_models_that_can_are_asked_for_fewer_dimensions(endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder("text-embedding-3-small", 8, endpoint.url, "key")
    embedder.embed(["x"])
    embedder.close()
    assert endpoint.requests[0]["dimensions"] == 8


def test_another_length_than_the_settings_say_is_named(
    endpoint: Endpoint, embedder: EndpointEmbedder
) -> None:
    endpoint.size = 12
    with pytest.raises(EmbeddingError, match="m makes 12 dimensions, EMBEDDING_DIMENSIONS is 8"):
        embedder.embed(["x"])


def test_an_answer_that_lacks_vectors_is_refused(
    endpoint: Endpoint, embedder: EndpointEmbedder
) -> None:
    endpoint.missing = 1
    with pytest.raises(EmbeddingError, match="sent 1 of 2 vectors"):
        embedder.embed(["x", "y"])


def test_a_failing_endpoint_is_left_alone_for_a_while(
    endpoint: Endpoint, embedder: EndpointEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.status = 503
    with pytest.raises(EmbeddingError, match="InternalServerError"):
        embedder.embed(["x"])
    endpoint.status = 200
    with pytest.raises(EmbeddingError, match="a moment ago"):
        embedder.embed(["x"])
    assert len(endpoint.requests) == 1

    assert embedder.embed(["x"], patient=True)  # indexing tries all the same
    assert embedder.embed(["x"])  # and found it well


def test_after_a_while_one_search_looks_whether_it_is_back(
    endpoint: Endpoint, embedder: EndpointEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EndpointEmbedder, "PAUSE", 0.0)
    endpoint.status = 503
    for _ in range(2):
        with pytest.raises(EmbeddingError, match="InternalServerError"):
            embedder.embed(["x"])
    assert embedder._may_ask()
    with pytest.raises(EmbeddingError, match="a moment ago"):  # somebody else looks
        embedder.embed(["x"])
    embedder._closed_until = 0.001
    endpoint.status = 200
    assert embedder.embed(["x"])
    assert [embedder._may_ask() for _ in range(2)] == [True, True]


def test_an_endpoint_that_is_not_there_is_an_embedding_error() -> None:
    embedder = EndpointEmbedder("m", 8, "http://127.0.0.1:9/v1", "")
    with pytest.raises(EmbeddingError, match="APIConnectionError"):
        embedder.embed(["x"])
    embedder.close()


def test_the_settings_name_an_endpoint(settings: Any, endpoint: Endpoint) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "openai", "m"
    settings.EMBEDDING_DIMENSIONS, settings.OPENAI_BASE_URL = 8, endpoint.url
    embedder = active()
    assert isinstance(embedder, EndpointEmbedder)
    assert embedder.name == "m-8"
    assert len(embedder.embed(["x"])[0]) == 8
    embedder.close()
    embeddings._embedder.cache_clear()


# One scale


class Crowded:
    """The local model with everything moved nearer together, as some models have it."""

    name, dimensions = "crowded-257", 257

    def embed(self, texts: Sequence[str], *, patient: bool = False) -> list[list[float]]:
        common = math.sqrt(1.5)
        vectors = LocalEmbedder(256).embed(texts)
        length = math.sqrt(1 + common**2)
        return [[value / length for value in [*vector, common]] for vector in vectors]


def test_the_local_models_own_scale_is_the_reference() -> None:
    scale = scale_of(LocalEmbedder(256))
    assert scale.unrelated == pytest.approx(LOCAL.unrelated, abs=0.001)
    assert scale.related == pytest.approx(LOCAL.related, abs=0.001)
    assert scale.comparable(0.5) == pytest.approx(0.5, abs=0.005)


def test_a_model_whose_cosines_are_all_high_is_brought_to_the_same_scale() -> None:
    texts = ["How do I cancel?", "To cancel, open the subscription page."]
    local, crowded = LocalEmbedder(256), Crowded()
    plain, high = (cosine(*embedder.embed(texts)) for embedder in (local, crowded))
    assert high > plain + 0.2
    assert scale_of(crowded).comparable(high) == pytest.approx(plain, abs=0.01)


def test_a_model_that_cannot_be_calibrated_keeps_its_own_cosines() -> None:
    assert scale_of(HashedEmbedder(256)) == LOCAL


def test_a_scale_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashedEmbedder(32)
    first = scale_of(embedder)
    monkeypatch.setattr(calibration, "PAIRS", ())
    assert scale_of(embedder) is first
