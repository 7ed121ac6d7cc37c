"""Addresses: what they lead to, and which stand in a text."""

import pytest

from assistant.writing.addresses import (
    Address,
    addresses_in,
    end_of_bare,
    escaped,
    fragment_of,
    parse,
    path_key,
    resolve,
    without_trailing,
)


@pytest.mark.parametrize(
    ("dest", "address"),
    [
        ("/articles/a/", Address("site", path="/articles/a")),
        ("articles/a", Address("site", path="articles/a")),
        ("", Address("site", path="/")),
        ("/", Address("site", path="/")),
        ("#part", Address("site", path="/", fragment="part")),
        ("?q=1", Address("site", path="/")),
        ("/a/?q=1#p", Address("site", path="/a", fragment="p")),
        ("https://h.example/a/", Address("foreign", "h.example", "/a")),
        ("HTTPS://H.Example/a", Address("foreign", "h.example", "/a")),
        ("https://h.example:443/a", Address("foreign", "h.example", "/a")),
        ("http://h.example:443/a", Address("foreign", "h.example:443", "/a")),
        ("http://h.example:80", Address("foreign", "h.example", "/")),
        ("//h.example/a", Address("foreign", "h.example", "/a")),
        ("//h.example:443/a", Address("foreign", "h.example", "/a")),
        ("/a:b/c", Address("site", path="/a:b/c")),
        ("/a//b/c", Address("site", path="/a//b/c")),
        ("https://h.example/a:b:c", Address("foreign", "h.example", "/a:b:c")),
        ("https://h.example//a/b", Address("foreign", "h.example", "//a/b")),
        ("https://[::1]:8000/a", Address("foreign", "[::1]:8000", "/a")),
        ("mailto:a@h.example", Address("foreign")),
        ("TEL:+491234", Address("foreign")),
    ],
)
def test_what_an_address_leads_to(dest: str, address: Address) -> None:
    assert parse(dest) == address


@pytest.mark.parametrize(
    "dest",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "javascript&colon;alert(1)",
        "java\\script\\:x",
        "data:text/html,x",
        "vbscript:x",
        "ftp://h.example/x",
        "a.b+c-d:x",
        "https:/h.example",
        "https:h.example",
        "https://",
        "https:///a",
        "https://user@h.example/a",
        "https://[x]/",
        "https://a b/",
        "/a b",
        "/a\tb",
        "/a\x00b",
        "/a\\\\b",
        "/a<b",
        "https://h.example\\\\@evil.example/",
        "/a&#10;b",
    ],
)
def test_what_cannot_be_judged_is_unsafe(dest: str) -> None:
    assert parse(dest) == Address("unsafe")


def test_entities_and_escapes_are_resolved_as_markdown_does() -> None:
    assert resolve(r"/a\_b&amp;c\x") == r"/a_b&c\x"
    assert parse(r"https\://h.example/a&#47;b") == Address("foreign", "h.example", "/a/b")


@pytest.mark.parametrize(
    "url",
    [
        *("/a/b", "/a/b/", "/a/b//", "/a/b?x", "/a/b/#y", "/a%2Fb/", "/%61/b"),
        *("https://h.example/a/b", "//h.example/a/b/"),
    ],
)
def test_spellings_of_one_page_share_a_key(url: str) -> None:
    assert path_key(url) == "/a/b"


def test_other_pages_have_other_keys() -> None:
    urls = ("/", "/a", "/A", "/a/b", "a", "/x:a", "/x:y:a", "//h/x:a/b", "//h//a", "/x//y/a")
    assert len({path_key(url) for url in urls}) == len(urls)


@pytest.mark.parametrize(
    ("fragment", "written"),
    [
        ("part-2", "#part-2"),
        ("part(2)", ""),
        ("部分", "#部分"),
        ("a%20b", "#a%20b"),
        ("", ""),
        (")[z](/x", ""),
        ("a b", ""),
        ("a\n", ""),
        ("a#b", ""),
        ("<x>", ""),
    ],
)
def test_a_fragment_is_kept_where_it_has_only_characters_of_addresses(
    fragment: str, written: str
) -> None:
    assert fragment_of(Address("site", fragment=fragment)) == written


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("https://e.example/x", r"https\://e.example/x"),
        ("https://e.example/http://f.example", r"https\://e.example/http\://f.example"),
        ("<mailto:a@e.example>", r"<mailto\:a@e.example>"),
        ("<https://e.example/a:b>", r"<https\://e.example/a:b>"),
        ("<a@e.example>", r"<a\@e.example>"),
        ("<https://e.example/`[a](b)\\>", r"<https\://e.example/\`\[a\](b)\\>"),
        ("https://e.example:8000/x", r"https\://e.example:8000/x"),
    ],
)
def test_an_escaped_address_links_nothing(address: str, written: str) -> None:
    assert escaped(address) == written


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://h.example/a.", "https://h.example/a"),
        ("https://h.example/a), b", "https://h.example/a"),
        ("https://h.example/a_(b)_c) d", "https://h.example/a_(b)_c"),
        ("https://h.example/a_(b c)", "https://h.example/a_(b"),
        ("https://h.example/a。b", "https://h.example/a"),
        ("https://h.example/a」b", "https://h.example/a"),
        ("https://h.example/a|b", "https://h.example/a"),
        ("https://h.example/a\\b", "https://h.example/a"),
        ('https://h.example/a"b', "https://h.example/a"),
        ("https://h.example/a“b", "https://h.example/a"),
        ("https://h.example/a]b", "https://h.example/a"),
        ("https://h.example/a<b", "https://h.example/a"),
        ("https://h.example/a?b=c&d#e;", "https://h.example/a?b=c&d#e"),
        ("https://h.example/密码 x", "https://h.example/密码"),
        ("https://h.example/**", "https://h.example/"),
    ],
)
def test_where_a_bare_address_ends(text: str, found: str) -> None:
    assert without_trailing(text[: end_of_bare(text, len("https://"))]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", set()),
        ("no address", set()),
        (
            "See https://h.example/a, or HTTP://h.example/b.",
            {"https://h.example/a", "HTTP://h.example/b"},
        ),
        ("xhttps://h.example/a", set()),
        ("参照https://h.example/a。", {"https://h.example/a"}),
        ("<mailto:a@h.example> <tel:+49>", {"mailto:a@h.example", "tel:+49"}),
        ("[a](/b/c) ![i](/media/i.png)", {"/b/c", "/media/i.png"}),
        ('[a]( /b "title") [c](</d e>)', {"/b", "/d e"}),
        ("[a](/b_(c)) [d](/e)f)", {"/b_(c)", "/e"}),
        ("[a](\n/b)", {"/b"}),
        ("[a](/b)[c](/d)|[e](/f)|<g@h.example><i:j>", {"/b", "/d", "/f", "mailto:g@h.example"}),
        ("[a]() [b](<>) <b> <i:> < c:d> [e](<f g)", set()),
        ("[a]: /b/c 'title'", {"/b/c"}),
        ("](/b) of a label that began before", {"/b"}),
        ("https://h.example/https://i.example", {"https://h.example/https://i.example"}),
    ],
)
def test_the_addresses_that_stand_in_a_text(text: str, found: set[str]) -> None:
    assert addresses_in(text) == found
