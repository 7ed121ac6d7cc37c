"""System checks of the assistant's settings."""

from __future__ import annotations

from typing import Any

from django.core import checks

from assistant import reranking


@checks.register(checks.Tags.compatibility)
def check_reranker(**kwargs: Any) -> list[checks.CheckMessage]:
    """`ASSISTANT_RERANKER` names something that can be called."""
    try:
        found = reranking.active()
    except ImportError as error:
        return [_error(f"ASSISTANT_RERANKER cannot be imported: {error}.")]
    if found is not None and not callable(found):
        return [_error("ASSISTANT_RERANKER names something that is no function.")]
    return []


def _error(message: str) -> checks.Error:
    hint = "Name a callable by its dotted path, such as assistant.reranking.endpoint."
    return checks.Error(message, hint=hint, id="assistant.E001")
