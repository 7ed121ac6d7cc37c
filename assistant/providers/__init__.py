"""The models that write answers: an OpenAI-compatible endpoint, another one where that fails, or
quoting without a model.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from assistant.agent import Mode, Model
from assistant.providers.circuit import Circuit
from assistant.providers.context import ContextModel
from assistant.providers.extractive import ExtractiveModel
from assistant.providers.fallback import FallbackModel

if TYPE_CHECKING:
    from django.conf import LazySettings


_making = Lock()
"""Turns begin on threads. Two that are the first ones would each make a model and its circuit: one
would count what the other does not see, and leave its connections open."""


def select_model(settings: LazySettings) -> Model:
    """The model that the settings name; the same one for the same settings, which keeps its
    connections and what it learned of its endpoint. With a fallback: for one turn."""
    if not settings.ASSISTANT_MODEL:
        return ExtractiveModel()
    first = _model(settings, *_first(settings))
    if not settings.ASSISTANT_FALLBACK_MODEL:
        return first
    return FallbackModel(first, _model(settings, *_second(settings)))


def circuits(settings: LazySettings) -> list[Circuit]:
    """The circuit of the model that the settings name, and then that of the fallback."""
    if not settings.ASSISTANT_MODEL:
        return []
    named = [_first(settings)]
    if settings.ASSISTANT_FALLBACK_MODEL:
        named.append(_second(settings))
    seconds = settings.ASSISTANT_CIRCUIT_SECONDS
    with _making:
        return [_circuit(base_url, name, seconds) for name, _key, base_url in named]


def _first(settings: LazySettings) -> tuple[str, str, str]:
    """Name, key and address."""
    return settings.ASSISTANT_MODEL, settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL


def _second(settings: LazySettings) -> tuple[str, str, str]:
    """Without an address of its own it is another model of the same provider. A key is never sent
    to another address than its own."""
    name, key = settings.ASSISTANT_FALLBACK_MODEL, settings.ASSISTANT_FALLBACK_API_KEY
    if settings.ASSISTANT_FALLBACK_BASE_URL:
        return name, key, settings.ASSISTANT_FALLBACK_BASE_URL
    return name, key or settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL


def _model(settings: LazySettings, name: str, key: str, base_url: str) -> Model:
    with _making:
        return _endpoint(
            name,
            key,
            base_url,
            settings.ASSISTANT_MODE,
            settings.ASSISTANT_FIRST_TOKEN_SECONDS,
            settings.ASSISTANT_CIRCUIT_SECONDS,
        )


@lru_cache(maxsize=8)
def _endpoint(
    name: str,
    api_key: str,
    base_url: str,
    mode: Mode,
    first_token_seconds: float,
    circuit_seconds: float,
) -> Model:
    # Its client costs each process a second and 20 MB: only those pay it that have a model.
    from assistant.providers.openai import OpenAIModel

    model = OpenAIModel(
        name=name,
        api_key=api_key,
        base_url=base_url,
        first_token_seconds=first_token_seconds,
        circuit=_circuit(base_url, name, circuit_seconds),
    )
    return ContextModel(model, mode)


@lru_cache(maxsize=8)
def _circuit(base_url: str, name: str, seconds: float) -> Circuit:
    return Circuit(base_url, name, seconds)
