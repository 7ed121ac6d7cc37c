"""Whole conversations, turn after turn, against a model that keeps its own books.

The machine is given documents, says sentences whose meaning is known, breaks off, carries what
the prompt still holds over to the next turn, and unpublishes articles. What the row, the text and
the history have to be is worked out from what was said, and never from the ledger.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from assistant.citations import CitationWriter, restore_references
from assistant.prompts import PastCall, PastTurn, build
from assistant.provenance import Document, Exposure, Ledger
from tests.citing import HOST

DOCUMENTS = [
    *(Document(name, f"Topic {name}", f"/articles/{name}/") for name in "abcde"),
    Document("closed", "Topic closed", None),
]
BY_ID = {document.id: document for document in DOCUMENTS}
UNKNOWN = 99
HALVES = ["[", "[{ref}", "[the topic", "[it](/articles/a", "<https://help.exam", "https://help.ex"]

Row = list[tuple[str, int | None, bool, str]]


def text_of(name: str) -> str:
    """What stands in an article and nowhere else, long enough to cost something."""
    return f"The text about {name}. " * 20


ids = st.sampled_from(sorted(BY_ID))


@dataclass
class Told:
    """What the model was told of a document in this turn, and did with it."""

    ref: int
    exposure: Exposure
    carried: bool
    opened: int | None = None
    linked: int | None = None
    listed: int | None = None
    number: int | None = None


@dataclass
class Books:
    """What is expected of a turn."""

    told: dict[str, Told] = field(default_factory=dict)
    text: str = ""
    history: str = ""
    calls: list[PastCall] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    clock: int = 0

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def numbers(self) -> int:
        return sum(told.number is not None for told in self.told.values())

    def cites(self) -> bool:
        return any(told.number or told.linked or told.listed for told in self.told.values())

    def has_text_of(self, name: str) -> bool:
        return self.told[name].exposure is not Exposure.TITLE

    def row(self) -> Row:
        """The sources as the manual has them: five groups, one after the other."""
        numbered = self._by("number", self.told)
        linked = self._by("linked", set(self.told) - set(numbered))
        read = [name for name in linked if self.has_text_of(name)]
        listed = self._by("listed", set(self.told) - {*numbered, *linked})
        opened = self._by("opened", set(self.told) - {*numbered, *linked, *listed})
        titles = [name for name in linked if name not in read]
        return [
            (name, self.told[name].number, name not in titles, self._via(name))
            for name in (*numbered, *read, *listed, *opened, *titles)
        ]

    def _by(self, mark: str, names: set[str] | dict[str, Told]) -> list[str]:
        marked = {name: getattr(self.told[name], mark) for name in names}
        return sorted((name for name in marked if marked[name]), key=lambda name: marked[name])

    def _via(self, name: str) -> str:
        if self.told[name].carried:
            return "carried"
        return {1: "listing", 2: "excerpt", 3: "opened"}[self.told[name].exposure]


class Conversation(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.refs: dict[str, int] = {}
        self.read: dict[str, Exposure] = {}
        self.published = set(BY_ID)
        self.turns: list[PastTurn] = []
        self.begin(32_000)

    # Turns

    @rule(context=st.sampled_from([400, 1_200, 32_000]))
    @precondition(lambda self: self.is_over)
    def begin(self, context: int) -> None:
        """What is carried is what the prompt gives the text of, and its reader may still have."""
        readable = {name: ref for name, ref in self.refs.items() if name in self.published}
        prompt = build(
            site="Help",
            mode="tools",
            question="And then?",
            turns=self.turns,
            readable=frozenset(readable.values()),
            context_tokens=context,
        )
        sent = json.dumps(prompt.messages)
        carried = {name for name in BY_ID if text_of(name) in sent}
        assert carried <= self.published
        assert carried <= self.read.keys()
        assert prompt.carried == {self.refs[name] for name in carried}
        self.is_over = False
        self.books = Books()
        self.ledger = Ledger(site_hosts=[HOST])
        self.writer = CitationWriter(self.ledger)
        self.delivered = ""
        for name in sorted(carried):
            self.tell(name, self.read[name], carried=True)

    @rule(cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over)
    def end_here(self, cut: int) -> None:
        self.delivered += self.writer.close()
        self.end()

    @rule(names=st.lists(ids, min_size=1, max_size=3), cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over and self.books.text)
    def end_with_a_list(self, names: list[str], cut: int) -> None:
        """The list is no part of the answer, and names what was read where nothing else does."""
        entries = "".join(f"- [{self.ref(name)}] Topic\n" for name in names)
        before, cites = self.books.text.rstrip(), self.books.cites()
        self.write(f"Sources:\n{entries}", "", "", cut)
        self.delivered += self.writer.close()
        self.books.text, self.books.history = before, self.books.history.rstrip()
        for name in names:
            told = self.books.told.get(name)
            if told and not cites and self.books.has_text_of(name):
                told.listed = told.listed or self.books.tick()
        self.end()

    @rule(name=ids, half=st.sampled_from(HALVES), cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over)
    def break_off(self, name: str, half: str, cut: int) -> None:
        """Only what is complete is a citation, and nothing half written is delivered."""
        self.write(f"Then {half.format(ref=self.ref(name))}", "Then ", "Then ", cut)
        self.delivered += self.writer.stop()
        self.end()

    def end(self) -> None:
        assert self.delivered == self.books.text
        self.agrees_with_the_books()
        refs = {told.number: told.ref for told in self.books.told.values() if told.number}
        assert restore_references(self.delivered, refs) == self.books.history
        self.turns.append(PastTurn("What?", self.books.history, tuple(self.books.calls)))
        for name, told in self.books.told.items():
            if self.books.has_text_of(name):
                before = self.read.get(name, told.exposure)
                self.read[name] = max(before, told.exposure)
        self.is_over = True

    # Articles

    @rule(name=ids, exposure=st.sampled_from(Exposure))
    @precondition(lambda self: not self.is_over)
    def expose(self, name: str, exposure: Exposure) -> None:
        """A tool returns an article; it knows only what is published at this moment."""
        if name not in self.published:
            return
        self.tell(name, exposure)
        given = {"body": text_of(name)} if exposure > Exposure.TITLE else {}
        result = json.dumps({"documents": [{"ref": self.refs[name], **given}]})
        self.books.calls.append(PastCall("open_article", "{}", result))

    def tell(self, name: str, exposure: Exposure, *, carried: bool = False) -> None:
        ref = self.refs.setdefault(name, len(self.refs) + 1)
        given = self.ledger.expose(BY_ID[name], exposure, carried=carried, ref=ref)
        assert given == ref
        told = self.books.told.setdefault(name, Told(ref, exposure, carried))
        told.exposure = max(told.exposure, exposure)
        told.carried = told.carried and carried
        if exposure is Exposure.FULL and not carried:
            told.opened = told.opened or self.books.tick()

    @rule(name=ids)
    def unpublish(self, name: str) -> None:
        self.published.discard(name)

    @rule(name=ids)
    def publish(self, name: str) -> None:
        self.published.add(name)

    # Sentences

    def ref(self, name: str) -> int:
        """Its reference in the conversation, in this turn's ledger or not."""
        return self.refs.get(name, UNKNOWN)

    def write(self, model_text: str, text: str, history: str, cut: int) -> None:
        """Says a paragraph in slices; what comes of it is known by its end."""
        slices = random.Random(cut)
        self.books.text += text
        self.books.history += history
        while model_text:
            size = slices.choice([1, 1, 2, 5, 30])
            self.delivered += self.writer.feed(model_text[:size])
            model_text = model_text[size:]

    @rule(name=ids, cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over)
    def cite(self, name: str, cut: int) -> None:
        """By number, any document of the conversation, or one that never was in it."""
        marker = f"[{self.ref(name)}]"
        shown, kept = self.cited(name, marker)
        self.write(f"Word {marker}.\n\n", f"Word{shown}.\n\n", f"Word{kept}.\n\n", cut)

    def cited(self, name: str, marker: str) -> tuple[str, str]:
        """What stands in place of the marker: for the visitor, and in the history."""
        told = self.books.told.get(name)
        if told is None:
            self.books.dropped.append((marker, "unknown_ref"))
            return "", ""
        if self.books.has_text_of(name):
            told.number = told.number or self.books.numbers() + 1
            return f" [{told.number}]", f" {marker}"
        told.linked = told.linked or self.books.tick()
        title, url = BY_ID[name].title, BY_ID[name].url
        link = f" ([{title}]({url}))" if url else f" ({title})"
        return link, link

    @rule(name=ids.filter(lambda name: BY_ID[name].url is not None), cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over)
    def link(self, name: str, cut: int) -> None:
        told = self.books.told.get(name)
        link = f"[it]({BY_ID[name].url})"
        shown = link if told else "it"
        if told:
            told.linked = told.linked or self.books.tick()
        else:
            self.books.dropped.append((link, "not_retrieved"))
        self.write(f"See {link}.\n\n", f"See {shown}.\n\n", f"See {shown}.\n\n", cut)

    @rule(cut=st.integers(0, 99))
    @precondition(lambda self: not self.is_over)
    def say_what_cites_nothing(self, cut: int) -> None:
        text = "Word `[1]` \\[1] [0] [1000].\n\n"
        self.write(text, text, text, cut)

    # What holds at every moment

    @invariant()
    def agrees_with_the_books(self) -> None:
        row = [(s.document.id, s.number, s.consulted, s.via) for s in self.ledger.sources()]
        assert row == self.books.row()
        assert [(d.text, d.reason) for d in self.ledger.dropped] == self.books.dropped

    @invariant()
    def what_was_streamed_is_final(self) -> None:
        assert self.books.text.startswith(self.delivered)

    @invariant()
    def references_keep_their_numbers(self) -> None:
        entries = {entry.document.id: entry.ref for entry in self.ledger.entries()}
        assert entries == {name: self.refs[name] for name in self.books.told}


TestConversation = Conversation.TestCase
