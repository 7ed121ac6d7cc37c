"""What of a model's text is meant for people: no reasoning, and only whole characters.

Reasoning models write `<think>…</think>` into the text, cut anywhere and not always
closed. Endpoints that escape JSON by UTF-16 units cut emoji in two. Both are mended
here, before anything else sees the text.
"""

from __future__ import annotations

import re

_TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")
_TAG = re.compile("|".join(_TAGS), re.IGNORECASE)
_LONGEST_TAG = max(map(len, _TAGS))
_UNFIT = re.compile("[\x00\ud800-\udfff]")


class VisibleText:
    """Takes text in any slices and returns what may be shown; `close` ends it."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._shown = False
        self._characters = WholeCharacters()

    def feed(self, text: str) -> str:
        text = self._characters.feed(text)
        if not self._thinking and not self._held and "<" not in text:
            return self._show(text)
        return self._show(self._without_reasoning(self._held + text))

    def close(self) -> str:
        """What was held back because it might have become a tag."""
        rest = "" if self._thinking else self._held
        self._held = ""
        return self._show(rest + self._characters.close())

    def _without_reasoning(self, text: str) -> str:
        shown, position = [], 0
        for tag in _TAG.finditer(text):
            if not self._thinking:
                shown.append(text[position : tag.start()])
            self._thinking = not tag[0].startswith("</")
            position = tag.end()
        rest = text[position:]
        self._held = _beginning_of_a_tag(rest)
        if not self._thinking:
            shown.append(rest[: len(rest) - len(self._held)])
        return "".join(shown)

    def _show(self, text: str) -> str:
        """Drops the empty lines that stand between reasoning and the first word."""
        if not self._shown:
            text = text.lstrip("\r\n")
            self._shown = bool(text)
        return text


class WholeCharacters:
    """Joins halves of characters across slices; what stays half becomes U+FFFD, NUL goes."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        if not self._half and not _UNFIT.search(text):
            return text
        text = (self._half + text).replace("\x00", "")
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _repaired(text[: len(text) - len(self._half)])

    def close(self) -> str:
        half, self._half = self._half, ""
        return _repaired(half)


def _repaired(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _beginning_of_a_tag(text: str) -> str:
    """The end of `text` that may yet become a tag, or nothing."""
    start = text.rfind("<", max(0, len(text) - _LONGEST_TAG + 1))
    tail = text[start:] if start >= 0 else ""
    return tail if tail and any(tag.startswith(tail.lower()) for tag in _TAGS) else ""
