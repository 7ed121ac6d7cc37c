"""How many tokens a text is, roughly: for budgets, and where a provider does not say.

Every model counts differently. English runs at about four characters a token;
scripts without spaces at about one and a half. Budgets leave room for the error.
"""

from __future__ import annotations

import math

_CHARACTERS = 4.0
_CHARACTERS_BEYOND_ASCII = 1.5


def estimate(text: str) -> int:
    """Tokens in `text`, rounded up; 0 only for an empty text."""
    wide = 0 if text.isascii() else sum(character > "\x7f" for character in text)
    return math.ceil((len(text) - wide) / _CHARACTERS + wide / _CHARACTERS_BEYOND_ASCII)


def beginning(text: str, most: int) -> str:
    """As much of the beginning of `text` as is about `most` tokens."""
    count = estimate(text)
    return text if count <= most else text[: len(text) * most // count]
