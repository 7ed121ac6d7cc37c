"""Article text as data for a model: in a fence that nothing inside can close. Pure.

What is given is exactly `neutral(text)`; the ledger records that. The fence says where
writers' text begins and ends, whatever it claims about itself.
"""

from __future__ import annotations

import re

OPENING = "<article_text>"
CLOSING = "</article_text>"

_INVISIBLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_FENCE = re.compile(rf"[<＜](?=[\s{_INVISIBLE}/]*article[\s{_INVISIBLE}_-]*text)", re.IGNORECASE)
_HIDDEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]")


def fenced(text: str) -> str:
    """`text` in its fence. It has to be neutral."""
    return f"{OPENING}\n{text}\n{CLOSING}"


def unfenced(text: str) -> str:
    return text.removeprefix(f"{OPENING}\n").removesuffix(f"\n{CLOSING}")


def neutral(text: str) -> str:
    """`text` with nothing in it that looks like the fence, and no characters that hide."""
    return _FENCE.sub("‹", _HIDDEN.sub("", text))


def on_one_line(text: str) -> str:
    """The same for a title or a name, which has no fence."""
    return " ".join(neutral(text).split())
