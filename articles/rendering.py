"""Articles as HTML that is safe to show: `render_article`, and `plain_text` for excerpts.

The text of an article is hostile input. Raw HTML in it is text, links go to pages,
mailboxes and telephones only, images come from this site or from `IMAGE_HOSTS`, and
the sanitiser runs last. Headings get their anchors from `articles.markup.outline`, which the
chunker reads too: a passage's anchor is always one of the page's.

The page has its own `h1`: where a text uses that level, all its headings move down one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from articles.addresses import ARTICLE_ADDRESSES
from articles.markup.inline_text import without_payloads
from articles.markup.markdown import Dialect, HtmlRenderer, text_of
from articles.markup.outline import Section, sections
from articles.markup.sanitising import sanitiser

_VISIBLE = re.compile("[^\\s\u00ad\u200b-\u200f\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A line of the contents list. `level` is 2 to 6, as rendered; `text` is not escaped."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    html: SafeString
    contents: list[ContentsEntry]


def render_article(markdown: str) -> Rendered:
    """Render an article's text. Never fails, whatever the text."""
    environment = {"addresses": ARTICLE_ADDRESSES}
    tokens = _DIALECT.parse(markdown, environment)
    contents = _contents(tokens)
    html = _SANITISER.clean(_DIALECT.html_of(tokens, environment))
    return Rendered(mark_safe(html), contents)  # noqa: S308, it was cleaned


def plain_text(markdown: str) -> str:
    """The readable text without headings, one line a block, code as well: for descriptions and for
    passages that were found. Bytes of pictures that stand in the text are left out."""
    tokens = _DIALECT.parse(without_payloads(markdown), {"addresses": ARTICLE_ADDRESSES})
    in_heading = False
    lines = []
    for token in tokens:
        in_heading = token.type == "heading_open" or (in_heading and token.type != "heading_close")
        if token.type == "inline" and not in_heading:
            lines.append(" ".join(text_of(token.children or []).split()))
        elif token.type in ("fence", "code_block"):
            lines.append(" ".join(token.content.split()))
    return "\n".join(line for line in lines if line)


def has_text(markdown: str) -> bool:
    """Whether there is anything to read below the headings: words, code, or a picture."""
    return any(_says_something("\n".join(section.body)) for section in sections(markdown))


def _says_something(body: str) -> bool:
    if not body.strip():
        return False
    # Behind a blank line no section begins with what looks like front matter.
    for token in _DIALECT.parse(f"\n{body}", {"addresses": ARTICLE_ADDRESSES}):
        inside = token.children or []
        text = token.content if token.type in ("fence", "code_block") else text_of(inside)
        if _VISIBLE.search(text) or any(child.type == "image" for child in inside):
            return True
    return False


def addresses_in(markdown: str) -> list[str]:
    """The addresses of the links and images that the text shows, in order, as parsed."""
    tokens = _DIALECT.parse(markdown, {"addresses": ARTICLE_ADDRESSES})
    return [address for token in tokens for address in _addresses(token.children or [])]


def _addresses(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "link_open":
            yield str(token.attrs["href"])
        elif token.type == "image":
            yield str(token.attrs["src"])


class _ArticleRenderer(HtmlRenderer):
    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        anchor = token.meta.get("anchor")
        return f'<{token.tag} id="{escapeHtml(anchor)}">' if anchor else f"<{token.tag}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        anchor = tokens[idx - 2].meta.get("anchor")
        if not anchor:
            return f"</{token.tag}>\n"
        title = text_of(tokens[idx - 1].children or [])
        label = escapeHtml(_("Link to “%(heading)s”") % {"heading": title})
        link = f'<a class="anchor" href="#{escapeHtml(anchor)}" aria-label="{label}">#</a>'
        return f" {link}</{token.tag}>\n"


def _parse_sections(state: StateCore) -> None:
    """Core rule in place of `block`: the outline says where the headings are."""
    for section in sections(state.src):
        if section.level:
            _push_heading(state, section)
        state.md.block.parse("\n".join(section.body), state.md, state.env, state.tokens)


def _push_heading(state: StateCore, section: Section) -> None:
    opening = Token("heading_open", f"h{section.level}", 1, meta={"anchor": section.anchor})
    content = Token("inline", "", 0, content=section.source, children=[])
    closing = Token("heading_close", f"h{section.level}", -1)
    state.tokens += [opening, content, closing]


def _lower_headings(state: StateCore) -> None:
    headings = [token for token in state.tokens if token.type.startswith("heading_")]
    if any(token.tag == "h1" for token in headings):
        for token in headings:
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"


def _contents(tokens: Sequence[Token]) -> list[ContentsEntry]:
    entries = []
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.meta.get("anchor"):
            text = " ".join(text_of(tokens[index + 1].children or []).split())
            entries.append(ContentsEntry(int(token.tag[1]), text, token.meta["anchor"]))
    return [entry for entry in entries if entry.text]


def _build_dialect() -> Dialect:
    dialect = Dialect(_ArticleRenderer)
    dialect.core.ruler.at("block", _parse_sections)
    dialect.core.ruler.after("block", "headings", _lower_headings)
    return dialect


_DIALECT = _build_dialect()
_SANITISER = sanitiser(ARTICLE_ADDRESSES, heading_ids=True)
