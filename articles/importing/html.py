"""HTML pages and fragments as Markdown, by markdownify."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag, XMLParsedAsHTMLWarning
from markdownify import ATX, MarkdownConverter

from articles.importing.report import CannotImportError
from articles.importing.writer import destination, escaped, media_link
from articles.markup.outline import normalised

_NO_CONTENT = ["script", "style", "noscript", "template", "svg", "form", "nav", "button", "input"]
_MAIN = ["article", "main", "body"]
"""Where a page's own text is, the most telling first."""
_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#-]+)")


@dataclass(frozen=True, slots=True)
class Page:
    """What a saved page says of itself, and its text as Markdown."""

    title: str
    summary: str
    language: str
    text: str


def read_page(data: bytes | str) -> Page:
    """A whole HTML page: its main part, without navigation, header and footer.

    The page's own declaration decides how its bytes are read.
    """
    soup = _soup(data)
    content = next((tag for name in _MAIN if (tag := soup.select_one(name))), soup)
    if content.name not in _MAIN[:2]:
        for tag in content.find_all(["header", "footer"]):
            tag.decompose()
    title = soup.select_one("h1") or soup.select_one("title")
    return Page(
        title=" ".join(title.get_text().split()) if title else "",
        summary=_attribute(soup.select_one("meta[name=description i]"), "content"),
        language=_attribute(soup.select_one("html"), "lang"),
        text=_markdown(content),
    )


def fragment_to_markdown(html: str) -> str:
    """The HTML of an article's body as Markdown."""
    return _markdown(_soup(html))


def _soup(data: bytes | str) -> BeautifulSoup:
    if (
        isinstance(data, bytes)
        and b"\0" in data
        and not data.startswith((b"\xff\xfe", b"\xfe\xff"))
    ):
        raise CannotImportError("not a text file: it holds NUL characters")
    with warnings.catch_warnings():
        # XHTML is read as HTML, and a body may be nothing but an address: neither is worth a word.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        return BeautifulSoup(data, "html.parser")


def _make_safe_for_markdown(tag: Tag) -> None:
    """Addresses and labels as they stand in Markdown, which markdownify copies as they are."""
    for name in ("href", "src"):
        if tag.has_attr(name):
            tag[name] = destination(_attribute(tag, name))
    if tag.has_attr("alt"):
        tag["alt"] = escaped(_attribute(tag, "alt"))


def _attribute(tag: Tag | None, name: str) -> str:
    value = tag.get(name) if tag else None
    return " ".join(value.split()) if isinstance(value, str) else ""


def _markdown(content: Tag) -> str:
    for tag in content.find_all(_NO_CONTENT):
        tag.decompose()
    for tag in content.find_all(["a", "img"]):
        _make_safe_for_markdown(tag)
    try:
        text = _Converter().convert_soup(content)
    except RecursionError as error:
        raise CannotImportError("its tags are nested too deeply") from error
    return re.sub(r"\n{3,}", "\n\n", normalised(text).replace("\xa0", " ")).strip()


class _Converter(MarkdownConverter):
    """markdownify in this product's Markdown: anchors kept, films as links, callouts for asides."""

    class Options:
        heading_style = ATX
        bullets = "-"
        keep_inline_images_in = ["td", "th"]
        escape_underscores = False
        code_language_callback = staticmethod(lambda tag: _code_language(tag))

    def convert_hN(  # noqa: N802, the library's name
        self, n: int, el: Tag, text: str, parent_tags: set[str]
    ) -> str:
        """A heading with its own anchor, which links name it by."""
        title = " ".join(text.split())
        if "_inline" in parent_tags or not title:
            return text
        anchor = _attribute(el, "id")
        return f"\n\n{'#' * min(n, 6)} {title}{f' {{#{anchor}}}' if anchor else ''}\n\n"

    def convert_iframe(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return media_link(_attribute(el, "src"), _attribute(el, "title"), el.name)

    def convert_video(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        nested = el.select_one("source")
        address = _attribute(el, "src") or _attribute(nested, "src")
        return media_link(address, _attribute(el, "title"), el.name)

    convert_audio = convert_video

    def convert_summary(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n**{text.strip()}**\n\n" if text.strip() else ""

    def convert_details(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"


def _code_language(pre: Tag) -> str:
    for tag in [pre, *pre.find_all("code", limit=1)]:
        classes = tag.get("class")
        match = _LANGUAGE.search(" ".join(classes)) if isinstance(classes, list) else None
        if match:
            return match[1]
    return ""
