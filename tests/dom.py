"""HTML as a browser's parser sees it, for tests that must not trust its source text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text inside, images by their alt text."""
        if self.tag == "img":
            return self.attributes.get("alt", "")
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, *tags: str) -> list[Element]:
        """The elements inside with one of these tags, or all, in document order."""
        found: list[Element] = []
        for child in self.children:
            if isinstance(child, Element):
                found += [child] if not tags or child.tag in tags else []
                found += child.all(*tags)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        self.open[-1].children.append(Element("#comment", {"data": data}))

    def handle_decl(self, decl: str) -> None:
        self.open[-1].children.append(Element("#declaration", {"data": decl}))


def parse(html: str) -> Element:
    """The root of `html`, which must be well formed."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.open == [builder.root], "an element is not closed"
    return builder.root
