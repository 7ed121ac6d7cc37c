"""The ledger of an answer: what the model was given to read, and what became of it.

Pure: the standard library only. One `Ledger` serves one answer. Tools `expose`
documents in it, the citation writer notes what the delivered text cites and
links, and `sources()` derives from both what the client is told. The rules are
in the manual, "How the assistant picks its sources".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from assistant.writing.addresses import Address, addresses_in, path_key

Via = Literal["opened", "excerpt", "listing", "carried"]
DropReason = Literal["unknown_ref", "not_retrieved", "foreign_link", "unsafe_link", "image"]


class Exposure(IntEnum):
    """How much of a document the model was given. A document keeps the highest of a turn."""

    TITLE = 1
    EXCERPT = 2
    FULL = 3


@dataclass(frozen=True, slots=True)
class Document:
    """A document as answers name it. `url` None: answers may use it, nobody may open it.

    `former_urls`: addresses that lead to it as well; a link to one of them is a link to it.
    """

    id: str
    title: str
    url: str | None
    former_urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """An entry of the payload. `consulted` decides whether the Sources row shows it."""

    document: Document
    number: int | None
    consulted: bool
    via: Via


@dataclass(frozen=True, slots=True)
class Dropped:
    """A citation, link or image that was taken out: what the model wrote, and why."""

    text: str
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Entry:
    """What the audit keeps of a document. `listed`: only the model's own list named it."""

    document: Document
    ref: int
    exposure: Exposure
    carried: bool
    cited: bool
    linked: bool
    listed: bool
    number: int | None
    via: Via
    consulted: bool


@dataclass(slots=True)
class _Record:
    """A document's line in the ledger. `opened`, `linked` and `listed` hold the order of the
    first time in this turn."""

    document: Document
    ref: int
    exposure: Exposure
    carried: bool
    opened: int | None = None
    number: int | None = None
    linked: int | None = None
    listed: int | None = None

    @property
    def is_cited(self) -> bool:
        return not (self.number is None and self.linked is None and self.listed is None)

    @property
    def via(self) -> Via:
        if self.carried:
            return "carried"
        by_exposure: dict[Exposure, Via] = {
            Exposure.TITLE: "listing",
            Exposure.EXCERPT: "excerpt",
            Exposure.FULL: "opened",
        }
        return by_exposure[self.exposure]

    @property
    def is_consulted(self) -> bool:
        """Opened in this turn, or given in text and cited. A title never is."""
        return self.opened is not None or (self.exposure > Exposure.TITLE and self.is_cited)

    def rank(self) -> tuple[int, int]:
        """The place in the payload: by number, by link, by list, by opening, titles last."""
        if self.number is not None:
            return 0, self.number
        if self.linked is not None:
            return (1 if self.exposure > Exposure.TITLE else 4), self.linked
        if self.listed is not None:
            return 2, self.listed
        return 3, self.opened or 0


