"""The citation writer: the model's text goes in as it arrives, the client's text comes out.

Pure. What comes out is final and, put together, the stored text. Numbers are given
in order of first citation, unknown markers and unknown links are taken out and
recorded in the ledger, everything else stays byte for byte. The rules are in the
manual, "How the assistant picks its sources".

The way of a character: `scanner` (of which of the `pieces` is it), `referencelists`
(does it belong to a final list), this module (what becomes of it, by the ledger),
`delivery` (how it joins the text that was delivered).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from assistant.provenance import Document, DropReason, Ledger
from assistant.writing import addresses
from assistant.writing.addresses import Address
from assistant.writing.delivery import Delivery, title_as_label
from assistant.writing.pieces import BareAddress, Link, Marker, Piece, Verbatim
from assistant.writing.referencelists import AnswerScanner, Reference
from assistant.writing.scanner import scan

_WRITTEN_NUMBER = re.compile(r"\[([0-9]+)\]")


class CitationWriter:
    """Rewrites one answer against its ledger, as it streams."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._delivery = Delivery()
        self._placement = _Placement(ledger, self._delivery)
        self._is_closed = False
        self._scanner = AnswerScanner(
            emit=self._placement.place,
            emit_list=self._emit_list,
            has_delivered=lambda: not self._delivery.is_empty,
            is_listing=self._is_listing,
        )

    @property
    def steps(self) -> int:
        """The work done so far: grows linearly with the text."""
        return self._scanner.steps

    def feed(self, text: str) -> str:
        """Takes the next piece of the model's text; gives what became final by it."""
        self._scanner.feed(text)
        return self._delivery.take()

    def close(self) -> str:
        """The end of the text: gives the rest. A second call gives nothing."""
        return "" if self._is_closed else self._end(self._scanner.close)

    def stop(self) -> str:
        """The text breaks off: gives the rest, without a marker, link or address half written."""
        return "" if self._is_closed else self._end(self._scanner.stop)

    def _end(self, end_scan: Callable[[], None]) -> str:
        self._is_closed = True
        end_scan()
        self._delivery.finish()
        self._ledger.finish()
        return self._delivery.take()

    def _emit_list(self, named: list[Reference]) -> None:
        self._delivery.drop_space()
        self._ledger.name_in_list(
            document for reference in named for document in _documents(self._ledger, reference)
        )

    def _is_listing(self, reference: Reference) -> bool:
        if isinstance(reference, Marker):
            return False
        document = self._ledger.by_address(addresses.parse(reference.dest))
        return document is not None and not self._ledger.has_text_of(document)


