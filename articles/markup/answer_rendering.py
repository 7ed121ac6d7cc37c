"""Answers as HTML: only what the citation writer registered becomes a link, image or citation.

A model's text is hostile input, and Markdown parses in surprising ways. So the decision
is never the parser's: a link's or image's address must be one of the registered ones,
`[k]` is a citation where it stands as such in the source, outside code and escapes, and
has a registered number; everything else is text. Reference definitions define nothing,
and an HTML entity never becomes part of an address or a number. The sanitiser holds the
finished HTML against the same sets.

The HTML of an answer is that of its top-level blocks, one after the other. Each block is
rendered by itself, which is what lets `articles.markup.answer_streaming` send finished ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import helpers
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import escapeHtml, stripEscape
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from articles.addresses import Addresses
from articles.markup.markdown import Dialect, HtmlRenderer
from articles.markup.outline import normalised
from articles.markup.sanitising import sanitiser

INERT = "\ufdd0"
"""A character that text never holds. Behind a bracket it keeps that from beginning a citation
or a link, and it is in no HTML: for code in the sense of whoever registered, see `Registered`."""

_CITATION = re.compile(r"\[([1-9][0-9]{0,5})\]")
_HEADING_LEVELS = {"h1": "h3", "h2": "h4", "h3": "h5"}


@dataclass(frozen=True, slots=True)
class Citation:
    """What number `number` leads to. `url` is None for a document nobody may open."""

    number: int
    title: str
    url: str | None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """What the writer wrote on purpose: addresses as they stand in the text, and its numbers.

    Where the text holds the like without being meant, it must have `INERT` in it.
    """

    links: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()
    citations: Mapping[int, Citation] = field(default_factory=dict)


def render_answer(text: str, registered: Registered) -> SafeString:
    """Render a delivered answer. Never fails, whatever the text."""
    return mark_safe("".join(render_blocks(text, registered)))  # noqa: S308, each was cleaned


def render_blocks(text: str, registered: Registered) -> list[str]:
    """The safe HTML of each top-level block of `text`."""
    links, images = _as_parsed(registered.links), _as_parsed(registered.images)
    pages = _as_parsed({c.url for c in registered.citations.values() if c.url})
    environment = {
        "addresses": Addresses(links.__contains__, images.__contains__),
        "citations": registered.citations,
    }
    gate = sanitiser(
        Addresses((links | pages).__contains__, images.__contains__), heading_ids=False
    )
    tokens = _DIALECT.parse(normalised(text), environment)
    html = (gate.clean(_DIALECT.html_of(block, environment)) for block in _top_level(tokens))
    return [block.replace(INERT, "") for block in html]


def finished_length(text: str) -> int:
    """How many leading characters of `text` nothing written after it can change.

    `text` must be normalised and end with a line end: of a line that may still grow,
    nothing is certain. The result is the beginning of a top-level block, or all.
    """
    tokens: list[Token] = []
    state = StateBlock(text, _DIALECT, {}, tokens)
    _DIALECT.block.tokenize(state, 0, state.lineMax)
    blocks = [(token.type, token.map) for token in tokens if token.level == 0 and token.map]
    kind, (start, end) = blocks[-1] if blocks else ("", (0, 0))
    if kind in _ENDED_BY_A_BLANK_LINE and end < state.lineMax:
        return len(text)
    return state.bMarks[start]


_ENDED_BY_A_BLANK_LINE = frozenset(
    f"{kind}_open" for kind in ("alert", "blockquote", "callout", "heading", "paragraph", "table")
) | {"fence", "hr"}
"""A list or indented code may go on after a blank line; a fence or callout that is open does."""


@lru_cache(maxsize=4096)
def _normalised_address(address: str) -> str:
    return normalizeLink(address)


def _as_parsed(addresses: frozenset[str] | set[str]) -> frozenset[str]:
    """The forms in which the parser gives these addresses, escaped characters taken as such."""
    written = addresses | {stripEscape(address) for address in addresses}
    return frozenset(map(_normalised_address, written))


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _citation(state: StateInline, silent: bool) -> bool:
    """Inline rule: `[k]` with a registered number."""
    match = _CITATION.match(state.src, state.pos, state.posMax)
    citation = state.env["citations"].get(int(match[1])) if match else None
    if match is None or citation is None:
        return False
    if not silent:
        token = state.push("citation", "a", 0)
        token.content = match.group()
        token.meta = {"citation": citation}
    state.pos = match.end()
    return True


def _literal_destination(source: str, position: int, maximum: int) -> Any:
    """A link's destination as it is written: an entity in it stands for itself."""
    result = helpers.parseLinkDestination(source, position, maximum)
    if result.ok:
        written = source[position : result.pos]
        result.str = stripEscape(written[1:-1] if written.startswith("<") else written)
    return result


class _AnswerRenderer(HtmlRenderer):
    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<{_HEADING_LEVELS.get(tokens[idx].tag, 'h6')}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"</{_HEADING_LEVELS.get(tokens[idx].tag, 'h6')}>\n"

    def citation(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        citation: Citation = tokens[idx].meta["citation"]
        number, title = citation.number, citation.title
        label = escapeHtml(_("Source %(number)d: %(title)s") % {"number": number, "title": title})
        hint = escapeHtml(f"{title} – {citation.heading}" if citation.heading else title)
        shared = f'class="citation" data-source="{number}" title="{hint}"'
        if citation.url is None:
            return f"<sup><span {shared}>{number}</span></sup>"
        url = escapeHtml(_normalised_address(citation.url))
        return f'<sup><a {shared} href="{url}" aria-label="{label}">{number}</a></sup>'


def _build_dialect() -> Dialect:
    dialect = Dialect(_AnswerRenderer)
    dialect.disable("reference")
    dialect.inline.ruler.before("link", "citation", _citation)
    literal = {**vars(helpers), "parseLinkDestination": _literal_destination}
    dialect.helpers = SimpleNamespace(**literal)  # type: ignore[assignment]
    return dialect


_DIALECT = _build_dialect()
