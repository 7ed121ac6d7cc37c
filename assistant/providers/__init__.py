"""The models that write answers: an OpenAI-compatible endpoint, or quoting without a model."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assistant.agent import Mode, Model
from assistant.providers.context import ContextModel
from assistant.providers.extractive import ExtractiveModel

if TYPE_CHECKING:
    from django.conf import LazySettings


def select_model(settings: LazySettings) -> Model:
    """The model that the settings name; the same one for the same settings, which keeps its
    connections and what it learned of its endpoint."""
    if not settings.ASSISTANT_MODEL:
        return ExtractiveModel()
    return _endpoint(
        settings.ASSISTANT_MODEL,
        settings.OPENAI_API_KEY,
        settings.OPENAI_BASE_URL,
        settings.ASSISTANT_MODE,
        settings.ASSISTANT_FIRST_TOKEN_SECONDS,
    )


@lru_cache(maxsize=4)
def _endpoint(
    name: str, api_key: str, base_url: str, mode: Mode, first_token_seconds: float
) -> Model:
    # Its client costs each process a second and 20 MB: only those pay it that have a model.
    from assistant.providers.openai import OpenAIModel

    model = OpenAIModel(
        name=name, api_key=api_key, base_url=base_url, first_token_seconds=first_token_seconds
    )
    return ContextModel(model, mode)
