"""The grammar of citation markers: what stands between the brackets.

Pure. A marker names references, one to three digits each: `[3]`, `[^3]`, `[1, 2]`,
`[1-3]`, `【3†source】`. What looks like one and names a zero is text between square
brackets, and names nothing of ours between `【` and `】`.
"""

from __future__ import annotations

import re

_NUMBER = r"\^?[0-9]{1,3}"
_SPACE = r"[ \t\u00a0\u3000]*"
_RANGE = rf"{_NUMBER}(?:{_SPACE}[-–]{_SPACE}{_NUMBER})?"
_SEPARATOR = rf"(?:{_SPACE}[,;，、&]{_SPACE}|{_SPACE}[ \t]and[ \t]{_SPACE})"
_LIST = re.compile(rf"{_SPACE}{_RANGE}(?:{_SEPARATOR}{_RANGE})*{_SPACE}\Z")
_ITEM = re.compile(rf"([0-9]{{1,3}})(?:{_SPACE}[-–]{_SPACE}\^?([0-9]{{1,3}}))?")

LONGEST_RANGE = 20
LONGEST_LABEL = 300
"""Characters between the brackets of a marker or link; what is longer is text."""

LENTICULAR = re.compile(
    rf"{_SPACE}(?:(?P<list>{_RANGE}(?:{_SEPARATOR}{_RANGE})*)|[0-9]+:[0-9]+)?{_SPACE}"
    r"(?:†[^】\n]*)?\Z"
)
LENTICULAR_HEAD = re.compile(r"[\^0-9:,;，、&\- \t\u00a0\u3000–and]*")
"""What may stand before the `†`, or before the end, of a lenticular marker."""


def references(label: str) -> tuple[int, ...] | None:
    """The references that `[label]` names, in order; None where it is no marker."""
    if not _LIST.match(label):
        return None
    refs = _refs(label)
    return None if 0 in refs else refs


def lenticular_references(label: str) -> tuple[int, ...] | None:
    """The references of `【label】`; none at all for another system's; None where it is text."""
    match = LENTICULAR.match(label)
    if match is None or not label.strip():
        return None
    refs = _refs(match["list"] or "")
    return () if 0 in refs else refs


def _refs(label: str) -> tuple[int, ...]:
    refs: dict[int, None] = {}
    for match in _ITEM.finditer(label):
        first, last = int(match[1]), int(match[2] or match[1])
        if first <= last <= first + LONGEST_RANGE:
            refs.update(dict.fromkeys(range(first, last + 1)))
        else:
            refs.update({first: None, last: None})
    return tuple(refs)
