"""The Markdown dialect of every surface, and the HTML it becomes before the sanitiser.

CommonMark with tables, strikethrough and callouts; raw HTML and address detection are
off. Which addresses may become links and images is not decided here: `parse` takes an
`Addresses`, and what it refuses becomes text. No inline styles, no scripts, so a strict
content security policy holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from articles.addresses import Addresses, leads_elsewhere
from articles.markup.cjk_emphasis import emphasis
from articles.markup.image_sizes import image_size
from articles.markup.outline import CalloutOpening, callout_length, callout_opening

EXTERNAL_REL = "noopener nofollow"

_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_ALIGNMENT = re.compile(r"text-align:(left|center|right)")


class Dialect(MarkdownIt):
    """A parser of the dialect; `environment` is what its rules read while it parses."""

    def __init__(self, renderer: type[RendererHTML]) -> None:
        options = {"html": False, "linkify": False, "alerts": True}
        super().__init__("commonmark", options, renderer_cls=renderer)
        self.enable(["table", "strikethrough"])
        interrupts = ["paragraph", "reference", "blockquote", "list"]
        self.block.ruler.before("fence", "callout", _callout, {"alt": interrupts})
        self.inline.ruler.at("emphasis", emphasis)
        self.core.ruler.after("block", "alerts", _alerts_as_callouts)
        self.core.ruler.push("addresses", _refuse_addresses)

    def validateLink(self, url: str) -> bool:  # noqa: N802, the library's name
        """Let every address parse: `Addresses` decides, and then nothing of it is shown."""
        return True

    def html_of(self, tokens: Sequence[Token], environment: EnvType) -> str:
        html: str = self.renderer.render(tokens, self.options, environment)
        return html


def text_of(tokens: Sequence[Token]) -> str:
    """The plain text of inline tokens; an image's alt text stands for it."""
    return "".join(_texts(tokens))


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "image":
            yield text_of(token.children or [])
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        else:
            yield token.content


def _refuse_addresses(state: StateCore) -> None:
    allowed: Addresses = state.env["addresses"]
    for token in state.tokens:
        if token.type == "inline":
            token.children = list(_allowed(token.children or [], allowed))


def _allowed(tokens: Sequence[Token], allowed: Addresses) -> Iterator[Token]:
    """The inline tokens, with refused links and images as text. Links do not nest."""
    refused = False
    for token in tokens:
        if token.type == "link_open":
            refused = not allowed.link(str(token.attrs["href"]))
        if token.type == "image" and not allowed.image(str(token.attrs["src"])):
            yield _text(text_of([token]))
        elif refused and token.type in ("link_open", "link_close"):
            refused = token.type == "link_open"
            if token.info == "auto":
                yield _text("<" if refused else ">")
        else:
            yield token


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _alerts_as_callouts(state: StateCore) -> None:
    """`> [!NOTE]` is a callout too; the English title that the library gives it goes."""
    for index, token in enumerate(state.tokens):
        if token.type == "alert_open":
            title, content = state.tokens[index + 1 : index + 3]
            title.info = token.info = content.content.lower()
            content.content = ""
        token.type = token.type.replace("alert_", "callout_")


def _callout(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: `:::kind Title` up to a line of as many colons, or the end of its parent."""
    opening = None if state.is_code_block(start) else callout_opening(_content(state, start))
    if opening is None or silent:
        return opening is not None
    length = callout_length(_inside(state, start, end), opening.colons)
    closed = length is not None
    content_end = (
        start + 1 + (sum(1 for _ in _inside(state, start, end)) if length is None else length)
    )
    _push_callout(state, opening, start, content_end, content_end + closed)
    return True


def _inside(state: StateBlock, start: int, end: int) -> Iterator[str]:
    """The lines after `start` that its parent goes on for: less indented text ends a list item."""
    for line in range(start + 1, end):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return
        yield _content(state, line)


def _content(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _push_callout(
    state: StateBlock, opening: CalloutOpening, start: int, content_end: int, end: int
) -> None:
    state.push("callout_open", "div", 1).info = opening.kind
    state.tokens[-1].map = [start, end]
    state.push("callout_title_open", "p", 1).info = opening.kind
    title = state.push("inline", "", 0)
    title.content, title.children = opening.title, []
    state.push("callout_title_close", "p", -1)
    parent, line_max = state.parentType, state.lineMax
    # A lazy continuation must not go past the end of the callout.
    state.parentType, state.lineMax = "callout", content_end
    state.md.block.tokenize(state, start + 1, content_end)
    state.parentType, state.lineMax = parent, line_max
    state.push("callout_close", "div", -1)
    state.line = end


def _callout_titles() -> dict[str, str]:
    return {
        "note": _("Note"),
        "tip": _("Tip"),
        "important": _("Important"),
        "warning": _("Warning"),
        "caution": _("Caution"),
    }


class HtmlRenderer(RendererHTML):
    """Token types that every surface writes in the same way."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        language = _LANGUAGE.match(tokens[idx].info.strip())
        return _code_block(tokens[idx].content, language.group() if language else "")

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return _code_block(tokens[idx].content, "")

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        label = escapeHtml(_("Table"))
        return f'<div class="table-wrap" role="region" tabindex="0" aria-label="{label}"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        alignment = _ALIGNMENT.search(str(token.attrs.get("style", "")))
        return f'<{token.tag} class="align-{alignment[1]}">' if alignment else f"<{token.tag}>"

    td_open = th_open

    def callout_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f'<div class="callout callout-{tokens[idx].info}" role="note">\n'

    def callout_title_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """The title's own text follows as inline tokens; without one, the kind is the title."""
        untitled = not tokens[idx + 1].content
        title = escapeHtml(_callout_titles()[tokens[idx].info]) if untitled else ""
        return f'<p class="callout-title">{title}'

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        alt, source = escapeHtml(text_of([token])), escapeHtml(str(token.attrs["src"]))
        title = (
            f' title="{escapeHtml(str(token.attrs["title"]))}"' if token.attrs.get("title") else ""
        )
        size = image_size(str(token.attrs["src"]))
        room = f' width="{size[0]}" height="{size[1]}"' if size else ""
        return f'<img src="{source}" alt="{alt}"{title}{room} loading="lazy">'

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        if leads_elsewhere(str(token.attrs["href"])):
            token.attrs["rel"] = EXTERNAL_REL
        return self.renderToken(tokens, idx, options, env)


def _code_block(content: str, language: str) -> str:
    """A block with a place for a copy button; it scrolls, so the keyboard must reach it."""
    name = f' class="language-{escapeHtml(language)}"' if language else ""
    code = f'<pre tabindex="0"><code{name}>{escapeHtml(content)}</code></pre>'
    return f'<div class="code-block" data-copy="">{code}</div>\n'
