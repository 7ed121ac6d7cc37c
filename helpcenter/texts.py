"""What counts as text: characters that the database can hold."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether the database can hold it: no NUL, no half of a character."""
    return _UNSTORABLE.search(text) is None
