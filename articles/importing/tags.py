"""HTML and JSX tags that stand in a Markdown text, as a tree. Standard library only.

Everything that is no tag of HTML or, in MDX, no component stays text to the letter,
and so does code. Nothing in here raises on odd input: a closing tag without an
opening one is dropped, and what is never closed ends with the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from articles.importing.prose import code_ranges, membership

MAX_DEPTH = 60
MAX_BRACES = 20
MAX_TAG = 4000
"""Characters of one tag; a longer one is text."""


def names(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


VOID = names("area base br col embed hr img input link meta param source track wbr")
BLOCK = names(
    "address article aside blockquote center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav ol p pre section summary "
    "table ul iframe video audio object tbody thead tfoot tr td th caption"
)
_INLINE = names(
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label "
    "legend map mark math meter noscript optgroup option output picture progress q rp rt ruby s "
    "samp script select slot small span strike strong style sub sup svg template textarea time "
    "tt u var canvas colgroup body head html title"
)
HTML = VOID | BLOCK | _INLINE
_VERBATIM = frozenset({"script", "style", "svg", "math"})
"""What stands in these is no Markdown: they end at their closing tag, whatever is in between."""
_ENDS: Mapping[str, frozenset[str]] = {
    "li": frozenset({"li"}),
    "p": frozenset({"p"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tr": frozenset({"td", "th", "tr"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "option": frozenset({"option"}),
}
"""Which open elements an opening tag closes, where HTML lets their end be left out."""

_START = re.compile(r"<!--|\{/\*|</?(?P<name>[A-Za-z][\w.-]*)(?=\s|/?>|/\s)")
_MARKER = re.compile(r"[ \t]*((?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_ONE_LINE = re.compile(r"[ \t]*([|>#])")
_CLOSING = re.compile(r"</(?P<name>[A-Za-z][\w.-]*)\s*>")
_BRACE = re.compile(r"[{}]")
_ATTRIBUTE = re.compile(
    r"""\s*(?:(?P<end>/?\s*>)|(?P<slash>/)|(?P<spread>\{)|(?P<name>[^\s"'<>/={}]+)"""
    r"""(?:\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<brace>\{)|(?P<bare>[^\s"'<>={}`]+)))?)"""
)
_LITERAL = re.compile(
    r"""\{\s*(?:(?:useBaseUrl|require|withBase)\(\s*)?(["'`])(?P<text>[^"'`$]*)\1\s*\)?\s*(?:\.default)?\s*\}"""
)
_NAME = re.compile(r"\{\s*(?P<name>[A-Za-z_$][\w$]*)(?:\.src)?\s*\}")


@dataclass(slots=True)
class Element:
    """A tag with what it holds.

    `attributes` have their literal values; an expression that is none is None.
    `indent` is how far in the lines of a block at the tag's place begin, `position`
    where in its line the tag stands: `alone` at the start, behind the `marker` of a list's
    item, `inside` other text, in a `heading`, or in the `row` of a table or a quotation.
    """

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    indent: str = ""
    position: Literal["alone", "marker", "inside", "heading", "row"] = "inside"

    @property
    def is_component(self) -> bool:
        return self.name[0].isupper()

    def get(self, *names: str) -> str:
        """The first of these attributes that has a value; empty without one."""
        return next((value for name in names if (value := self.attributes.get(name))), "")

    def text(self) -> str:
        """The text in it, without its tags."""
        return "".join(node if isinstance(node, str) else node.text() for node in self.children)


Node = str | Element


def parse(text: str, *, is_mdx: bool = False, names: Mapping[str, str] | None = None) -> list[Node]:
    """The text as strings and elements. `names` are the files that MDX imports stand for."""
    return _Parser(text, is_mdx, names or {}).run()


class _Parser:
    def __init__(self, text: str, is_mdx: bool, names: Mapping[str, str]) -> None:
        self.source = text
        self.is_mdx = is_mdx
        self.names = names
        self.is_code = membership(code_ranges(text, indented=not is_mdx))
        self.root = Element("")
        self.open = [self.root]
        self.done = 0
        self.line_start = 0
        self.unclosed: set[str] = set()

    def run(self) -> list[Node]:
        for match in _START.finditer(self.source):
            if match.start() >= self.done and not self.is_code(match.start()):
                self._begin(match)
        self._text_until(len(self.source))
        return self.root.children

    def _begin(self, match: re.Match[str]) -> None:
        if match[0] == "<!--":
            self._drop_through(match.start(), "-->")
        elif match[0] == "{/*":
            if self.is_mdx:
                self._drop_through(match.start(), "*/}")
        elif self._is_ours(match["name"]):
            if match[0].startswith("</"):
                self._close(match)
            else:
                self._open(match)

    def _is_ours(self, name: str) -> bool:
        return name.lower() in HTML or (self.is_mdx and name[0].isupper())

    def _normal(self, name: str) -> str:
        """HTML's names in lower case; a component's as it is written."""
        is_component = self.is_mdx and name[0].isupper() and not name.isupper()
        return name if is_component else name.lower()

    def _drop_through(self, start: int, closing: str) -> None:
        end = -1 if closing in self.unclosed else self.source.find(closing, start)
        if end < 0:
            self.unclosed.add(closing)
            return
        self._text_until(start)
        self.done = end + len(closing)

    def _text_until(self, end: int) -> None:
        if end > self.done:
            self.open[-1].children.append(self.source[self.done : end])
        self.done = end

    def _close(self, match: re.Match[str]) -> None:
        closing = _CLOSING.match(self.source, match.start())
        if closing is None:
            return
        self._text_until(match.start())
        self.done = closing.end()
        name = self._normal(match["name"])
        if any(element.name == name for element in self.open[1:]):
            while self.open.pop().name != name:
                pass

    def _open(self, match: re.Match[str]) -> None:
        attributes: dict[str, str | None] = {}
        end, is_empty = self._attributes(match.end(), attributes)
        element = Element(self._normal(match["name"]), attributes)
        if end and element.name in _VERBATIM and not is_empty:
            end, is_empty = self._verbatim_end(element.name, end), True
        if not end:
            return
        self._place(element, match.start())
        self._text_until(match.start())
        self.done = end
        while self.open[-1].name in _ENDS.get(element.name, ()):
            self.open.pop()
        self.open[-1].children.append(element)
        if element.name not in VOID and not is_empty and len(self.open) < MAX_DEPTH:
            self.open.append(element)

    def _verbatim_end(self, name: str, start: int) -> int:
        """Behind the closing tag; 0 where there is none, and the word is only spoken of."""
        if name in self.unclosed:
            return 0
        for match in re.compile(f"</{name}\\s*>", re.IGNORECASE).finditer(self.source, start):
            if not self.is_code(match.start()):
                return match.end()
        self.unclosed.add(name)
        return 0

    def _place(self, element: Element, start: int) -> None:
        # Only what is new since the last tag is looked at: a line may hold thousands of them.
        line_end = self.source.rfind("\n", self.line_start, start)
        self.line_start = line_end + 1 if line_end >= 0 else self.line_start
        marker = _MARKER.match(self.source, self.line_start, start)
        element.indent = " " * len(marker[0]) if marker else ""
        if marker and marker.end() == start:
            element.position = "marker" if marker[1] else "alone"
        elif kind := _ONE_LINE.match(self.source, self.line_start, start):
            element.position = "heading" if kind[1] == "#" else "row"

    def _attributes(self, position: int, found: dict[str, str | None]) -> tuple[int, bool]:
        """Reads a tag's attributes into `found`.

        Returns where the tag ends, 0 if it is none, and whether it closes itself.
        """
        limit = position + MAX_TAG
        is_empty = False
        while match := _ATTRIBUTE.match(self.source, position, limit):
            position = match.end()
            if match["end"]:
                return position, is_empty or match["end"].startswith("/")
            is_empty = bool(match["slash"])
            if match["name"]:
                position = self._attribute(match, found)
            elif match["spread"]:
                position = self._expression_end(match.start("spread"))
            if not position:
                break
        return 0, False

    def _attribute(self, match: re.Match[str], found: dict[str, str | None]) -> int:
        """Notes one attribute; returns where it ends, 0 if its expression never does."""
        name = match["name"] if self.is_mdx else match["name"].lower()
        if match["brace"]:
            start = match.start("brace")
            end = self._expression_end(start)
            found.setdefault(name, self._literal(self.source[start:end]))
            return end
        value = next((match[g] for g in ("double", "single", "bare") if match[g] is not None), "")
        found.setdefault(name, html.unescape(value))
        return match.end()

    def _expression_end(self, start: int) -> int:
        """Where a `{…}` ends, by its braces; 0 if it never does."""
        depth = 0
        for match in _BRACE.finditer(self.source, start, start + MAX_TAG):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                return match.end()
            if depth > MAX_BRACES:
                break
        return 0

    def _literal(self, expression: str) -> str | None:
        """What an expression stands for, where that is a text or an imported file."""
        literal = _LITERAL.fullmatch(expression)
        if literal:
            return literal["text"]
        name = _NAME.fullmatch(expression)
        return self.names.get(name["name"]) if name else None
