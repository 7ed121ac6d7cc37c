"""What the Sources row of a turn has to be, by the rules of the manual. Standard library only.

Kept by the actor as it is shown documents and writes; it knows nothing of the ledger.
Documents are named by their titles, which are unique in the library.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

TITLE, EXCERPT, FULL = 1, 2, 3
"""How much of a document a result shows."""

Row = list[tuple[str, int | None, bool]]
"""Sources in order: title, number, whether the row shows it."""


@dataclass(slots=True)
class Truth:
    """One turn. `shown`: how much of each document this turn's results showed. `carried`:
    whose text of earlier turns stood in what the model was sent."""

    carried: frozenset[str] = frozenset()
    shown: dict[str, int] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    numbered: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    dropped: int = 0
    searches: list[tuple[str, str]] = field(default_factory=list)

    def show(self, title: str, exposure: int) -> None:
        self.shown[title] = max(exposure, self.shown.get(title, 0))
        if exposure == FULL:
            _once(self.opened, title)

    def has_text(self, title: str) -> bool:
        return title in self.carried or self.shown.get(title, 0) > TITLE

    def is_known(self, title: str) -> bool:
        return title in self.carried or title in self.shown

    def cite(self, title: str) -> None:
        """A marker names it: its number, or a link where only its title is known."""
        _once(self.numbered if self.has_text(title) else self.linked, title)

    def link(self, title: str) -> None:
        _once(self.linked, title)

    def list_at_end(self, titles: Iterable[str]) -> None:
        """The answer's own list of references: it counts where nothing else does."""
        titles = list(titles)
        self.named.update(titles)
        if not self.numbered and not self.linked:
            for title in titles:
                if self.has_text(title):
                    _once(self.listed, title)

    def sources(self) -> Row:
        """Cited and consulted documents, in the order of the payload."""
        read = [title for title in self.linked if self.has_text(title)]
        titles = [title for title in self.linked if not self.has_text(title)]
        order = dict.fromkeys([*self.numbered, *read, *self.listed, *self.opened, *titles])
        numbers = {title: number for number, title in enumerate(self.numbered, start=1)}
        return [(title, numbers.get(title), title not in titles) for title in order]

    def row(self) -> set[str]:
        """What the row shows."""
        return {title for title, _number, consulted in self.sources() if consulted}

    def cited(self) -> set[str]:
        """Everything that the text names in any way."""
        return {*self.numbered, *self.linked, *self.named}


def _once(titles: list[str], title: str) -> None:
    if title not in titles:
        titles.append(title)
