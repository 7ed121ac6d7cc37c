"""The texts that benches search: help of real products, fetched once.

Debian's packages of the LibreOffice help are downloaded with `apt-get download` and
unpacked without root into the cache folder; a page keeps what a help center would have
of it. Where a package cannot be had, the bench ends and says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"
CACHE = Path(tempfile.gettempdir()) / "helpcenter-bench"

PACKAGE = "libreoffice-help-{}"
PAGES = "usr/share/libreoffice/help"

_TEXT = re.compile(rb'<div id="DisplayArea".*(?=<div id="SearchFrame")', re.DOTALL)
_TITLE = re.compile(rb"<title>.*?</title>", re.DOTALL)


_IMPORT = re.compile("^import .*$", re.MULTILINE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | {"p", "li", "td", "th", "tr", "div", "pre", "title"}


class Article(NamedTuple):
    """An article as a bench stores it; `language` is a base code, `category` a path of names."""

    id: str
    title: str
    text: str
    language: str
    category: str = ""


class QuestionSet(NamedTuple):
    """`relevant` has, for each question, the ids of the articles that answer it."""

    articles: list[Article]
    questions: list[str]
    relevant: list[set[str]]


def wixqa() -> QuestionSet:
    """160 questions of a help center's users, and its 173 articles that answer them."""
    data = json.loads((_shared() / "retrieval/wixqa-sample.json").read_text(encoding="utf-8"))
    items = data["questions"]
    return QuestionSet(
        [Article(item["id"], item["title"], item["text"], "en") for item in data["articles"]],
        [item["question"] for item in items],
        [set(item["articles"]) for item in items],
    )


def plausible() -> Path:
    """The folder of another product's documentation, 132 articles."""
    return _shared() / "corpora/plausible-docs/docs"


def plausible_articles() -> list[Article]:
    """The same documentation as articles."""
    folder = plausible()
    found = []
    for page in sorted([*folder.rglob("*.md"), *folder.rglob("*.mdx")]):
        source = page.read_text(encoding="utf-8")
        text = _IMPORT.sub("", source.partition("---\n")[2].partition("---\n")[2])
        title = re.search(r"^title: *(.+)$", source, re.MULTILINE)
        name = page.relative_to(folder).as_posix()
        found.append(Article(f"plausible/{name}", title[1] if title else name, text, "en"))
    return found


def store(articles: Iterable[Article]) -> None:
    """Make these articles, published and not yet indexed, without the care of an import."""
    from django.utils import timezone

    from articles.models import Article as Row
    from articles.models import ArticleRevision, Category, Status

    wanted = list(articles)
    names = sorted({one.category for one in wanted if one.category})
    categories = {
        name: Category.objects.get_or_create(name=name, defaults={"slug": name.replace("/", "-")})[
            0
        ]
        for name in names
    }
    now = timezone.now()
    rows = Row.objects.bulk_create(
        (
            Row(
                title=one.title[:200], slug=uuid4().hex, body=one.text, language=one.language,
                external_id=one.id, category=categories.get(one.category),
            )
            for one in wanted
        ),
        batch_size=500,
    )  # fmt: skip
    revisions = ArticleRevision.objects.bulk_create(
        (
            ArticleRevision(
                article=row, number=1, title=row.title, body=row.body, language=row.language,
                content_hash=row.content_hash(),
            )
            for row in rows
        ),
        batch_size=500,
    )  # fmt: skip
    for row, revision in zip(rows, revisions, strict=True):
        row.live_revision, row.status, row.published_at = revision, Status.PUBLISHED, now
    Row.objects.bulk_update(rows, ["live_revision", "status", "published_at"], batch_size=500)


def _shared() -> Path:
    if not SHARED.is_dir():
        sys.exit(f"needs the question set and the corpora in {SHARED}")
    return SHARED


def libreoffice(language: str, cache: Path) -> Path:
    """The folder of the LibreOffice help in a language (`en-us`, `de`): 2,560 HTML pages."""
    folder = cache / "pages" / language
    if not folder.is_dir():
        draft = cache / "pages" / f"{language}.new"
        shutil.rmtree(draft, ignore_errors=True)
        for page in sorted(_unpacked(language, cache).rglob("text/**/*.html")):
            target = draft / Path(*page.parts[page.parts.index("text") + 1 :])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_cleaned(page.read_bytes(), language))
        draft.rename(folder)
    return folder


def libreoffice_articles(language: str, cache: Path) -> list[Article]:
    """The same pages as articles in plain Markdown: headings and paragraphs. Some milliseconds
    a page less than an import takes, where the import is not what is measured."""
    folder = libreoffice(language, cache)
    articles = []
    for page in sorted(folder.rglob("*.html")):
        reader = _Paragraphs()
        reader.feed(page.read_text(encoding="utf-8"))
        reader.close()
        name = page.relative_to(folder).with_suffix("").as_posix()
        title, text = reader.finished(name)
        base = language.partition("-")[0]
        articles.append(Article(f"{language}/{name}", title, text, base, name.rpartition("/")[0]))
    return articles


class _Paragraphs(HTMLParser):
    """The headings and paragraphs of a page."""

    def __init__(self) -> None:
        super().__init__()
        self._title = ""
        self._blocks: list[str] = []
        self._words: list[str] = []

    def finished(self, name: str) -> tuple[str, str]:
        """Title and text of the page `name`."""
        self._end("")
        return self._title or name, "\n\n".join(self._blocks)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _BLOCKS:
            self._end("")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    def _end(self, tag: str) -> None:
        text, self._words = " ".join("".join(self._words).split()), []
        if not text or tag == "title":
            return
        if tag == "h1" and not self._title:
            self._title = text
        else:
            self._blocks.append(f"{'#' * int(tag[1])} {text}" if tag in _HEADINGS else text)


def _unpacked(language: str, cache: Path) -> Path:
    package = PACKAGE.format(language)
    downloads, tree = cache / "packages", cache / "unpacked" / package
    if not tree.is_dir():
        downloads.mkdir(parents=True, exist_ok=True)
        draft = tree.with_suffix(".new")
        draft.parent.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(
                ["apt-get", "download", "-qq", package], cwd=downloads, check=True,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            archive = next(downloads.glob(f"{package}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", str(archive), str(draft)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(
                f"needs Debian's package {package}, and could not get it with apt-get download "
                f"and dpkg-deb -x ({error}); unpacked elsewhere, it may be copied to {tree}"
            )
        draft.rename(tree)
    return next(path for path in (tree / PAGES).iterdir() if (path / "text").is_dir())


def _cleaned(page: bytes, language: str) -> bytes:
    """A page without the frame that every one of them repeats."""
    text, title = _TEXT.search(page), _TITLE.search(page)
    if text is None or title is None:
        return page
    start = f'<html lang="{language}">'.encode()
    return b"%s<head>%s</head><body><main>%s</main></body></html>" % (start, title[0], text[0])


def load_average() -> str:
    """What else the machine is doing: figures mean little without it."""
    one, _five, _fifteen = os.getloadavg()
    return f"load {one:.1f} on {os.cpu_count()} cores"
