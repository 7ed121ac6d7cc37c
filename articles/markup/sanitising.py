"""The last gate before a page: an allow-list of what our renderers write, and nothing else.

It knows no Markdown. Whatever the parser made of a text, an element, attribute or value
that is not listed here is gone, and the decisions on addresses are taken once more on
the finished HTML.
"""

from __future__ import annotations

import re

import nh3

from articles.addresses import SCHEMES, Addresses

_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_BARE = (
    *("blockquote", "br", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
)
_TAGS = {"a", "code", "div", "img", *_HEADINGS, *_BARE}
_ATTRIBUTES = {
    "a": {"href", "title", "aria-label", "data-source"},
    "code": {"class"},
    "div": {"aria-label"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "span": {"title", "data-source"},
}
_CALLOUTS = {
    f"callout callout-{kind}" for kind in ("note", "tip", "important", "warning", "caution")
}
_ALIGNED = {"class": {"align-left", "align-center", "align-right"}}
_VALUES = {
    "a": {"class": {"anchor", "citation"}, "rel": {"noopener nofollow"}},
    "div": {
        "class": {"code-block", "table-wrap", *_CALLOUTS},
        "role": {"note", "region"},
        "tabindex": {"0"},
        "data-copy": {""},
    },
    "img": {"loading": {"lazy"}},
    "p": {"class": {"callout-title"}},
    "pre": {"tabindex": {"0"}},
    "span": {"class": {"citation"}},
    "td": _ALIGNED,
    "th": _ALIGNED,
}
_PIXELS = re.compile(r"[1-9][0-9]{0,4}")
_LANGUAGE_CLASS = re.compile(r"language-[\w+#.-]+")


def sanitiser(addresses: Addresses, *, heading_ids: bool) -> nh3.Cleaner:
    """A gate for one surface: `clean(html)` returns the HTML that may be shown."""
    ids = {heading: {"id"} for heading in _HEADINGS} if heading_ids else {}
    return nh3.Cleaner(
        tags=_TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES | ids,
        tag_attribute_values=_VALUES,
        attribute_filter=_Filter(addresses),
        url_schemes=set(SCHEMES),
        link_rel=None,
    )


class _Filter:
    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses

    def __call__(self, tag: str, attribute: str, value: str) -> str | None:
        if attribute == "href":
            permitted = self.addresses.link(value)
        elif attribute == "src":
            permitted = self.addresses.image(value)
        elif attribute in ("width", "height"):
            permitted = _PIXELS.fullmatch(value) is not None
        else:
            permitted = tag != "code" or _LANGUAGE_CLASS.fullmatch(value) is not None
        return value if permitted else None
