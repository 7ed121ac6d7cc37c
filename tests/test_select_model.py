"""Which model answers, by the settings."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assistant.providers import select_model
from assistant.providers.openai import OpenAIModel


@pytest.fixture
def endpoint(settings: Any) -> Any:
    settings.ASSISTANT_MODEL = "small"
    settings.OPENAI_BASE_URL = "http://llm.example.com:8000/v1"
    return settings


def test_without_a_model_articles_are_quoted(settings: Any) -> None:
    settings.ASSISTANT_MODEL = ""
    model = select_model(settings)
    assert (model.provider, model.name, model.mode) == ("extractive", "extractive", "extractive")


@pytest.mark.parametrize("mode", ["tools", "context"])
def test_with_one_its_endpoint_answers_in_the_mode_that_is_set(endpoint: Any, mode: str) -> None:
    endpoint.ASSISTANT_MODE = mode
    model = select_model(endpoint)
    assert (model.provider, model.name, model.mode) == ("llm.example.com", "small", mode)


def test_openai_is_where_no_address_is_set(endpoint: Any) -> None:
    endpoint.OPENAI_BASE_URL = ""
    endpoint.OPENAI_API_KEY = "sk"
    assert select_model(endpoint).provider == "openai"


def test_the_same_settings_give_the_same_model_with_what_it_learned(endpoint: Any) -> None:
    assert select_model(endpoint) is select_model(endpoint)
    before = select_model(endpoint)
    endpoint.ASSISTANT_MODEL = "large"
    assert select_model(endpoint) is not before


def test_turns_that_begin_at_the_same_time_share_one_model_and_its_circuit(
    endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = OpenAIModel.__init__

    def slowly(*arguments: Any, **options: Any) -> None:
        time.sleep(0.02)  # the import of the client, on the first turn of a process
        made(*arguments, **options)

    monkeypatch.setattr(OpenAIModel, "__init__", slowly)
    endpoint.ASSISTANT_MODEL = uuid.uuid4().hex
    with ThreadPoolExecutor(8) as threads:
        models = set(threads.map(select_model, [endpoint] * 8))
    assert len(models) == 1
