"""An HTML table as a Markdown pipe table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from articles.importing.tags import Element, Node

MAX_COLUMNS = 100
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


def pipe_table(table: Element, write: Callable[[list[Node]], str]) -> str:
    """Rows of cells, each in one line. The first row is the head where it is marked as such."""
    rows = list(_rows(table))
    if not rows:
        return write(table.children)
    written = [[cell for element in row for cell in _cells(element, write)] for row in rows]
    width = max(len(row) for row in written)
    if not _is_head(rows[0]):
        written.insert(0, [])
    lines = [_line(row + [""] * (width - len(row))) for row in written]
    lines.insert(1, _line(["---"] * width))
    caption = "".join(write(node.children) for node in _elements(table) if node.name == "caption")
    return "\n".join([*([caption.strip(), ""] if caption.strip() else []), *lines])


def _elements(element: Element) -> Iterator[Element]:
    return (node for node in element.children if isinstance(node, Element))


def _rows(element: Element) -> Iterator[list[Element]]:
    for node in _elements(element):
        if node.name == "tr":
            cells = [cell for cell in _elements(node) if cell.name in ("td", "th")]
            if cells:
                yield cells
        elif node.name in ("thead", "tbody", "tfoot"):
            yield from _rows(node)


def _is_head(row: list[Element]) -> bool:
    return all(cell.name == "th" for cell in row)


def _cells(cell: Element, write: Callable[[list[Node]], str]) -> list[str]:
    """The cell, and an empty one for each further column that it spans."""
    text = " ".join(write(cell.children).split())
    span = cell.get("colspan", "colSpan")
    more = min(int(span), MAX_COLUMNS) - 1 if span.isdecimal() else 0
    return [_UNESCAPED_PIPE.sub(r"\|", text), *[""] * max(more, 0)]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
