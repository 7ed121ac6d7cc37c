"""The last gate lets through what our renderers write, whatever HTML reaches it."""

from __future__ import annotations

from typing import Any

import pytest

from articles.addresses import ARTICLE_ADDRESSES, Addresses, has_safe_scheme, leads_elsewhere
from articles.markup.sanitising import sanitiser

NOTHING = sanitiser(Addresses(link=lambda _: False, image=lambda _: False), heading_ids=False)
ARTICLES = sanitiser(ARTICLE_ADDRESSES, heading_ids=True)


@pytest.mark.parametrize(
    ("html", "clean"),
    [
        ("<script>alert(1)</script>a", "a"),
        ("<style>p{}</style>a", "a"),
        ("<p onclick=alert(1) style=color:red>a</p>", "<p>a</p>"),
        ("<iframe src=//evil.example></iframe>a", "a"),
        ("<svg><script>alert(1)</script></svg>a", "a"),
        ("<!-- a -->b", "b"),
        ('<h2 id="main">a</h2>', "<h2>a</h2>"),
        ('<p class="citation">a</p>', "<p>a</p>"),
        ('<div class="callout callout-evil" role="alert">a</div>', "<div>a</div>"),
        ('<a rel="opener" target="_blank">a</a>', "<a>a</a>"),
        ('<code class="language-js citation">a</code>', "<code>a</code>"),
        ('<code class="language-c++">a</code>', '<code class="language-c++">a</code>'),
        ('<pre tabindex="5">a</pre>', "<pre>a</pre>"),
        ('<a href="/known/">a</a><img src="/known.png" alt="b">', '<a>a</a><img alt="b">'),
    ],
)
def test_only_what_is_listed_passes(html: str, clean: str) -> None:
    assert NOTHING.clean(html) == clean


def test_addresses_are_decided_once_more_on_the_finished_html() -> None:
    gate = sanitiser(Addresses({"/a/"}.__contains__, {"/b.png"}.__contains__), heading_ids=False)
    html = '<a href="/a/">x</a><a href="/c/">y</a><img src="/b.png"><img src="/d.png">'
    assert gate.clean(html) == '<a href="/a/">x</a><a>y</a><img src="/b.png"><img>'


def test_a_permitted_address_still_needs_a_permitted_scheme() -> None:
    gate = sanitiser(Addresses(link=lambda _: True, image=lambda _: True), heading_ids=False)
    html = '<a href="javascript:alert(1)">x</a><img src="data:image/png;base64,AAAA">'
    assert gate.clean(html) == "<a>x</a><img>"


def test_an_image_has_a_size_in_pixels_or_none() -> None:
    own = '<img src="/media/a.png" width="640" height="480">'
    assert ARTICLES.clean(own) == own
    for value in ("0", "-1", "1e9", "100%", "999999", "٣", ""):
        html = f'<img src="/media/a.png" width="{value}" height="{value}">'
        assert ARTICLES.clean(html) == '<img src="/media/a.png">'


def test_headings_of_articles_keep_their_ids() -> None:
    html = '<h2 id="größe">a</h2>'
    assert sanitiser(ARTICLE_ADDRESSES, heading_ids=True).clean(html) == html
    assert sanitiser(ARTICLE_ADDRESSES, heading_ids=False).clean(html) == "<h2>a</h2>"


@pytest.mark.parametrize(
    ("address", "is_safe", "is_elsewhere"),
    [
        ("/a", True, False),
        ("#a", True, False),
        ("?a=b:c", True, False),
        ("a/b:c", True, False),
        ("a//b", True, False),
        ("https://e.example/a", True, True),
        ("HTTP://e.example", True, True),
        ("//e.example", True, True),
        ("mailto:a@e.example", True, False),
        ("TEL:+49", True, False),
        ("javascript:x", False, False),
        ("data:text/html,x", False, False),
        ("a:b", False, False),
    ],
)
def test_what_articles_may_link(address: str, is_safe: bool, is_elsewhere: bool) -> None:
    assert has_safe_scheme(address) is is_safe
    assert leads_elsewhere(address) is is_elsewhere


@pytest.mark.parametrize(
    ("address", "is_permitted"),
    [
        ("/media/a.png", True),
        ("/static/a.png", True),
        ("a.png", True),
        ("../a.png", True),
        ("/other/a.png", False),
        ("//evil.example/a.png", False),
        ("//img.example/a.png", True),
        ("https://img.example/a.png", True),
        ("https://IMG.example:8000/a.png", True),
        ("https://img.example.evil.example/a.png", False),
        ("https://img.example@evil.example/a.png", False),
        ("https://evil.example?img.example", False),
        ("data:image/png;base64,AAAA", False),
        ("javascript:x", False),
    ],
)
def test_which_images_articles_may_show(address: str, is_permitted: bool, settings: Any) -> None:
    settings.IMAGE_HOSTS = ["img.example"]
    settings.MEDIA_URL, settings.STATIC_URL = "/media/", "/static/"
    assert ARTICLE_ADDRESSES.image(address) is is_permitted


@pytest.mark.parametrize("prefix", ["/", "", None])
def test_a_site_whose_files_are_elsewhere_permits_no_path(
    prefix: str | None, settings: Any
) -> None:
    settings.MEDIA_URL = settings.STATIC_URL = prefix
    assert not ARTICLE_ADDRESSES.image("/other/a.png")


def test_an_image_of_another_site_does_not_pass_into_an_article() -> None:
    assert ARTICLES.clean('<img src="https://evil.example/x.png" alt="a">') == '<img alt="a">'
