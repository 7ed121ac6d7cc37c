"""The chat's part of the OpenAPI schema: plain Django views, described by hand.

A postprocessing hook of drf-spectacular, named in the settings, since the articles' API may
know nothing of the assistant. Shapes come from the dataclasses of `assistant.events`, values
and refusals from the code that sends them; tests hold what is written here to real answers.
"""

from __future__ import annotations

from typing import Any

from assistant.openapi.components import EVENTS, components
from assistant.openapi.operations import FIGURES, TAG, paths
from assistant.openapi.schemas import Schema

__all__ = ["EVENTS", "TAG", "add_chat"]


def add_chat(result: Schema, **_context: Any) -> Schema:
    """Adds the chat's paths and components to the schema of the articles."""
    result["paths"].update(paths())
    result["components"]["schemas"].update(components())
    result["tags"] += [{"name": TAG}, {"name": FIGURES}]
    return result
