"""Links between the files of an import, followed to articles and their anchors.

A link that leads nowhere stays as it is and is reported; so is an anchor that no
heading has. A picture that cannot be shown leaves its alternative text.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

from articles.importing.documents import HTML, IMAGES, MARKDOWN, Document
from articles.importing.media import Pictures
from articles.importing.prose import substitute
from articles.importing.report import CannotImportError, Kind, Report
from articles.importing.writer import destination as as_destination
from articles.markup.inline_text import normalised_label
from articles.markup.outline import sections
from articles.models import Status

_DESTINATION = r"(?:<(?P<angle>[^<>\n]*)>|(?P<bare>[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))"
_TITLE = r"(?P<title>\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
_LINK = re.compile(rf"\]\(\s*{_DESTINATION}{_TITLE}\s*\)")
_IMAGE = re.compile(
    rf"!\[(?P<alt>(?:[^\[\]\\]|\\.|\[[^\[\]]{{0,300}}\]){{0,500}})\]\(\s*{_DESTINATION}{_TITLE}\s*\)"
)
_REFERENCE_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]\n]{0,300})\](?:\[(?P<label>[^\[\]\n]{0,300})\])?(?!\()"
)
_DEFINITION = re.compile(
    rf"^(?P<head> {{0,3}}\[(?P<label>[^\[\]\n]{{1,300}})\]:[ \t]*){_DESTINATION}(?P<tail>[^\n]*)$",
    re.MULTILINE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_HELP_DESK_ARTICLE = re.compile(r"https?://(?P<host>[^/]+)/.*?articles/(?P<id>\d+)")
"""A help desk's address of an article: its number counts, the words behind it may change."""
_PAGE_ENDINGS = MARKDOWN | HTML


class Pages:
    """The documents of an import by every name that a link may give them."""

    def __init__(self, documents: Iterable[Document], site: str = "") -> None:
        self._site = site.rstrip("/")
        self._by_path: dict[str, Document] = {}
        self._by_address: dict[str, Document] = {}
        self._by_ending: dict[str, set[str]] = defaultdict(set)
        self._by_number: dict[tuple[str, str], Document] = {}
        for document in documents:
            self._add(document)

    def _add(self, document: Document) -> None:
        for address in document.addresses:
            self._by_address[address] = document
            if number := _HELP_DESK_ARTICLE.match(address):
                self._by_number[number["host"], number["id"]] = document
        for name in _names(document):
            self._by_path.setdefault(name, document)
            self._by_ending[name.rpartition("/")[2]].add(document.path)

    def find(self, document: Document, address: str) -> Document | None:
        """What `address` names when it stands in `document`; None for nothing of this import.

        `address` has no fragment.
        """
        if self._site and f"{address}/".startswith(f"{self._site}/"):
            address = address[len(self._site) :] or "/"
        if _SCHEME.match(address):
            return self._find_elsewhere(address)
        path = _without_ending(unquote(address.split("?")[0]))
        for candidate in _candidates(document, path):
            if candidate in self._by_path:
                return self._by_path[candidate]
        return self._find_by_ending(path)

    def _find_elsewhere(self, address: str) -> Document | None:
        """An address of the site that the export came from."""
        found = self._by_address.get(address.split("?")[0])
        number = _HELP_DESK_ARTICLE.match(address)
        if found or not number:
            return found
        return self._by_number.get((number["host"], number["id"]))

    def _find_by_ending(self, path: str) -> Document | None:
        """The one page that fits when the site's root lies above or below the folder's."""
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        for start in range(1, len(parts)):
            shorter = "/".join(parts[start:])
            if shorter in self._by_path:
                return self._by_path[shorter]
        name = "/".join(parts)
        fitting = {
            self._by_path[known].path: self._by_path[known]
            for known in self._by_path
            if parts and parts[-1] in self._by_ending and known.endswith(f"/{name}")
        }
        return fitting.popitem()[1] if len(fitting) == 1 else None


