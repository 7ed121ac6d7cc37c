"""The reference number of an answer: short, sayable on the phone, and made of the answer's id.

Eight characters of Crockford's base 32 (no I, L, O or U, so nothing is misheard or spells
a word), written as `7K2M-9QXP`. They are the first 40 bits of the id: nothing is stored, every
answer has one from its first moment, and finding it is a range of the primary key. Among a
million answers two share one with a chance of about one in two; whoever looks one up is then
shown both.

Not to be confused with `assistant.references`, the numbers by which documents are cited.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BITS = 40
_REST = 128 - _BITS
_MISREAD = str.maketrans({"I": "1", "L": "1", "O": "0"})
_WRITTEN = re.compile(rf"[{ALPHABET}]{{8}}")


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids with one reference number: from `first` to `last`, both included."""

    first: uuid.UUID
    last: uuid.UUID


def reference_number(answer_id: uuid.UUID) -> str:
    """Of an answer, as it is told to people: `7K2M-9QXP`."""
    bits = answer_id.int >> _REST
    letters = "".join(ALPHABET[bits >> shift & 31] for shift in range(_BITS - 5, -1, -5))
    return f"{letters[:4]}-{letters[4:]}"


def ids_of(text: str) -> Ids | None:
    """The ids that a typed reference number may mean; None for a text that is none.

    Small letters, missing or other dashes, spaces, and I, L and O for 1 and 0 are understood.
    """
    compact = re.sub(r"[\s\-\u2010-\u2015_.#]", "", text).upper().translate(_MISREAD)
    if not _WRITTEN.fullmatch(compact):
        return None
    bits = 0
    for letter in compact:
        bits = bits << 5 | ALPHABET.index(letter)
    first = bits << _REST
    return Ids(uuid.UUID(int=first), uuid.UUID(int=first | (1 << _REST) - 1))


def ids_meant(text: str) -> Ids | None:
    """As `ids_of`, and a whole id means itself."""
    found = ids_of(text)
    if found:
        return found
    try:
        whole = uuid.UUID(text.strip())
    except ValueError:
        return None
    return Ids(whole, whole)
