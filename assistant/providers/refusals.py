"""What a provider's error means: which of our codes, and whether trying again may help.

Providers word the same refusal in many ways, as a status, a code, a type or only in
prose. `error_from` reads all of it; nothing of it is shown to a visitor, and of the
prose only what names a model or a parameter goes into a log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from assistant.agent import ProviderError

PARAMETERS = ("max_completion_tokens", "max_tokens", "stream_options", "temperature")

_RETRYABLE = frozenset({408, 409, 425, 429})
_MISCONFIGURED = frozenset({401, 402, 403, 404, 405})
_CONTEXT = re.compile(
    r"context.{0,3}(length|window|size)|maximum context|available context|prompt is too long"
    r"|input is too long|too many (input )?tokens|reduce the length"
)
_FILTER = re.compile(
    r"content.?filter|content.management.polic|content.?policy|responsibleaipolicy|data_inspection"
)
_QUOTA = re.compile(
    r"insufficient.?(quota|credit|balance|funds)|billing|exceeded your current quota"
)
_TOOLS = re.compile(
    r"(\b(not|no)\b.{0,30} |n't )support.{0,20}\b(tool|function)"
    r"|\b(tools?|functions?)\b.{0,30}(not|n't) (be )?(support|allow)"
    r"|auto.tool.choice|tool.call.parser"
)
_PARAMETER = re.compile("|".join(PARAMETERS))
_TOO_LARGE = re.compile(r"max_(completion_)?tokens\W.{0,40}too (large|high)")


class ParameterRefusedError(ProviderError):
    """The endpoint does not take `parameter`; the same request without it may pass."""

    def __init__(self, parameter: str, detail: str) -> None:
        super().__init__("refused", detail)
        self.parameter = parameter


class ToolsRefusedError(ProviderError):
    """The endpoint or its model cannot call tools."""

    def __init__(self, detail: str) -> None:
        super().__init__("misconfigured", detail)


def error_from(error: object, status: int = 0) -> ProviderError:
    """The error behind an HTTP status and its body, or behind an error event (status 0)."""
    words = _words(error)
    detail = _detail(error, status)
    if _FILTER.search(words):
        return ProviderError("content_filter", detail)
    if status in (0, 400, 404, 422, 500, 501) and _TOOLS.search(words):
        return ToolsRefusedError(detail)
    if status in (400, 422) and (parameter := _refused_parameter(error, words)):
        return ParameterRefusedError(parameter, detail)
    if status == 413 or (status in (0, 400, 422, 500) and _CONTEXT.search(words)):
        return ProviderError("context_length", detail)
    if _QUOTA.search(words) or status in _MISCONFIGURED:
        return ProviderError("misconfigured", detail)
    if status == 429:
        return ProviderError("rate_limited", detail, retryable=True)
    if status == 0 or status in _RETRYABLE or status >= 500:
        return ProviderError("unavailable", detail, retryable=True)
    return ProviderError("refused", detail)


def _refused_parameter(error: object, words: str) -> str:
    named = error.get("param") if isinstance(error, Mapping) else None
    if named in PARAMETERS:
        return str(named)
    if _CONTEXT.search(words) and not _TOO_LARGE.search(words):
        return ""
    found = _PARAMETER.search(words)
    return found[0] if found else ""


def _words(error: object) -> str:
    return (error if isinstance(error, str) else json.dumps(error, default=str)).lower()[:4000]


def _detail(error: object, status: int) -> str:
    """Status, code, type and parameter: what an operator needs, and no text of anyone's."""
    facts: dict[str, object] = {"status": status} if status else {}
    if isinstance(error, Mapping):
        facts |= {name: error.get(name) for name in ("code", "type", "param") if error.get(name)}
    return " ".join(f"{name}={str(value)[:80]}" for name, value in facts.items())
