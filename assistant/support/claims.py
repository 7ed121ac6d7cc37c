"""The sentences of a delivered answer, each with what it cites. Pure.

Read from the answer's HTML, so that a citation is what the reader sees as one: never in
code, never a number that the writer did not write. A list item, a table row, a heading and
a line after a hard break end a sentence, whatever their last character is. A citation
behind a full stop belongs to the sentence before it, and so does one that stands alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

_OPEN, _CLOSE, _CITE = "\ue000", "\ue001", "\ue002"
"""Around a link's label, and around the place of a citation in the list of them."""

_SENTINELS = re.compile(f"[{_OPEN}{_CLOSE}{_CITE}]")
_LABEL = re.compile(f"{_OPEN}[^{_CLOSE}]*{_CLOSE}?")
_MARK = re.compile(rf"\s*{_CITE}(\d+){_CITE}")
_ABBREVIATION = (
    r"(?<!\b[^\W\d_])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bNo)"
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bNr)(?<!\bca)(?<!\bbzw)(?<!\bz\.B)(?<!\bd\.h)(?<!\bex)(?<!\bej)"
)
_ORDINAL = r"(?:(?<=\b\d\.)|(?<=\b\d\d\.))\s+[^\W\d_]"
"""`3. Mai`: a sentence that ends with a small number is not cut from one that follows it."""

_END = re.compile(
    rf"(?<![.!?…])(?:{_ABBREVIATION}\.(?!{_ORDINAL})|[!?…])"
    rf"[.!?…]*+[\"'»”’)\]]*+(?=\s++(?![a-zß-ÿ])|{_CITE}|\Z)"
    r"|[。！？｡]+[」』”’）]*"
)
_TITLED = rf"\({_OPEN}[^{_CLOSE}]*{_CLOSE}{_CITE}\d+{_CITE}\)"
_TRAILING_MARKS = re.compile(rf"(?:\s*(?:{_CITE}\d+{_CITE}|{_TITLED}))*")
_BLOCKS = frozenset({"p", "li", "ul", "ol", "tr", "table", "thead", "tbody", "blockquote", "div"})
_BLOCKS |= {"h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr", "br", "dl", "dt", "dd"}


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation: the number of a source, or the address of a link."""

    number: int | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`own` is the text without the labels of links: what the sentence itself says."""

    position: int
    text: str
    own: str
    cites: tuple[Cited, ...]


def sentences(html: str) -> list[Sentence]:
    """The sentences of an answer's HTML in order, counted from 0, cited or not."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_block()
    found: list[Sentence] = []
    for block in reader.blocks:
        for piece in split(block):
            sentence = _sentence(piece, len(found), reader.cites)
            if any(character.isalnum() for character in sentence.own):
                found.append(sentence)
            elif sentence.cites and found:
                cites = dict.fromkeys(found[-1].cites + sentence.cites)
                found[-1] = replace(found[-1], cites=tuple(cites))
    return found


def split(text: str) -> list[str]:
    """A block of text cut behind its sentences; what is cut is only white space."""
    pieces, start = [], 0
    while match := _END.search(text, start):
        end = _TRAILING_MARKS.match(text, match.end())
        stop = end.end() if end else match.end()
        pieces.append(text[start:stop].strip())
        start = stop
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]


def _sentence(piece: str, position: int, cites: list[Cited]) -> Sentence:
    found = dict.fromkeys(cites[int(match[1])] for match in _MARK.finditer(piece))
    bare = _MARK.sub("", piece)
    text = " ".join(_SENTINELS.sub("", bare).split())
    own = " ".join(_LABEL.sub("", bare).split())
    return Sentence(position, text, own, tuple(found))


class _Reader(HTMLParser):
    """Collects the text of each block, with marks where something is cited."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self.cites: list[Cited] = []
        self._text = ""
        self._code = 0
        self._citation = ""
        self._address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in _BLOCKS:
            self.end_block()
        self._code += tag == "pre"
        if tag in ("td", "th"):
            self._text += " "
        elif tag in ("a", "span") and attributes.get("class") == "citation":
            self._citation = tag
            self._cite(Cited(number=int(attributes["data-source"] or 0)))
        elif tag == "a" and attributes.get("href"):
            self._address = attributes["href"] or ""
            self._text += _OPEN

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end_block()
        self._code -= tag == "pre"
        if tag == self._citation:
            self._citation = ""
        elif tag == "a" and self._address:
            self._text += _CLOSE
            self._cite(Cited(address=self._address))
            self._address = ""

    def handle_data(self, data: str) -> None:
        if not self._code and not self._citation:
            self._text += _SENTINELS.sub("", data)

    def end_block(self) -> None:
        """What follows is another sentence, whatever the text ends with."""
        if self._text.strip():
            self.blocks.append(self._text)
        self._text = ""

    def _cite(self, cited: Cited) -> None:
        self._text += f"{_CITE}{len(self.cites)}{_CITE}"
        self.cites.append(cited)
