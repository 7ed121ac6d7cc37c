"""Plays an answer through the citation writer, under every slicing that tests try."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger, Via

HOST = "help.example.com"


@dataclass(frozen=True)
class Given:
    """A document that the model was given, so far and in this way."""

    document: Document
    exposure: Exposure = Exposure.EXCERPT
    text: str = ""
    carried: bool = False


Step = str | Given


@dataclass(frozen=True)
class Written:
    """What came of an answer. Sources are `(id, number, consulted, via)`."""

    text: str
    sources: list[tuple[str, int | None, bool, Via]]
    dropped: list[tuple[str, str]]
    ledger: Ledger = field(compare=False)

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason in self.dropped]


def whole(text: str) -> Iterator[str]:
    yield text


def single(text: str) -> Iterator[str]:
    yield from text


def sliced(seed: int) -> Callable[[str], Iterator[str]]:
    def slices(text: str) -> Iterator[str]:
        source = random.Random(seed)
        while text:
            size = source.randint(1, 7)
            yield text[:size]
            text = text[size:]

    return slices


SLICINGS = [whole, single, *(sliced(seed) for seed in range(3))]


def play(
    steps: Iterable[Step],
    slices: Callable[[str], Iterable[str]],
    *,
    hosts: Iterable[str] = (HOST,),
    show_uncited: bool = False,
    stops: bool = False,
) -> Written:
    ledger = Ledger(site_hosts=hosts, show_uncited=show_uncited)
    writer = CitationWriter(ledger)
    out = []
    for step in steps:
        if isinstance(step, Given):
            ledger.expose(step.document, step.exposure, step.text, carried=step.carried)
        else:
            out += [writer.feed(part) for part in slices(step)]
    out.append(writer.stop() if stops else writer.close())
    sources = [(s.document.id, s.number, s.consulted, s.via) for s in ledger.sources()]
    return Written("".join(out), sources, [(d.text, d.reason) for d in ledger.dropped], ledger)


def write(*steps: Step, show_uncited: bool = False, stops: bool = False) -> Written:
    """The answer as delivered: the same however it is sliced."""
    first, *others = (
        play(steps, slices, show_uncited=show_uncited, stops=stops) for slices in SLICINGS
    )
    for other in others:
        assert other == first
    return first
