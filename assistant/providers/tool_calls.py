"""Tool calls out of the fragments that a stream brings them in.

Providers disagree: one sends an index and an id once, another repeats the id, a
third sends whole calls with no index, or several of them all under index 0. A
fragment starts a new call where its id, or its name after arguments, says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.agent import ToolCallRequest
from assistant.providers.visible import WholeCharacters

MAX_CALLS = 32
"""More in one round is a model gone wrong; the rest is left out."""

MAX_ARGUMENT_CHARACTERS = 20_000
MAX_NAME_CHARACTERS = 64


@dataclass(slots=True)
class _Call:
    index: int | None
    call_id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def is_whole(self) -> bool:
        return bool(_objects("".join(self.arguments)))


class ToolCallParts:
    """Collects fragments; `finished` gives the calls in the order in which they began."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def take(self, fragment: Mapping[str, Any]) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        index, call_id = fragment.get("index"), _text(fragment.get("id"))
        name, arguments = _text(function.get("name")), function.get("arguments")
        call = self._find(index if isinstance(index, int) else None, call_id, name)
        if not call.name:
            call.name = name
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments)
        if isinstance(arguments, str):
            call.arguments.append(arguments)

    def finished(self) -> tuple[ToolCallRequest, ...]:
        calls = [part for call in self._calls for part in _requests(call)]
        return tuple(calls[:MAX_CALLS])

    def _find(self, index: int | None, call_id: str, name: str) -> _Call:
        for call in reversed(self._calls):
            if index is not None and call.index is not None and call.index != index:
                continue
            if call_id and call.call_id and call.call_id != call_id:
                if index is None:
                    continue
                break
            if name and not call_id and (name != call.name or call.is_whole()):
                break
            return call
        call = _Call(index, call_id)
        if len(self._calls) < MAX_CALLS:
            self._calls.append(call)
        return call


def _requests(call: _Call) -> list[ToolCallRequest]:
    """The call; several where one index was given several objects as arguments."""
    arguments = _whole("".join(call.arguments))[:MAX_ARGUMENT_CHARACTERS]
    name, call_id = _whole(call.name)[:MAX_NAME_CHARACTERS], _whole(call.call_id)
    objects = _objects(arguments)
    if len(objects) < 2:
        return [ToolCallRequest(call_id, name, arguments)]
    return [
        ToolCallRequest(call_id if position == 0 else "", name, text)
        for position, text in enumerate(objects)
    ]


def _objects(text: str) -> list[str]:
    """The JSON objects that `text` is a row of; none where it is anything else."""
    decoder, objects, position = json.JSONDecoder(), [], 0
    text = text.strip()
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        objects.append(text[position:end])
        position = end + len(text[end:]) - len(text[end:].lstrip())
    return objects


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(text: str) -> str:
    characters = WholeCharacters()
    return characters.feed(text) + characters.close()
