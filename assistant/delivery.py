"""The delivered text: what leaves for the client, kept free of what nobody wrote.

Pure. Takes the pieces of an answer in order (text, code, numbers, links, and the
places where something was removed) and gives the final Markdown. White space is
held until it is known what follows it. Where pieces meet that did not meet in the
model's text, nothing may come into being: no marker, no link, no definition, no
address, no image, no code span.
"""

from __future__ import annotations

import re
import string

from assistant.markers import references

_CLOSING = frozenset(".,;:!?)]}\"'»”’…。，、；：！？）」』】")
_OPENING = frozenset("([{（［｛「『【《〈“‘«„")
_ALNUM = frozenset(string.ascii_letters + string.digits)
_PUNCTUATION = frozenset(string.punctuation)
_SCHEMES = ("http://", "https://")
_REMEMBERED = 1100
"""Characters of the current line that are kept in mind: more than the longest link label."""

_DEFINES = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*\[(?:[^\[\]\\]|\\.)+\]\Z")
_OPEN_BRACKET = re.compile(r"(?<!\\)\[([^\[\]]{1,80})\Z")
_AUTOLINK_HEAD = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*\Z")
_SPECIAL_IN_TITLE = re.compile(r"([\\\[\]`<]|:(?=//))")


def title_as_label(title: str) -> str:
    """A title as a link's label: nothing in it ends the label, opens anything or is an address."""
    return _SPECIAL_IN_TITLE.sub(r"\\\1", " ".join(title.split()))


class Delivery:
    """Collects delivered text; `take()` gives what became final since the last time.

    `is_empty`: nothing but white space was delivered. `is_live`: the last character
    is text that Markdown reads, not code and not escaped.
    """

    def __init__(self) -> None:
        self.is_empty = True
        self.is_live = True
        self._out: list[str] = []
        self._space = ""  # held: what follows decides whether it stays
        self._line = ""  # the current line as delivered, without the held space
        self._seam = False  # what comes next did not stand here in the model's text
        self._gone = False  # something was removed behind the held space
        self._run = ""  # emphasis behind a removal, looked through for what follows
        self._eating = False  # something was removed at the start of a line
        self._last: tuple[str, object] | None = None  # the number or title just written

    def take(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def text(self, piece: str) -> None:
        """Text of the model's, as it stands."""
        if self._eating:
            piece = piece.lstrip(" \t")
        if self._gone:
            piece, self._run = self._run + piece, ""
            ahead = piece.lstrip("*_")
            if not ahead:
                self._run = piece
                return
            self._settle(ahead[0])
        if not piece:
            return
        self._eating = False
        body = piece.strip()
        if not body:
            self._space += piece
            return
        start = piece.index(body)
        self._space += piece[:start]
        self._write(self._guarded(body), live=True)
        self._space = piece[start + len(body) :]

    def verbatim(self, piece: str) -> None:
        """Code, or an escaped character: untouched, and nothing in it is read."""
        self._meet(piece[0])
        gap = " " if self._seam and not self._space and self._merges(piece[0]) else ""
        self._write(gap + piece, live=False)

    def splice(self, piece: str, *, live: bool = True) -> None:
        """Text of the model's that stood elsewhere, such as the label of a dropped link."""
        self._seam = True
        self.text(piece)
        self._seam = True
        if not piece[-1].isspace():
            self.is_live = live

    def number(self, number: int) -> None:
        """A citation, `[k]`; written once where the same one stands right before it."""
        if self._repeats("number", number):
            return
        self._meet("[")
        self._write(f"{self._gap(chr(92))}[{number}]", live=True)
        self._last = ("number", number)

    def titled(self, key: str, title: str, dest: str | None) -> None:
        """A document seen only as a title, in parentheses: linked, where it has an address."""
        if self._repeats("titled", key):
            return
        self._meet("(")
        apart = not self._space and bool(self._line) and self._line[-1] not in _OPENING
        label = title_as_label(title)
        link = f"([{label}]({dest}))" if dest is not None else f"({label})"
        self._write(f"{' ' if apart else ''}{link}", live=True)
        self._last = ("titled", key)

    def link(self, label: str, dest: str) -> None:
        self._meet("[")
        self._write(f"{self._gap('!' + chr(92))}[{label}]({dest})", live=True)

    def image(self, alt: str, dest: str) -> None:
        self._meet("!")
        self._write(f"{self._gap(chr(92))}![{alt}]({dest})", live=True)

    def removed(self) -> None:
        """Something stood here and is gone: the space around it is mended.

        At the start of a line the spaces behind go; elsewhere those before go, if
        white space, closing punctuation or the end follows.
        """
        if self._run:
            self._meet("[")
        self._seam = True
        if not self._gone and ("\n" in self._space or not self._line):
            self._eating = True
        else:
            self._gone = True

    def drop_space(self) -> None:
        """The held white space goes: what stood behind it is no part of the answer."""
        self._space = ""

    def finish(self) -> None:
        """The end: everything held is final."""
        self._meet("")
        self._out.append(self._space)
        self._space = ""

    # What is held, and what follows

    def _meet(self, following: str) -> None:
        """Something that is no text follows: what waited for it is decided."""
        self._eating = False
        if self._gone:
            run, self._run = self._run, ""
            self._settle(following)
            if run:
                self._write(self._guarded(run), live=True)

    def _settle(self, following: str) -> None:
        """Decides about the space before something that was removed."""
        self._gone = False
        if not following or following.isspace() or following in _CLOSING:
            self._space = self._space.rstrip(" \t")
        elif not self._space and following in _ALNUM and self._line[-1:] in _ALNUM:
            self._space = " "

    def _repeats(self, kind: str, key: object) -> bool:
        return not (self._space or self._run) and self._last == (kind, key)

    # What may not come into being

    def _gap(self, before: str) -> str:
        """A space, where one of these stands right before and would change what follows."""
        near = self._line[-1:]
        return " " if near and not self._space and self.is_live and near in before else ""

    def _guarded(self, body: str) -> str:
        if self._space:
            return body
        first, near = body[0], self._line[-1:]
        if near == "]" and self.is_live:
            if first == "(" or (first == ":" and _DEFINES.match(self._line)):
                return f"\\{body}"
        elif first == "]" and self._would_cite():
            return f"\\{body}"
        if self._seam and self._merges(first):
            return f" {body}"
        return body

    def _would_cite(self) -> bool:
        """Whether a closing bracket here would make a marker that the model did not write."""
        label = _OPEN_BRACKET.search(self._line)
        return label is not None and references(label[1]) is not None

    def _merges(self, first: str) -> bool:
        """Whether `first` would run together with what stands before it into something else."""
        near = self._line[-1:]
        if near and near in "`~" and near == first:
            return True
        if near == "\\" and self.is_live and first in _PUNCTUATION:
            return True
        if first == ":" and _AUTOLINK_HEAD.search(self._line):
            return True
        before = self._line[-8:].lower()
        return any(
            before.endswith(scheme[:length]) and first.lower() == scheme[length]
            for scheme in _SCHEMES
            for length in range(1, len(scheme))
        )

    def _write(self, piece: str, *, live: bool) -> None:
        whole = self._space + piece
        self._out.append(whole)
        _, newline, line = whole.rpartition("\n")
        self._line = line if newline else self._line + whole
        if len(self._line) > 2 * _REMEMBERED:
            self._line = f"…{self._line[-_REMEMBERED:]}"
        self._space = ""
        self._seam = False
        self._last = None
        self.is_live = live
        self.is_empty = False