@dataclass(slots=True)
class Ledger:
    """The documents of one answer, by reference and by address.

    `site_hosts`: host names (with a port where it is not the scheme's own) under
    which this site's articles may be linked. `show_uncited`: context mode's
    fallback; when the finished text cites nothing, every excerpt is shown. Only the end
    says so, when the verdict is known; see `earned`.

    `links`, `images` and `numbers` are what the delivered text may turn into links,
    images and citations. `changes` grows with everything that `sources()` may show.
    """

    site_hosts: Iterable[str] = ()
    show_uncited: bool = False
    dropped: list[Dropped] = field(default_factory=list, init=False)
    links: set[str] = field(default_factory=set, init=False)
    images: set[str] = field(default_factory=set, init=False)
    numbers: dict[int, Document] = field(default_factory=dict, init=False)
    changes: int = field(default=0, init=False)
    _finished: bool = field(default=False, init=False)
    _records: dict[str, _Record] = field(default_factory=dict, init=False)
    _by_ref: dict[int, _Record] = field(default_factory=dict, init=False)
    _by_path: dict[str, _Record] = field(default_factory=dict, init=False)
    _given: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.site_hosts = frozenset(host.lower() for host in self.site_hosts)

    # What tools and prompts tell

    def expose(
        self,
        document: Document,
        exposure: Exposure,
        text: str = "",
        *,
        carried: bool = False,
        ref: int | None = None,
    ) -> int:
        """Notes that the model was given this much of a document; returns its reference.

        `text` is exactly what it was given: addresses that stand in it may be linked.
        `carried`: it was given in an earlier turn and still stands in the history.
        `ref`: the document's number in the conversation, where it has one already;
        `ValueError` where another document has it, or this one has another.
        """
        record = self._records.get(document.id)
        if record is None:
            record = self._enter(document, exposure, carried, ref)
        elif ref not in (None, record.ref):
            raise ValueError(f"document {document.id} has reference {record.ref}, not {ref}")
        record.document = document
        record.exposure = max(record.exposure, exposure)
        record.carried = record.carried and carried
        self._tick()
        if exposure == Exposure.FULL and not carried and record.opened is None:
            record.opened = self._tick()
        if document.url is not None:
            self._by_path[path_key(document.url)] = record
        for url in document.former_urls:
            self._by_path.setdefault(path_key(url), record)
        self._given |= addresses_in(text)
        return record.ref

    # What the citation writer asks and notes

    def by_ref(self, ref: int) -> Document | None:
        record = self._by_ref.get(ref)
        return record.document if record else None

    def by_address(self, address: Address) -> Document | None:
        """The document at an address of this site, or None."""
        record = self._by_path.get(address.path) if self.is_ours(address) else None
        return record.document if record else None

    def is_ours(self, address: Address) -> bool:
        """Whether an address leads to this site: a relative one, or one on a host of the site."""
        return address.kind == "site" or (
            address.kind == "foreign" and address.host in self.site_hosts
        )

    def was_given(self, dest: str) -> bool:
        """Whether exactly this destination stands as an address in text the model was given."""
        return dest in self._given

    def has_text_of(self, document: Document) -> bool:
        """Whether the model was given text of the document, and not only its title."""
        return self._records[document.id].exposure > Exposure.TITLE

    def cite(self, document: Document) -> int:
        """The number of a document whose text was given; the next one where it has none."""
        record = self._records[document.id]
        if record.number is None:
            self._tick()
            record.number = len(self.numbers) + 1
            self.numbers[record.number] = document
        return record.number

    def link(self, document: Document, dest: str | None) -> None:
        """The delivered text links the document; by its bare title where it has no address."""
        record = self._records[document.id]
        if record.linked is None:
            record.linked = self._tick()
        if dest is not None:
            self.links.add(dest)

    def name_in_list(self, documents: Iterable[Document]) -> None:
        """The model's own list at the end names these; it counts when nothing else cites."""
        if not self.cites_nothing:
            return
        for document in documents:
            record = self._records[document.id]
            if record.exposure > Exposure.TITLE and record.listed is None:
                record.listed = self._tick()

    def drop(self, text: str, reason: DropReason) -> None:
        self.dropped.append(Dropped(text, reason))

    def finish(self) -> None:
        """The text is complete: from now on the fallback of context mode may show its list."""
        self._finished = True
        self._tick()

    # What follows from it

    @property
    def cites_nothing(self) -> bool:
        """Whether the text so far neither cites, links nor lists a document."""
        return not any(record.is_cited for record in self._records.values())

    def sources(self) -> list[Source]:
        """Cited and consulted documents, in the order of the payload, and the fallback."""
        return [*self.earned(), *self._fallback()]

    def earned(self) -> list[Source]:
        """Those that are sources by what was opened and written, without the fallback.

        May be asked while the text streams: members and numbers once given stay.
        """
        shown = [r for r in self._records.values() if r.is_cited or r.is_consulted]
        shown.sort(key=_Record.rank)
        return [Source(r.document, r.number, r.is_consulted, r.via) for r in shown]

    def entries(self) -> list[Entry]:
        """Every document of the ledger, by reference, for the audit."""
        fallback = {source.document.id for source in self._fallback()}
        return [
            Entry(
                document=r.document,
                ref=r.ref,
                exposure=r.exposure,
                carried=r.carried,
                cited=r.number is not None,
                linked=r.linked is not None,
                listed=r.listed is not None,
                number=r.number,
                via=r.via,
                consulted=r.is_consulted or r.document.id in fallback,
            )
            for r in sorted(self._records.values(), key=lambda r: r.ref)
        ]

    def _fallback(self) -> list[Source]:
        """Context mode: all excerpts in prompt order, when the finished text cites nothing."""
        if not (self.show_uncited and self._finished and self.cites_nothing):
            return []
        return [
            Source(r.document, None, True, r.via)
            for r in self._records.values()
            if r.exposure == Exposure.EXCERPT and not r.carried
        ]

    def _enter(
        self, document: Document, exposure: Exposure, carried: bool, ref: int | None
    ) -> _Record:
        if ref is None:
            ref = max(self._by_ref, default=0) + 1
        if ref < 1:
            raise ValueError(f"references begin at 1, not at {ref}")
        if ref in self._by_ref:
            raise ValueError(f"reference {ref} is another document's")
        record = _Record(document, ref, exposure, carried)
        self._records[document.id] = self._by_ref[ref] = record
        return record

    def _tick(self) -> int:
        self.changes += 1
        return self.changes
