"""From the files of a source to documents: what each article is to be, before links are followed.

A document's body is Markdown in the product's own dialect, but its links and images
still say what the file says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from articles.importing import frontmatter
from articles.importing.exports import Entry, Export, read_export
from articles.importing.frontmatter import Fields
from articles.importing.html import fragment_to_markdown, read_page
from articles.importing.mdx import to_markdown
from articles.importing.report import CannotImportError, Kind, Report
from articles.importing.sources import Source
from articles.markup.outline import sections
from articles.models import Status, Visibility
from articles.models.content import BODY_LENGTH
from articles.rendering import has_text

MAX_TITLE = 250
MAX_SUMMARY = 500
MAX_CATEGORY = 120
MAX_EXTERNAL_ID = 300
"""Characters of one article, without the pictures in it."""

MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
HTML = frozenset({".html", ".htm"})
IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".bmp", ".ico"})
_INDEX = frozenset({"index", "readme"})
_SITE_FOLDERS = frozenset({"docs", "content", "src"})
"""Where site generators keep all pages: no category of anything."""
_NO_ARTICLE = re.compile(r"(?:licen[cs]e|copying|notice)(?:[.-].*)?", re.IGNORECASE)

_DATA_PAYLOAD = re.compile(
    r"(data:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*,)[^\s\"'<>()\[\]]{40,}", re.IGNORECASE
)
_ATX = re.compile(r" {0,3}#{1,6}[ \t]")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Options:
    """How to import.

    `prefix` stands before every external id, `encoding` is what files are in that are
    not UTF-8, `site` the address at which the files were published so far.
    """

    prefix: str = ""
    encoding: str = ""
    site: str = ""
    overwrite: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class Document:
    """An article as its file wants it.

    `path` names it in the report, `folder` is what its relative links start from, `slug`
    is the one it asks for or empty, and `slug_source` what a new one is made from.
    `addresses` are others by which links may name it.
    """

    path: str
    folder: str
    external_id: str
    title: str
    summary: str
    body: str
    slug: str
    slug_source: str
    category: tuple[str, ...]
    status: Status
    visibility: Visibility
    language: str
    date: datetime | None
    position: int
    addresses: tuple[str, ...] = ()
    title_anchor: str = ""


def read_documents(source: Source, options: Options, report: Report) -> Iterator[str | Document]:
    """Reads every file; yields its path when it was looked at, and the documents in it.

    What cannot become a document stands in `report`.
    """
    groups = _groups(source, options)
    pages = _Pages(report)
    for path in source.paths:
        try:
            yield from _documents_of(path, source, options, report, groups, pages)
        except CannotImportError as error:
            report.fail(path, str(error))
        yield path


def _documents_of(
    path: str,
    source: Source,
    options: Options,
    report: Report,
    groups: dict[str, str],
    pages: _Pages,
) -> Iterator[Document]:
    name = PurePosixPath(path)
    if name.name.startswith("_") or _NO_ARTICLE.fullmatch(name.stem):
        report.skipped[name.name if not name.name.startswith("_") else "_…"] += 1
    elif name.suffix.lower() in MARKDOWN:
        yield _from_markdown(path, source.read(path), options, report)
    elif name.suffix.lower() in HTML:
        yield _from_html(path, source.read(path), options, report)
    elif name.suffix.lower() == ".json":
        yield from _from_export(path, source.read(path), options, report, groups, pages)
    elif name.suffix.lower() not in IMAGES:
        report.skipped[name.suffix.lower() or name.name] += 1


def _from_markdown(path: str, data: bytes, options: Options, report: Report) -> Document:
    values, text = frontmatter.split(frontmatter.decode(data, options.encoding))
    fields = frontmatter.interpret(values)
    converted = to_markdown(_without_payloads(text), is_mdx=path.lower().endswith(".mdx"))
    report.ignored_keys.update(fields.ignored)
    report.left_out.update(converted.left_out)
    return _document(path, fields, converted.text, options, report)


def _from_html(path: str, data: bytes, options: Options, report: Report) -> Document:
    page = read_page(data)
    fields = Fields(title=page.title, summary=page.summary)
    fields.language = frontmatter.language(page.language, fields.notes)
    return _document(path, fields, _without_payloads(page.text), options, report)


def _from_export(
    path: str,
    data: bytes,
    options: Options,
    report: Report,
    groups: dict[str, str],
    pages: _Pages,
) -> Iterator[Document]:
    export = read_export(frontmatter.decode(data, options.encoding))
    if export is None:
        report.skipped[".json"] += 1
        return
    for problem in export.problems:
        report.fail(f"{path}, {problem}", "cannot be told apart from others on the next import")
    for entry in pages.new_entries(path, export):
        name = f"{path}#{entry.id.split(':')[1]}"
        try:
            yield _from_entry(name, entry, groups, options, report)
        except CannotImportError as error:
            report.fail(name, str(error))


def _from_entry(
    path: str, entry: Entry, groups: dict[str, str], options: Options, report: Report
) -> Document:
    fields = Fields(title=entry.title, summary=entry.summary, id=entry.id, date=entry.date)
    fields.language = frontmatter.language(entry.language, fields.notes)
    fields.category = (groups[entry.group],) if groups.get(entry.group) else ()
    fields.status = Status.DRAFT if entry.is_draft else Status.PUBLISHED
    if entry.is_restricted:
        fields.visibility = Visibility.STAFF
        fields.notes.append("it was shown to some readers only, so staff alone may read it")
    body = fragment_to_markdown(_without_payloads(entry.html))
    if not entry.title and len(sections(body)) < 2:
        raise CannotImportError("it has no title")
    document = _document(path, fields, body, options, report)
    document.addresses = entry.addresses
    document.slug_source = document.title
    return document


class _Pages:
    """What the pages of exports held so far: a page that comes again is reported, not doubled."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.seen: set[str] = set()
        self.next_pages: dict[str, str] = {}

    def new_entries(self, path: str, export: Export) -> list[Entry]:
        """The articles that no earlier page held."""
        new = []
        for entry in export.entries:
            if entry.id not in self.seen:
                self.seen.add(entry.id)
                new.append(entry)
        if export.entries and not new:
            self.report.fail(path, "repeats a page: all of its articles stand in an earlier file")
        elif len(new) < len(export.entries):
            count = len(export.entries) - len(new)
            self.report.add(Kind.NOTE, path, f"{count} of its articles stand in an earlier file")
        self._check_next(path, export)
        return new

    def _check_next(self, path: str, export: Export) -> None:
        other = self.next_pages.setdefault(export.next_page, path) if export.next_page else path
        if export.names_itself_next:
            self.report.fail(path, "names itself as the next page, so the export stops here")
        elif other != path:
            self.report.fail(path, f"names the same next page as {other}: the export is incomplete")


