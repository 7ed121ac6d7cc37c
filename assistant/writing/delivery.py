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

from assistant.writing.addresses import ADDRESS_RUN, BREAKERS, TRAILING
from assistant.writing.markers import LONGEST_LABEL, references

_CLOSING = frozenset(".,;:!?)]}\"'»”’…。，、；：！？）」』】")
_OPENING = frozenset("([{（［｛「『【《〈“‘«„")
_ALNUM = frozenset(string.ascii_letters + string.digits)
_PUNCTUATION = frozenset(string.punctuation)
_SCHEMES = ("http://", "https://")
_REMEMBERED = 1100
"""Characters of the current line that are kept in mind: more than Markdown's longest label."""

_LEAD = r"(?:[ \t>]|[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*+"
_IN_LABEL = r"(?:[^\[\]\\]|\\.)*+"
_DEFINES = re.compile(rf"{_LEAD}\[{_IN_LABEL}\]\Z")
_OPENS_LABEL = re.compile(rf"{_LEAD}\[{_IN_LABEL}\\?\Z")
_STAYS_IN_LABEL = re.compile(rf"{_IN_LABEL}\\?\Z")
_CLOSES_LABEL = re.compile(rf"{_IN_LABEL}\]\Z")
_LEADS = re.compile(_LEAD)
_COUNTS = re.compile(rf"{_LEAD}[0-9]{{1,9}}")
_BLOCK = re.compile(r"(?P<ticks>`{3,})|[0-9]{1,9}(?=[.)](?:\s|\Z))|(?=~|[-+*](?:\s|\Z))")
_BULLET = re.compile(rf"\A{_LEAD}(?:[-+*]|[0-9]{{1,9}}[.)])\Z")
_MAY_BE_BULLET = re.compile(r"[-+*]|[0-9]{1,9}[.)]?")
_ADDRESS_END = re.compile(rf"https?://[^{BREAKERS}]*\Z", re.IGNORECASE)
_AUTOLINK_HEAD = re.compile(r"<[^\s<>]*\Z")
_SPECIAL_IN_TITLE = re.compile(r"([\\\[\]<]|:(?=//))")


def title_as_label(title: str) -> str:
    """A title as a link's label: nothing in it ends the label, opens anything or is an address.

    A backslash does not keep a backtick from ending the code that one earlier on the line may
    begin, and a citation in between would be code: it becomes a character reference.
    """
    escaped = _SPECIAL_IN_TITLE.sub(r"\\\1", " ".join(title.split()))
    return escaped.replace("`", "&#96;")


def _no_marker(label: str) -> str:
    """A label that is no citation, be it a number: a space behind it keeps it from being one."""
    return label if references(label) is None else f"{label} "