class _Placement:
    """Puts pieces into a delivery. `behind`: inside a label, the documents to cite behind it."""

    def __init__(
        self, ledger: Ledger, delivery: Delivery, behind: list[Document] | None = None
    ) -> None:
        self._ledger = ledger
        self._delivery = delivery
        self._behind = behind

    def place(self, piece: Piece) -> None:
        match piece:
            case str():
                self._delivery.text(piece)
            case Verbatim():
                self._delivery.verbatim(piece.text)
            case Marker():
                self._marker(piece)
            case Link(refs=None):
                self._link(piece)
            case Link():
                self._marker_with_address(piece)
            case BareAddress():
                self._address(piece)
            case _:
                assert_never(piece)

    # Citations

    def _marker(self, marker: Marker) -> None:
        documents = _documents(self._ledger, marker)
        if len(documents) < len(marker.refs) or not marker.refs:
            self._ledger.drop(marker.source, "unknown_ref")
        self._cite_here(documents)

    def _marker_with_address(self, link: Link) -> None:
        """A marker as a link's label: the document at that address, else those it names."""
        document = self._ledger.by_address(addresses.parse(link.dest))
        if document is not None:
            self._cite_here([document])
        else:
            self._marker(Marker(link.source, link.refs or ()))

    def _cite_here(self, documents: list[Document]) -> None:
        if not documents or self._behind is not None:
            self._delivery.removed()
        if self._behind is not None:
            self._behind.extend(documents)
            return
        for document in _once(documents):
            self._cite(document)

    def _cite(self, document: Document) -> None:
        if self._ledger.has_text_of(document):
            self._delivery.number(self._ledger.cite(document))
        else:
            self._ledger.link(document, document.url)
            self._delivery.titled(document.id, document.title, document.url)

    # Links, images, addresses

    def _link(self, link: Link) -> None:
        address = addresses.parse(link.dest)
        document = None if link.is_image else self._ledger.by_address(address)
        is_kept = document is not None or self._is_allowed(link, address)
        if not is_kept:
            self._ledger.drop(link.source, self._reason(link, address))
        behind: list[Document] = []
        label, is_live = self._label(link.label, behind)
        if self._behind is not None and not link.is_image:
            self._text_of_label(label, is_live)
        elif not label.strip() and not link.is_image:
            behind = [document, *behind] if document else behind
            if not behind:
                self._delivery.removed()
        elif not is_kept:
            self._text_of_label(label, is_live)
        elif document is not None:
            self._write_link(document, address, label)
        elif link.is_image:
            self._ledger.images.add(link.dest)
            self._delivery.image(label, link.inside)
        else:
            self._ledger.links.add(link.dest)
            self._delivery.link(label, link.inside)
        if self._behind is not None:
            self._behind.extend(behind)
        else:
            for cited in _once(behind):
                self._cite(cited)

    def _label(self, pieces: Iterable[Piece], behind: list[Document]) -> tuple[str, bool]:
        """A label by the same rules, with what it cites put off; and whether it ends in text."""
        delivery = Delivery()
        placement = _Placement(self._ledger, delivery, behind)
        for piece in pieces:
            placement.place(piece)
        delivery.finish()
        return delivery.take(), delivery.is_live

    def _text_of_label(self, label: str, is_live: bool) -> None:
        if label.strip():
            self._delivery.splice(label, live=is_live)
        else:
            self._delivery.removed()

    def _write_link(self, document: Document, address: Address, label: str) -> None:
        dest = f"{document.url}{addresses.fragment_of(address)}"
        self._ledger.link(document, dest)
        self._delivery.link(label, dest)

    def _address(self, piece: BareAddress) -> None:
        address = addresses.parse(piece.dest)
        document = self._ledger.by_address(address)
        is_kept = document is not None or self._is_allowed(piece, address)
        if not is_kept:
            self._ledger.drop(piece.source, self._reason(piece, address))
        if document is not None and self._behind is not None:
            self._delivery.splice(title_as_label(document.title))
        elif document is not None:
            self._write_link(document, address, title_as_label(document.title))
        elif is_kept and self._behind is None:
            self._ledger.links.add(piece.dest)
            self._delivery.splice(piece.source)
        else:
            self._delivery.splice(addresses.escaped(piece.source))

    def _is_allowed(self, piece: Link | BareAddress, address: Address) -> bool:
        """Whether the model was given exactly this address; an image must be this site's too."""
        if address.kind == "unsafe" or not self._ledger.was_given(piece.dest):
            return False
        is_image = isinstance(piece, Link) and piece.is_image
        return not is_image or self._ledger.is_ours(address)

    def _reason(self, piece: Link | BareAddress, address: Address) -> DropReason:
        if isinstance(piece, Link) and piece.is_image:
            return "image"
        if address.kind == "unsafe":
            return "unsafe_link"
        return "not_retrieved" if self._ledger.is_ours(address) else "foreign_link"


def restore_references(text: str, refs: Mapping[int, int]) -> str:
    """A delivered text with the conversation's references in place of the visitor's numbers.

    `refs`: number to reference. For the history that the model is sent: numbers are
    looked for where the writer wrote them, outside code and escapes.
    """
    return "".join(_restored(piece, refs) for piece in scan(text))


def _restored(piece: Piece, refs: Mapping[int, int]) -> str:
    match piece:
        case str():
            return piece
        case Verbatim():
            return piece.text
        case Marker():
            return _WRITTEN_NUMBER.sub(
                lambda match: f"[{refs.get(int(match[1]), match[1])}]", piece.source
            )
        case _:
            return piece.source


def _documents(ledger: Ledger, reference: Reference) -> list[Document]:
    """What a marker, link or address names, as far as the ledger knows it."""
    if isinstance(reference, Marker):
        found = [ledger.by_ref(ref) for ref in reference.refs]
        return [document for document in found if document is not None]
    document = ledger.by_address(addresses.parse(reference.dest))
    if document is None and isinstance(reference, Link) and reference.refs:
        return _documents(ledger, Marker(reference.source, reference.refs))
    return [document] if document is not None else []


def _once(documents: Iterable[Document]) -> list[Document]:
    return list({document.id: document for document in documents}.values())
