"""How far apart the articles are, and which language a message is in."""

from __future__ import annotations

from typing import Any

import pytest

from articles import embeddings
from articles.access import ANONYMOUS
from articles.indexing import index_article
from articles.models import IndexState
from articles.ranking import outskirts
from articles.terms import frequencies
from assistant.classifiers.language_guess import language_of_message
from assistant.scope import is_outside
from tests.factories import make_article

TOPICS = ("Reset a password", "Change a plan", "Export a report", "Invite a colleague")


@pytest.fixture
def site(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few articles, taken for enough."""
    monkeypatch.setattr(outskirts, "TELLING_PASSAGES", len(TOPICS))
    for title in TOPICS:
        body = f"## How to\n\n{title} in the settings of your account, under Security."
        index_article(make_article(title, body=body).pk)
    frequencies.recount()


@pytest.mark.usefixtures("site")
def test_the_floor_is_that_of_the_articles() -> None:
    floors = outskirts.measure()
    assert set(floors) == {"en"}
    assert -1 < floors["en"] < 1
    assert outskirts.floor_of("en") == IndexState.objects.get().outskirts == floors["en"]


@pytest.mark.usefixtures("site")
def test_outside_is_what_is_farther_than_the_floor_and_shares_few_words() -> None:
    outskirts.measure()
    IndexState.objects.update(outskirts=0.9)
    foreign = "Who painted the ceiling of the Sistine chapel?"
    assert is_outside(foreign, ANONYMOUS, "en")
    assert not is_outside("How do I reset my password?", ANONYMOUS, "en")
    IndexState.objects.update(outskirts=-0.9)
    assert not is_outside(foreign, ANONYMOUS, "en")


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "question", ["Wer hat die Sixtinische Kapelle ausgemalt?", "Как сбросить пароль?", "Tesla", ""]
)
def test_what_is_in_no_language_of_the_site_is_not_far(question: str) -> None:
    outskirts.measure()
    assert not is_outside(question, ANONYMOUS, "en")


@pytest.mark.usefixtures("site")
def test_a_floor_stays_while_there_are_no_vectors_and_goes_with_its_articles(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = outskirts.measure()["en"]

    def fail(*args: object, **kwargs: object) -> None:
        raise embeddings.EmbeddingError("down")

    with monkeypatch.context() as down:
        down.setattr(embeddings.LocalEmbedder, "embed", fail)
        assert outskirts.measure() == {}
        assert not is_outside("Who painted the ceiling of the chapel?", ANONYMOUS, "en")
    assert IndexState.objects.get().outskirts == floor
    monkeypatch.setattr(outskirts, "TELLING_PASSAGES", 1_000)
    assert outskirts.measure() == {}
    assert IndexState.objects.get().outskirts is None


@pytest.mark.usefixtures("site")
def test_a_floor_of_another_model_is_none() -> None:
    outskirts.measure()
    IndexState.objects.update(outskirts_model="another")
    assert outskirts.floor_of("en") is None


@pytest.mark.parametrize(
    ("message", "likely", "language"),
    [
        ("what is the weather in Paris", "en", "en"),
        ("what is the weather in Paris", "de", "en"),
        ("Wie wird das Wetter morgen?", "en", "de"),
        ("no funciona", "es", "es"),
        ("no funciona", "en", "en"),
        ("no funciona", "de", ""),
        ("東京の天気は？", "en", "ja"),
        ("오늘 날씨 어때?", "en", "ko"),
        ("今天天气怎么样", "en", "zh"),
        ("refund?", "en", ""),
        ("", "en", ""),
    ],
)
def test_the_language_of_a_few_words(message: str, likely: str, language: str) -> None:
    assert language_of_message(message, likely) == language
