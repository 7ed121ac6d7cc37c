"""What the actor writes, and what each piece of it means for the row. Standard library only.

Models cite in many forms, and they invent. Every phrase here writes one of those forms and
tells the truth of the turn what it names, or how much of it has to be taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from assistant.selfcheck.library import STATUS_PAGE, Library
from assistant.selfcheck.truth import Truth

_WORDS = (
    *("Open the settings", "choose the entry", "save the page", "this takes a minute"),
    *("it costs $5 a month", "ask an owner of the team", "the change is kept"),
    *("nothing is sent", "it is on the left", "wait for it"),
)
_TITLES = ("Sources", "**References**", "## Quellen", "来源", "References:", "Sources:")


@dataclass(slots=True)
class Desk:
    """What lies before the actor in a turn: references and addresses by title, and the truth."""

    random: Random
    library: Library
    site: str
    truth: Truth = field(default_factory=Truth)
    refs: dict[str, int] = field(default_factory=dict)
    urls: dict[str, str | None] = field(default_factory=dict)
    ever: int = 0
    """The highest reference of the conversation: above it everything is invented."""
    saw_status_page: bool = False

    def known(self) -> list[str]:
        return sorted(filter(self.truth.is_known, self.refs))

    def with_text(self) -> list[str]:
        return [title for title in self.known() if self.truth.has_text(title)]

    def linkable(self) -> list[str]:
        return [title for title in self.known() if self.urls[title]]

    def words(self) -> str:
        return self.random.choice(_WORDS)

    def unknown_ref(self) -> int:
        return self.random.randint(self.ever + 1, 999)

    def title_of(self, ref: int) -> str | None:
        """The document that a reference may be cited for in this turn."""
        return next((title for title in self.known() if self.refs[title] == ref), None)


Phrase = Callable[[Desk], str]


def prose(desk: Desk) -> str:
    return f"{desk.words()}, and {desk.words()}."


def cite(desk: Desk) -> str:
    title = desk.random.choice(desk.known() or [""])
    if not title:
        return prose(desk)
    desk.truth.cite(title)
    form = desk.random.choice(("[%d]", "[^%d]", "[[%d]]", "【%d】", "【%d†L1-L9】", "[ %d ]"))
    gap = desk.random.choice((" ", ""))
    return f"{desk.words()}{gap}{form % desk.refs[title]}."


def cite_several(desk: Desk) -> str:
    """Several references in one marker, perhaps with one among them that nobody gave."""
    titles = desk.random.sample(desk.known(), min(len(desk.known()), desk.random.randint(1, 3)))
    refs = [desk.refs[title] for title in titles]
    if desk.random.random() < 0.3:
        refs.insert(desk.random.randint(0, len(refs)), desk.unknown_ref())
    if not refs:
        return prose(desk)
    mark = desk.random.choice((", ", ";", "，", "、", " & ", " and "))
    _cite_refs(desk, refs)
    return f"{desk.words()} [{mark.join(map(str, refs))}]."


def cite_range(desk: Desk) -> str:
    if not desk.known():
        return prose(desk)
    first = desk.refs[desk.random.choice(desk.known())]
    last = first + desk.random.randint(1, 4)
    _cite_refs(desk, range(first, last + 1))
    return f"{desk.words()} [{first}{desk.random.choice('-–')}{last}]."


def link(desk: Desk) -> str:
    title = desk.random.choice(desk.linkable() or [""])
    url = desk.urls.get(title)
    if not url:
        return prose(desk)
    desk.truth.link(title)
    label, whole = desk.words(), f"{desk.site}{url}"
    forms = (
        *(f"[{label}]({url})", f"[{label}]({whole})", f"[{label}]({url}#steps)"),
        *(f"[{label}]({url}?from=chat)", f'[{label}]({url} "a title")', f"[{label}](<{url}>)"),
        *(f"<{whole}>", f"at {whole} it stands"),
    )
    return f"See {desk.random.choice(forms)}."


def cite_by_link(desk: Desk) -> str:
    """A marker as the label of a link, and a link without a label, are citations."""
    title = desk.random.choice([t for t in desk.with_text() if desk.urls[t]] or [""])
    if not title:
        return prose(desk)
    desk.truth.cite(title)
    label = desk.random.choice((str(desk.refs[title]), f"[{desk.refs[title]}]", ""))
    return f"{desk.words()} [{label}]({desk.urls[title]})."


def list_titles(desk: Desk) -> str:
    titles = desk.random.sample(desk.linkable(), min(len(desk.linkable()), 6))
    for title in titles:
        desk.truth.link(title)
    return "There is:\n\n" + "\n".join(
        f"- [{title.replace('[', '(').replace(']', ')')}]({desk.urls[title]})" for title in titles
    )


def invent_ref(desk: Desk) -> str:
    desk.truth.dropped += 1
    form = desk.random.choice(("[%d]", "[^%d]", "【%d†source】", "[[%d]]"))
    return f"{desk.words()} {form % desk.unknown_ref()}."


def invent_link(desk: Desk) -> str:
    desk.truth.dropped += 1
    dests = [
        "/articles/a-page-that-nobody-wrote/",
        f"{desk.site}/articles/made-up/#part",
        "https://evil.example/p?q=1",
        "javascript:alert(1)",
        "mailto:nobody@evil.example",
    ]
    hidden = [slug for title, slug in desk.library.slugs.items() if title not in desk.known()]
    if hidden:
        dests.append(f"/articles/{desk.random.choice(sorted(hidden))}/")
    return f"See [{desk.words()}]({desk.random.choice(dests)})."


def invent_picture(desk: Desk) -> str:
    desk.truth.dropped += 1
    return f"![{desk.words()}](https://evil.example/pixel.png) {desk.words()}."


def status_page(desk: Desk) -> str:
    """An address of another site: allowed where it stands in what was read."""
    desk.truth.dropped += not desk.saw_status_page
    return f"The state is [here]({STATUS_PAGE})."


def code(desk: Desk) -> str:
    """What looks like a citation in code is none."""
    ref = desk.random.choice([*desk.refs.values(), desk.unknown_ref()])
    forms = (
        *(f"Write `rows[{ref}]` for it.", f"Write \\[{ref}] for it."),
        *(f"Thus:\n\n```\nrow [{ref}]\n```\n\nThat is all.", f"Cell [0] and `【{ref}】`."),
    )
    return desk.random.choice(forms)


def final_list(desk: Desk) -> str:
    """A list of references at the end, of documents whose text was given and invented ones."""
    titles = desk.random.sample(desk.with_text(), min(len(desk.with_text()), 4))
    if not titles:
        return ""
    desk.truth.list_at_end(titles)
    refs = [desk.refs[title] for title in titles]
    if desk.random.random() < 0.3:
        refs.append(desk.unknown_ref())
    style = desk.random.randrange(3)
    if style == 0:
        return "Sources: " + ", ".join(f"[{ref}]" for ref in refs)
    if style == 1 and all(desk.urls[title] for title in titles):
        return "\n".join(f"[{desk.refs[title]}]: {desk.urls[title]}" for title in titles)
    entries = "\n".join(f"- [{ref}] {desk.words()}" for ref in refs)
    return f"{desk.random.choice(_TITLES)}\n\n{entries}"


def _cite_refs(desk: Desk, refs: Sequence[int]) -> None:
    titles = [desk.title_of(ref) for ref in refs]
    for title in filter(None, titles):
        desk.truth.cite(title)
    desk.truth.dropped += None in titles


INLINE: tuple[tuple[Phrase, int], ...] = (
    *((prose, 4), (cite, 8), (cite_several, 2), (cite_range, 1), (link, 3), (cite_by_link, 1)),
    *((invent_ref, 2), (invent_link, 2), (invent_picture, 1), (status_page, 1), (code, 1)),
)
PLAIN: tuple[tuple[Phrase, int], ...] = ((prose, 4), (code, 1), (invent_ref, 1))


def some(desk: Desk, phrases: Sequence[tuple[Phrase, int]], count: int) -> str:
    """So many phrases as paragraphs and lines."""
    kinds, weights = zip(*phrases, strict=True)
    chosen = desk.random.choices(kinds, weights, k=count)
    texts = [phrase(desk) for phrase in chosen]
    return "\n\n".join(texts)
