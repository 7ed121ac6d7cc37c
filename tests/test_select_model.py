"""Which model answers, by the settings."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.providers import select_model


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
