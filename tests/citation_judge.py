"""Judges a delivered answer by what a Markdown parser makes of it, not by the writer's code.

The judge knows the writer's promise and nothing of how it is kept: what stands in code
as the manual defines it is set aside, the rest is given to a CommonMark parser with tables.
"""

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.common.utils import stripEscape
from markdown_it.token import Token

from assistant.provenance import Ledger

_NUMBER = re.compile(r"\[([1-9][0-9]{0,2})\]")
_FENCE = re.compile(r"(?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)", re.DOTALL)
_ITEM = re.compile(r"[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t\r\n]|\Z)")
_BARE = re.compile(
    r"(?<![A-Za-z])https?://[^\s\x00-\x1f\x7f<>()\[\]{}\"'`|\\【】。]+", re.IGNORECASE
)
_LIVE = re.compile(r"[^\s`]")


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    # Escaped characters stay tokens of their own: they are no part of a number.
    return markdown.disable("text_join")


_MARKDOWN = _parser()


def invented(text: str, ledger: Ledger) -> list[str]:
    """What the text links, shows or cites without the ledger's leave."""
    links = _normalised(ledger.links)
    images = _normalised(ledger.images)
    found = []
    for token in _inline_tokens(without_code(text)):
        if token.type == "link_open" and token.attrs["href"] not in links:
            found.append(f"link {token.attrs['href']}")
        elif token.type == "image" and token.attrs["src"] not in images:
            found.append(f"image {token.attrs['src']}")
        elif token.type == "text":
            numbers = map(int, _NUMBER.findall(token.content))
            found += [f"number {number}" for number in numbers if number not in ledger.numbers]
            bare = (match[0].rstrip(".,;:!?*_~") for match in _BARE.finditer(token.content))
            hosted = [address for address in bare if not address.endswith("://")]
            found += [f"address {address}" for address in hosted if address not in ledger.links]
    return found


def numbers_in(text: str) -> list[int]:
    """The numbers that the text cites, in order, as its source has them."""
    unescaped = re.sub(r"\\[!-/:-@\[-`{-~]", "xx", without_code(text))
    return [int(number) for number in _NUMBER.findall(unescaped)]


def without_code(text: str) -> str:
    """The text with a letter for each character of code, as the manual says what code is."""
    lines = []
    fence = ""
    after_blank, in_list, in_code = True, False, False
    for line in re.split(r"(?<=\n)", text):
        opening = _FENCE.fullmatch(line)
        is_indented = re.match(r" {4}| {0,3}\t", line) and line.strip(" \t\r\n")
        is_heading = re.match(r"[ \t>]*#{1,6}[ \t\r\n]", line)
        if fence:
            closes = re.fullmatch(rf"[ \t>]*{fence[0]}{{{len(fence)},}}[ \t\r\n]*", line)
            lines.append(line if closes else _LIVE.sub("x", line))
            fence = "" if closes else fence
            after_blank = False
            continue
        if is_indented and not in_list and (after_blank or in_code):
            lines.append(_LIVE.sub("x", line))
            after_blank, in_code = False, True
            continue
        if not line.strip(" \t\r\n>"):
            after_blank = True
            lines.append(line)
            continue
        if _ITEM.match(line):
            in_list = True
        elif is_heading or (after_blank and not line[0].isspace()):
            in_list = False
        after_blank = in_code = False
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            fence = opening[1]
            lines.append(line[: opening.start(2)] + _LIVE.sub("x", opening[2]))
        else:
            lines.append(_without_spans(line))
    return "".join(lines)


def _without_spans(line: str) -> str:
    out, position = [], 0
    for match in re.finditer(r"\\.|`+", line, re.DOTALL):
        if match.start() < position or match[0].startswith("\\"):
            continue
        closing = re.compile(rf"(?<!`){match[0]}(?!`)").search(line, match.end())
        if closing:
            out.append(line[position : match.end()])
            out.append(_LIVE.sub("x", line[match.end() : closing.start()]))
            position = closing.start()
            out.append(line[position : closing.end()])
            position = closing.end()
    return "".join([*out, line[position:]])


def _inline_tokens(text: str) -> Iterator[Token]:
    stack = list(reversed(_MARKDOWN.parse(text)))
    while stack:
        token = stack.pop()
        yield token
        stack.extend(reversed(token.children or []))


def _normalised(addresses: Iterable[str]) -> set[str]:
    return {_MARKDOWN.normalizeLink(stripEscape(address)) for address in addresses}
