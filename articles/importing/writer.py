"""A tree of tags written as Markdown."""

from __future__ import annotations

import html
import re
import textwrap
from collections import Counter
from collections.abc import Callable

from django.utils.translation import gettext

from articles.importing.prose import substitute
from articles.importing.tables import pipe_table
from articles.importing.tags import BLOCK, Element, Node, names

_TEXT_EXPRESSION = re.compile(r"""\{\s*(["'])(?P<text>[^"'{}\n]*)\1\s*\}""")

_DROPPED = names(
    "script style svg math noscript template head meta link base col colgroup param area "
    "input select option textarea progress meter canvas source track wbr"
)
_STRONG = frozenset({"b", "strong"})
_EMPHASIS = frozenset({"i", "em", "cite", "dfn", "var"})
_STRUCK = frozenset({"del", "s", "strike"})
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_MEDIA = frozenset({"iframe", "video", "audio", "embed", "object"})
_SPACED = frozenset({"p", "section", "article", "details", "figure", "dl", "center", "address"})
_ONE_LINE = frozenset({"heading", "row"})
_SUPERSCRIPT = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_SUBSCRIPT = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_SCRIPTABLE = re.compile(r"[0-9+\-=()n]+")


class Writer:
    """Writes a tree as Markdown. Inside a line nothing begins a new one.

    `left_out` counts the components that had no text to leave behind.
    """

    def __init__(self, is_mdx: bool) -> None:
        self.is_mdx = is_mdx
        self.left_out: Counter[str] = Counter()

    def write(self, nodes: list[Node]) -> str:
        """A line end behind an element that wrote its own is not another one."""
        written = ""
        for node in nodes:
            piece = self.text(node) if isinstance(node, str) else self.element(node)
            ends_line = written.endswith("\n") and not written.endswith("\n\n")
            if ends_line and isinstance(node, str) and piece.startswith("\n"):
                piece = piece[1:]
            written += piece
        return written

    def text(self, text: str) -> str:
        if not self.is_mdx:
            return text
        return substitute(_TEXT_EXPRESSION, lambda match: match["text"], text, indented=False)

    def element(self, element: Element) -> str:
        if element.is_component:
            return self.component(element)
        if element.name in _DROPPED:
            return ""
        written = self.inline(element)
        if written is not None:
            return written
        return self.in_line(element) if element.position in _ONE_LINE else self.block(element)

    # Inside a line

    def inline(self, element: Element) -> str | None:
        """An element that never begins a block; None for the others."""
        name = element.name
        if name == "img":
            return image(element)
        if name == "br":
            if element.position in _ONE_LINE:
                return " "
            return "" if element.position == "alone" else "  \n"
        if name in _MEDIA:
            return self.media(element)
        if name == "a":
            return self.link(element)
        for meant, mark in ((_STRONG, "**"), (_EMPHASIS, "*"), (_STRUCK, "~~")):
            if name in meant:
                return _marked(self.write(element.children), mark)
        if name in _CODE:
            return code_span(html.unescape(element.text()))
        if name in ("sup", "sub"):
            return self.script(element)
        return None if name in BLOCK else self.write(element.children)

    def link(self, element: Element) -> str:
        label = _one_line(self.write(element.children))
        address = element.get("href", "to")
        if not address:
            return label
        return f"[{label or address}]({destination(address)})"

    def script(self, element: Element) -> str:
        text = self.write(element.children)
        if _SCRIPTABLE.fullmatch(text) and not (element.name == "sub" and "n" in text):
            return text.translate(_SUPERSCRIPT if element.name == "sup" else _SUBSCRIPT)
        return f"^{text}" if element.name == "sup" and text.strip().isalnum() else text

    def media(self, element: Element) -> str:
        """A film or an embedded page as a link to it, with what it says it is."""
        address = element.get("src", "data") or next(
            (child.get("src") for child in element.children if isinstance(child, Element)), ""
        )
        return media_link(address, element.get("title", "aria-label"), element.name)

    def in_line(self, element: Element) -> str:
        """A block's element in the middle of a line, in a table's cell for example."""
        inner = _one_line(self.write(element.children))
        if element.name == "li":
            return f"• {inner} "
        return inner

    # Blocks

    def block(self, element: Element) -> str:
        name = element.name
        writers: dict[str, Callable[[Element], str]] = {
            "hr": lambda _: "---",
            "ul": self.list,
            "ol": self.list,
            "table": lambda table: pipe_table(table, self.write),
            "blockquote": self.quote,
            "pre": self.fence,
            "summary": self.summary,
        }
        if re.fullmatch("h[1-6]", name):
            return _spaced(self.heading(element), element)
        if name in writers:
            return _spaced(writers[name](element), element)
        inner = self.inner(element)
        if name in _SPACED or "\n\n" in inner:
            return _spaced(inner, element)
        if not inner or element.position == "inside":
            return f"\n{_indented(inner, element)}\n" if inner else ""
        return _indented(inner, element).removeprefix(element.indent) + "\n"

    def inner(self, element: Element) -> str:
        return _dedented(self.write(element.children))

    def heading(self, element: Element) -> str:
        title = _one_line(self.write(element.children))
        anchor = f" {{#{element.get('id')}}}" if element.get("id") else ""
        return f"{'#' * int(element.name[1])} {title}{anchor}" if title else ""

    def list(self, element: Element) -> str:
        items = [node for node in element.children if isinstance(node, Element)]
        first = int(element.get("start")) if element.get("start").isdecimal() else 1
        lines = []
        for number, item in enumerate(items, start=first):
            mark = f"{number}. " if element.name == "ol" else "- "
            inner = self.inner(item) if item.name == "li" else self.write([item])
            lines.append(mark + textwrap.indent(inner.strip(), " " * len(mark))[len(mark) :])
        return "\n".join(lines)

    def quote(self, element: Element) -> str:
        return textwrap.indent(self.inner(element), "> ", lambda _: True)

    def fence(self, element: Element) -> str:
        code = next((node for node in element.children if isinstance(node, Element)), element)
        language = re.search(r"language-([\w+#-]+)", code.get("class", "className"))
        return fenced(html.unescape(element.text()).strip("\n"), language[1] if language else "")

    def summary(self, element: Element) -> str:
        """In bold, or as the heading that it holds."""
        inner = self.inner(element)
        return inner if inner.startswith("#") or "\n" in inner else _marked(inner, "**")

    # Components

    def component(self, element: Element) -> str:
        if element.name == "Admonition":
            title = element.get("title")
            head = f":::{element.get('type') or 'note'}{f'[{title}]' if title else ''}"
            return _spaced(f"{head}\n{self.inner(element)}\n:::", element)
        if element.name == "CodeBlock" and element.text().strip() and "{" not in element.text():
            return _spaced(fenced(self.inner(element), element.get("language")), element)
        label = element.get("label", "value") if element.name == "TabItem" else ""
        inner = self.inner(element)
        if element.name == "CodeBlock" or not inner:
            return self.mark(element)
        if element.position == "inside" or element.position in _ONE_LINE:
            return inner
        return _spaced(f"**{escaped(label)}**\n\n{inner}" if label else inner, element)

    def mark(self, element: Element) -> str:
        """A component without a text. Inside a line its bare name says something:
        `limit <Optional />` is “limit (optional)”."""
        if element.position in ("inside", "row") and not (element.attributes or element.children):
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", element.name)
            return f"({words.lower()})"
        self.left_out[element.name] += 1
        return ""