class Delivery:
    """Collects delivered text; `take()` gives what became final since the last time.

    `is_empty`: nothing but white space was delivered. `is_live`: the last character
    is text that Markdown reads, not code and not escaped.
    """

    def __init__(self) -> None:
        self.is_empty = True
        self.is_live = True
        self._out: list[str] = []
        self._space: list[str] = []  # held: what follows decides whether it stays
        self._breaks = False  # a line ends in the held space
        self._line = ""  # the current line as delivered, without the held space
        self._in_label = False  # a label that began an earlier line is open
        self._seam = False  # what comes next did not stand here in the model's text
        self._after_address = False  # a bare address stands before that, and before the held space
        self._gone = False  # something was removed behind the held space
        self._run: list[str] = []  # emphasis behind a removal, looked through for what follows
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
        if not piece or self._waits(piece):
            return
        piece = self._take_run() + piece
        self._eating = False
        if self._gone:
            self._settle(piece[0], piece.lstrip("*_")[:1])
        if self._eating:
            piece = piece.lstrip(" \t")
        body = piece.strip()
        if not body:
            self._hold(piece)
            return
        start = piece.index(body)
        self._hold(piece[:start])
        self._write(self._guarded(body), live=True)
        self._hold(piece[start + len(body) :])

    def verbatim(self, piece: str) -> None:
        """Code, or an escaped character: untouched, and nothing in it is read."""
        self._meet(piece[0])
        gap = " " if self._seam and not self._space and self._merges(piece[0]) else ""
        self._write(gap + piece, live=False)

    def splice(self, piece: str, *, live: bool = True) -> None:
        """Text of the model's that stood elsewhere, such as the label of a dropped link."""
        self._part()
        self.text(piece)
        self._part()
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
        link = f"([{_no_marker(label)}]({dest}))" if dest is not None else f"({label})"
        self._write(f"{' ' if apart else ''}{link}", live=True)
        self._last = ("titled", key)

    def link(self, label: str, dest: str) -> None:
        self._meet("[")
        self._write(f"{self._gap('!' + chr(92))}[{_no_marker(label)}]({dest})", live=True)

    def image(self, alt: str, dest: str) -> None:
        self._meet("[")  # its `!` ends no sentence
        self._write(f"{self._gap(chr(92))}![{alt}]({dest})", live=True)

    def removed(self) -> None:
        """Something stood here and is gone: the space around it is mended.

        At the start of a line the spaces behind go; elsewhere those before go, if
        white space, closing punctuation or the end follows.
        """
        if not self._is_looked_through("".join(self._run)):
            self._meet("[")
        self._part()
        if not self._gone and (self._breaks or not self._line):
            self._eating = True
        else:
            self._gone = True

    def drop_space(self) -> None:
        """The held white space goes: what stood behind it is no part of the answer."""
        self._take_space()

    def finish(self) -> None:
        """The end: everything held is final."""
        self._meet("")
        self._out.append(self._take_space())

    # What is held, and what follows

    def _hold(self, space: str) -> None:
        if space:
            self._space.append(space)
        if "\n" in space:
            self._breaks, self._seam = True, False

    def _take_space(self) -> str:
        space = "".join(self._space)
        self._space.clear()
        self._breaks = False
        return space

    def _part(self) -> None:
        """What comes next did not stand here: it may run together with what stands before it."""
        self._seam = True
        self._after_address = _ADDRESS_END.search(self._line) is not None

    def _take_run(self) -> str:
        run = "".join(self._run)
        self._run.clear()
        return run

    def _waits(self, piece: str) -> bool:
        """Keeps text behind a removal that cannot be judged before what follows it is known."""
        waits = self._gone and self._is_looked_through(piece)
        if not waits and self._seam and _LEADS.fullmatch(self._before()):
            waits = _MAY_BE_BULLET.fullmatch("".join((*self._run, piece))) is not None
        if waits:
            self._run.append(piece)
            self._eating = False
        return waits

    def _is_looked_through(self, piece: str) -> bool:
        """Whether what follows this tells what becomes of the space around a removal."""
        return not piece.strip(TRAILING if self._after_address else "*_")

    def _before(self) -> str:
        """What stands before this on its line."""
        return "" if self._breaks else self._line + "".join(self._space)

    def _meet(self, following: str) -> None:
        """Something that is no text follows: what waited for it is decided."""
        self._eating = False
        run = self._take_run()
        if self._gone:
            self._settle("", (run + following).lstrip("*_")[:1])  # no letter waits behind one
        if run:
            self._write(self._guarded(run), live=True)

    def _settle(self, touching: str, following: str) -> None:
        """Decides about the space around something that was removed within a line.

        `touching` stands right behind it, `following` behind emphasis.
        """
        self._gone = False
        self._eating = following.isspace() and not self._space and self._is_bullet()
        if not following or following.isspace() or following in _CLOSING:
            while self._space:
                if last := self._space.pop().rstrip(" \t"):
                    self._space.append(last)
                    break
        elif not self._space and touching in _ALNUM and self._line[-1:] in _ALNUM:
            self._hold(" ")

    def _repeats(self, kind: str, key: object) -> bool:
        return not (self._space or self._run) and self._last == (kind, key)

    # What may not come into being

    def _gap(self, before: str) -> str:
        """A space, where one of these stands right before and would change what follows."""
        near = self._line[-1:]
        return " " if near and not self._space and self.is_live and near in before else ""

    def _guarded(self, body: str) -> str:
        if self._seam and (inert := self._without_block(body)):
            return inert
        if self._space:
            return body
        first, near = body[0], self._line[-1:]
        if near == "]" and self.is_live:
            if first == "(" or (first == ":" and self._would_define()):
                return f"\\{body}"
        elif first == "]" and self._would_cite():
            return f"\\{body}"
        if self._seam and (self._merges(first) or self._extends_address(body)):
            return f" {body}"
        return body

    def _without_block(self, body: str) -> str:
        """Text that a removal put where a fence or a list item may begin, made to begin none."""
        before = self._before()
        if body[0] in ".)" and _COUNTS.fullmatch(before):
            return f"\\{body}"
        block = _BLOCK.match(body)
        if block is None or not _LEADS.fullmatch(before):
            return ""
        end = block.end()
        return "\\`" * end + body[end:] if block["ticks"] else f"{body[:end]}\\{body[end:]}"

    def _is_bullet(self) -> bool:
        """Whether white space here would make the line a list item."""
        return _BULLET.search(self._line) is not None

    def _would_cite(self) -> bool:
        """Whether a closing bracket here would make a marker that the model did not write."""
        start = self._line.rfind("[", -LONGEST_LABEL - 1)
        if start < 0 or references(self._line[start + 1 :]) is None:
            return False
        before = self._line[:start]
        return (len(before) - len(before.rstrip("\\"))) % 2 == 0

    def _would_define(self) -> bool:
        """Whether a colon here would make the line, or one before it, define a link."""
        closes = self._in_label and _CLOSES_LABEL.match(self._line)
        return bool(closes or _DEFINES.match(self._line))

    def _extends_address(self, body: str) -> bool:
        """Whether the bare address right before would go on into this."""
        ahead = body.lstrip(TRAILING)[:1]
        goes_on = ahead == "(" or (ahead and ADDRESS_RUN.fullmatch(ahead))
        return bool(self._after_address and goes_on)

    def _merges(self, first: str) -> bool:
        """Whether `first` would run together with what stands before it into something else."""
        near = self._line[-1:]
        if near == first and first in "`~":
            return True
        if near == "\\" and self.is_live and first in _PUNCTUATION:
            return True
        if (first in _ALNUM or first in ":.@+-") and _AUTOLINK_HEAD.search(self._line):
            return True
        before = self._line[-8:].lower()
        return any(
            before.endswith(scheme[:length]) and first.lower() == scheme[length]
            for scheme in _SCHEMES
            for length in range(1, len(scheme))
        )

    def _write(self, piece: str, *, live: bool) -> None:
        whole = self._take_space() + piece
        self._out.append(whole)
        *ended, rest = whole.split("\n")
        for line in ended:
            self._end_line(self._line + line)
        self._line += rest
        if len(self._line) > 2 * _REMEMBERED:
            self._line = f"…{self._line[-_REMEMBERED:]}"
        self._seam = False
        self._last = None
        self.is_live = live
        self.is_empty = False

    def _end_line(self, line: str) -> None:
        """Notes whether a label that begins a line goes on: Markdown's labels may."""
        goes_on = self._in_label and not line.isspace() and _STAYS_IN_LABEL.match(line)
        self._in_label = bool(line and (goes_on or _OPENS_LABEL.match(line)))
        self._line = ""
