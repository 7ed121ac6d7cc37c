"""Anchors of headings: what stands behind the `#` of an address. Standard library only.

A slug is made from the heading's readable text in any script, as GitHub and the
common documentation tools make it, so that links of imported articles lead somewhere.
It is never empty, never longer than `LONGEST` characters, and unique within the
document. `## Title {#id}` names its anchor itself; such names are given out first,
whatever a heading further up would be called.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from articles.markup.inline_text import inline_text

LONGEST = 180
"""Characters of an anchor before the number that makes it unique."""

FALLBACK = "section"
"""The slug of a heading without a letter or a digit."""

_EXPLICIT = re.compile(rf"(?<!\\)\{{#([\w.:-]{{1,{LONGEST}}})\}}$")
_VARIATION_SELECTORS = dict.fromkeys(range(0xFE00, 0xFE10))


@dataclass(frozen=True, slots=True)
class HeadingSource:
    """A heading's inline Markdown, and the id it asks for, if any."""

    text: str
    explicit_id: str | None = None


def heading_source(source: str) -> HeadingSource:
    """Split `Title {#id}` as it stands in a heading."""
    source = source.strip()
    match = _EXPLICIT.search(source[-LONGEST - 8 :])
    if match is None:
        return HeadingSource(source)
    text = source[: len(source) - len(match.group())].rstrip()
    return HeadingSource(text, unicodedata.normalize("NFC", match[1]))


def slug(text: str) -> str:
    """The slug of a heading's readable text: lower case, spaces as hyphens, no punctuation."""
    text = unicodedata.normalize("NFC", text.strip().lower()).translate(_VARIATION_SELECTORS)
    kept = "".join(map(_slug_character, text))[:LONGEST]
    return kept if any(map(str.isalnum, kept)) else FALLBACK


def anchors(headings: Sequence[HeadingSource]) -> list[str]:
    """The anchors of a document's headings, in order."""
    return _Anchors(headings).given


class _Anchors:
    def __init__(self, headings: Sequence[HeadingSource]) -> None:
        self.taken: set[str] = set()
        self.repeats: dict[str, int] = {}
        explicit = [h.explicit_id and self._claimed(h.explicit_id) for h in headings]
        self.given = [
            own or self._unique(h.explicit_id or slug(inline_text(h.text)))
            for h, own in zip(headings, explicit, strict=True)
        ]

    def _claimed(self, name: str) -> str | None:
        """The name, for the first heading that asks for it."""
        if name in self.taken:
            return None
        self.taken.add(name)
        return name

    def _unique(self, name: str) -> str:
        anchor = name
        while anchor in self.taken:
            self.repeats[name] = self.repeats.get(name, 0) + 1
            anchor = f"{name}-{self.repeats[name]}"
        self.taken.add(anchor)
        return anchor


def _slug_character(character: str) -> str:
    if character.isspace():
        return "-"
    category = unicodedata.category(character)
    keep = character == "-" or category[0] in "LM" or category in ("Nd", "Nl", "Pc")
    return character if keep else ""