def image(element: Element) -> str:
    """`![alt](src)`; the alternative text alone where there is no address."""
    alt, address = escaped(_one_line(element.get("alt"))), element.get("src")
    return f"![{alt}]({destination(address)})" if address else alt


def media_link(address: str, title: str, tag: str) -> str:
    """A film or an embedded page as a link to it; nothing without an address."""
    label = title or (gettext("Video") if tag == "video" else gettext("Embedded content"))
    return f"[{escaped(label)}]({destination(address)})" if address else ""


def escaped(text: str) -> str:
    """Plain text as it stands in a label."""
    return re.sub(r"([\[\]\\])", r"\\\1", text)


def destination(address: str) -> str:
    """An address as it stands in the brackets of a link."""
    address = "".join(address.split("\n")).strip()
    return f"<{address}>" if re.search(r"[\s()]", address) else address


def code_span(text: str) -> str:
    """Text between as many backticks as it needs."""
    text = _one_line(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{'`' * (longest + 1)}{pad}{text}{pad}{'`' * (longest + 1)}" if text else ""


def fenced(code: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`{3,}", code)), default=2)
    return f"{'`' * (longest + 1)}{language}\n{code}\n{'`' * (longest + 1)}"


def _marked(text: str, mark: str) -> str:
    """Emphasis around a text, its outer white space left outside."""
    inner = text.strip()
    if not inner or "\n\n" in inner:
        return text
    start = len(text) - len(text.lstrip())
    return f"{text[:start]}{mark}{inner}{mark}{text[start + len(inner) :]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _dedented(text: str) -> str:
    return textwrap.dedent(text.lstrip("\n")).strip("\n").rstrip()


def _indented(text: str, element: Element) -> str:
    return textwrap.indent(text, element.indent)


def _spaced(text: str, element: Element) -> str:
    """A block between blank lines, as far in as its tag stood."""
    if element.position == "marker":
        return _indented(text, element).removeprefix(element.indent) + "\n\n"
    return f"\n\n{_indented(text, element)}\n\n" if text.strip() else "\n\n"
