"""Tool calls that a model wrote into its text, in place of calling.

Small models, and servers without the parser for a model, leave `<tool_call>{…}</tool_call>`,
`[TOOL_CALLS] [{…}]` or a bare `{"name": …, "arguments": …}` in the text. No person may read
that, and the call was meant: it is taken out and run like any other. What only looks like the
beginning of one is shown, at most a few characters late.
"""

from __future__ import annotations

import json
import re
from typing import Any

from assistant.agent import ToolCallRequest

_CLOSINGS = {"<tool_call>": "</tool_call>", "[TOOL_CALLS]": "", "<|python_tag|>": ""}
_OPENING = re.compile("|".join(map(re.escape, _CLOSINGS)))
_LONGEST_OPENING = max(map(len, _CLOSINGS))
_BARE = re.compile(r'(?:```[a-z_]*\s*)?[\[{][\s{]*"(?:name|type|function|parameters|arguments)"')
_BARE_BEGINS = ("{", "[{", "```")
_BARE_KNOWN_AFTER = 40
"""Characters after which a text that could have been nothing but a call has shown that it is."""

MAX_CHARACTERS = 20_000
"""Longer than any call. What was opened and is longer is no call, and no answer either."""

_FENCE = re.compile(r"\A```[a-z_]*\s*|\s*```\Z")
_FIRST_OF_CALL = "{[<"


class WrittenCalls:
    """Takes visible text in any slices and returns what is no call; `close` ends it."""

    def __init__(self) -> None:
        self.calls: list[ToolCallRequest] = []
        self._held = ""
        self._opening = ""
        self._may_be_bare = True

    def feed(self, text: str) -> str:
        if not (self._held or self._opening or self._may_be_bare or "<" in text or "[" in text):
            return text
        self._held += text
        if self._may_be_bare:
            if self._looks_bare():
                return ""
            self._may_be_bare = False
        return self._scan()

    def close(self) -> str:
        held, self._held = self._held, ""
        if not (self._opening or self._may_be_bare):
            return held
        found = _calls_in(_FENCE.sub("", held.strip()))
        self.calls += found
        return "" if found or self._opening else held

    def _looks_bare(self) -> bool:
        """Whether all of the text may yet turn out to be a call."""
        begun = self._held.lstrip()
        if len(begun) > MAX_CHARACTERS:
            return False
        if not begun or _BARE.match(begun):
            return True
        return len(begun) < _BARE_KNOWN_AFTER and any(
            begun.startswith(beginning) or beginning.startswith(begun) for beginning in _BARE_BEGINS
        )

    def _scan(self) -> str:
        """What of the held text is no call, and is known to be none."""
        shown = []
        while self._held:
            if not self._opening:
                shown.append(self._up_to_an_opening())
                if not self._opening:
                    break
            elif self._held.strip() and self._held.lstrip()[0] not in _FIRST_OF_CALL:
                shown.append(self._opening)
                self._opening = ""
            else:
                closing = _CLOSINGS[self._opening]
                call, closed, rest = self._held.partition(closing) if closing else ("", "", "")
                if not closed and len(self._held) <= MAX_CHARACTERS:
                    break
                self.calls += _calls_in(call.strip())
                self._opening, self._held = "", rest
        return "".join(shown)

    def _up_to_an_opening(self) -> str:
        found = _OPENING.search(self._held)
        if found is not None:
            shown, self._opening = self._held[: found.start()], found[0]
            self._held = self._held[found.end() :]
            return shown
        kept = _beginning_of_an_opening(self._held)
        shown = self._held[: len(self._held) - len(kept)]
        self._held = kept
        return shown


def _calls_in(text: str) -> list[ToolCallRequest]:
    """The calls that a JSON text holds: one, a list, or several in a row. None in anything else."""
    decoder, position, values = json.JSONDecoder(), 0, list[Any]()
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        values += value if isinstance(value, list) else [value]
        position = end + len(text[end:]) - len(text[end:].lstrip("; \r\n\t"))
    calls = [_call(value) for value in values]
    return [call for call in calls if call] if all(calls) else []


def _call(value: Any) -> ToolCallRequest | None:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCallRequest("", value["name"], arguments) if isinstance(arguments, str) else None


def _beginning_of_an_opening(text: str) -> str:
    """The end of `text` that may yet become an opening, or nothing."""
    for start in range(max(0, len(text) - _LONGEST_OPENING + 1), len(text)):
        if any(opening.startswith(text[start:]) for opening in _CLOSINGS):
            return text[start:]
    return ""