def _groups(source: Source, options: Options) -> dict[str, str]:
    """The names of sections and collections by id, from all exports of the source."""
    groups: dict[str, str] = {}
    for path in source.paths:
        if path.lower().endswith(".json"):
            try:
                export = read_export(frontmatter.decode(source.read(path), options.encoding))
            except CannotImportError:
                continue  # reported when its articles are read
            groups |= export.groups if export else {}
    return groups


def _document(path: str, fields: Fields, text: str, options: Options, report: Report) -> Document:
    file = PurePosixPath(path.split("#")[0])
    title, body, title_anchor = _titled(fields.title, text)
    title = title or _title_of_file(file)
    if len(body) > BODY_LENGTH:
        raise CannotImportError(f"longer than {BODY_LENGTH:,} characters")
    if fields.status == Status.PUBLISHED and not has_text(body):
        fields.status = Status.DRAFT
        fields.notes.append("it has no text, so it is a draft")
    external_id = options.prefix + (fields.id or path)
    if len(external_id) > MAX_EXTERNAL_ID:
        raise CannotImportError(f"its id or path is longer than {MAX_EXTERNAL_ID} characters")
    document = Document(
        path=path,
        folder=file.parent.as_posix() if file.parent.name else "",
        external_id=external_id,
        title=_cut(title, MAX_TITLE, "title", fields.notes),
        summary=_cut(fields.summary, MAX_SUMMARY, "description", fields.notes),
        body=body,
        slug=fields.slug,
        slug_source=_name_of_file(file),
        category=_category(fields, file),
        status=fields.status,
        visibility=fields.visibility,
        language=fields.language,
        date=fields.date,
        position=fields.position,
        title_anchor=title_anchor,
    )
    for note in fields.notes:
        report.add(Kind.NOTE, path, note)
    return document


def _category(fields: Fields, file: PurePosixPath) -> tuple[str, ...]:
    """What the front matter says, or else the folders."""
    levels = fields.category
    if levels is None:
        parts = file.parent.parts
        parts = parts[1:] if parts and parts[0].lower() in _SITE_FOLDERS else parts
        levels = tuple(_readable(part) for part in parts)
    return tuple(level[:MAX_CATEGORY] for level in levels)


def _titled(title: str, text: str) -> tuple[str, str, str]:
    """The title, the text without a heading that only repeats it, and that heading's anchor.

    Without a title the first heading is it. It goes from the text where it stands before
    everything else or is of the first level.
    """
    found = sections(text)
    if len(found) < 2:
        return title, text, ""
    before, heading = found[0], found[1]
    is_head = heading.level == 1 or not any(line.strip() for line in before.body)
    is_title = heading.title and (not title or heading.title.casefold() == title.casefold())
    if not is_title or (title and not is_head):
        return title, text, ""
    if not is_head:
        return heading.title, text, ""
    return title or heading.title, _without_heading(text, len(before.body)), heading.anchor


def _without_heading(text: str, start: int) -> str:
    lines = text.split("\n")
    end = start + 1
    if not _ATX.match(lines[start]):
        while not _UNDERLINE.match(lines[end]):
            end += 1
        end += 1
    return "\n".join(lines[:start] + lines[end:]).strip("\n")


def _without_payloads(text: str) -> str:
    """Without the bytes of pictures that stand in the text itself."""
    return _DATA_PAYLOAD.sub(r"\1…", text)


def _cut(text: str, limit: int, what: str, notes: list[str]) -> str:
    if len(text) <= limit:
        return text
    notes.append(f"its {what} is cut to {limit} characters")
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip() + "…"


def _name_of_file(file: PurePosixPath) -> str:
    """The file's name without its ending; an index has its folder's."""
    return file.parent.name if file.stem.lower() in _INDEX and file.parent.name else file.stem


def _title_of_file(file: PurePosixPath) -> str:
    return _readable(_name_of_file(file))


def _readable(name: str) -> str:
    """A name of the file system as words: `custom-props` is “Custom props”."""
    words = " ".join(re.sub(r"[-_]+", " ", name).split())
    return words[:1].upper() + words[1:] if words else name