class Follower:
    """Rewrites the links and pictures of documents, and reports what leads nowhere."""

    def __init__(
        self,
        pages: Pages,
        pictures: Pictures,
        url: Callable[[Document], str],
        report: Report,
    ) -> None:
        self._pages = pages
        self._pictures = pictures
        self._url = url
        self._report = report
        self._anchors: dict[str, dict[str, str]] = {}

    def body(self, document: Document) -> str:
        """The document's text with every link and picture as it is on this site."""
        text = _with_inline_images(document.body)
        text = substitute(_IMAGE, lambda match: self._image(document, match), text)
        text = substitute(_LINK, lambda match: self._link(document, match), text)
        return substitute(_DEFINITION, lambda match: self._definition(document, match), text)

    def _link(self, document: Document, match: re.Match[str]) -> str:
        address = self._address(document, _destination(match))
        return match[0] if address is None else f"]({address}{match['title'] or ''})"

    def _definition(self, document: Document, match: re.Match[str]) -> str:
        address = self._address(document, _destination(match))
        return match[0] if address is None else f"{match['head']}{address}{match['tail']}"

    def _address(self, document: Document, destination: str) -> str | None:
        """What a destination is on this site; None where it stays as it is."""
        if not destination:
            return None
        address, _, fragment = destination.partition("#")
        target = document if not address else self._pages.find(document, address)
        if target is None:
            return self._file(document, destination)
        if target is not document and target.status != Status.PUBLISHED == document.status:
            self._report.add(
                Kind.NOTE, document.path, f"links to {target.path}, which is not public"
            )
        anchor = self._anchor(document, target, unquote(fragment)) if fragment else ""
        own = "" if target is document and anchor else self._url(target)
        return f"{own}#{anchor}" if anchor else own

    def _file(self, document: Document, destination: str) -> str | None:
        """A link that leads to no page: to another site, to a picture, or nowhere."""
        if _SCHEME.match(destination):
            return None
        path = unquote(destination.split("#")[0].split("?")[0])
        if PurePosixPath(path).suffix.lower() in IMAGES:
            try:
                return self._pictures.url(document.folder, destination)
            except CannotImportError as error:
                self._report.add(Kind.LINK, document.path, f"links to {destination}: {error}")
                return None
        self._report.add(
            Kind.LINK, document.path, f"links to {destination}, which is not among the files"
        )
        return None

    def _anchor(self, document: Document, target: Document, fragment: str) -> str:
        """The anchor as this site writes it; as it was, and reported, where none fits."""
        anchors = self._anchors.get(target.path)
        if anchors is None:
            anchors = self._anchors[target.path] = _anchors(target.body)
        known = anchors.get(fragment) or anchors.get(_loose(fragment))
        if known:
            return known
        if target.title_anchor and _loose(fragment) == _loose(target.title_anchor):
            return ""
        where = "" if target is document else f" in {target.path}"
        self._report.add(
            Kind.ANCHOR, document.path, f"links to #{fragment}{where}, which no heading has"
        )
        return fragment

    def _image(self, document: Document, match: re.Match[str]) -> str:
        address, alt = _destination(match), match["alt"]
        if address.lower().startswith("data:"):
            self._report.add(Kind.IMAGE, document.path, "an image inside the text is left out")
            return _caption(alt)
        if _SCHEME.match(address):
            return match[0]
        try:
            url = self._pictures.url(document.folder, address)
        except CannotImportError as error:
            self._report.add(Kind.IMAGE, document.path, f"{address}: {error}")
            return _caption(alt)
        return f"![{alt}]({as_destination(url)}{match['title'] or ''})"


def _names(document: Document) -> Iterator[str]:
    """The paths that mean a document: its file's, an index's folder, and its own slug."""
    if "#" in document.path:
        return
    path = _without_ending(document.path)
    yield path
    folder, _, name = path.rpartition("/")
    if name.lower() in ("index", "readme"):
        yield folder
    slug = document.slug.strip("/")
    if document.slug:
        yield slug if document.slug.startswith("/") or not folder else f"{folder}/{slug}"


def _without_ending(path: str) -> str:
    path = path.rstrip("/") or "/"
    ending = PurePosixPath(path).suffix.lower()
    return path[: -len(ending)] if ending in _PAGE_ENDINGS else path


def _candidates(document: Document, path: str) -> Iterator[str]:
    """From the page's folder, from the root, and from the page as if it were a folder."""
    own = _without_ending(document.path)
    places = [""] if path.startswith("/") else [document.folder, "", own]
    for place in places:
        joined = posixpath.normpath(posixpath.join(place, path.lstrip("/")))
        yield "" if joined == "." else joined


def _destination(match: re.Match[str]) -> str:
    return (match["angle"] if match["angle"] is not None else match["bare"]).strip()


def _with_inline_images(text: str) -> str:
    """Pictures that name their address elsewhere, with it in place."""
    definitions = {
        normalised_label(match["label"]): _destination(match)
        for match in _DEFINITION.finditer(text)
    }
    used = set()

    def inline(match: re.Match[str]) -> str:
        label = normalised_label(match["label"] or match["alt"])
        if label not in definitions:
            return match[0]
        used.add(label)
        return f"![{match['alt']}]({as_destination(definitions[label])})"

    def without_used(match: re.Match[str]) -> str:
        is_used = normalised_label(match["label"]) in used
        is_picture = PurePosixPath(_destination(match)).suffix.lower() in IMAGES
        return "" if is_used and is_picture else match[0]

    if not definitions:
        return text
    return substitute(_DEFINITION, without_used, substitute(_REFERENCE_IMAGE, inline, text))


def _caption(alt: str) -> str:
    alt = " ".join(alt.split())
    return f"*{alt}*" if alt else ""


def _anchors(body: str) -> dict[str, str]:
    """A text's anchors by themselves, and by what other tools may have made of their headings."""
    exact = [section.anchor for section in sections(body) if section.level]
    loose = {_loose(anchor): anchor for anchor in reversed(exact)}
    return loose | {anchor: anchor for anchor in exact}


def _loose(anchor: str) -> str:
    return "".join(filter(str.isalnum, anchor.casefold()))
