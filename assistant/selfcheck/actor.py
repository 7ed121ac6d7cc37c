"""The model of the check: it improvises a conversation from a seed, and remembers the truth.

It knows what a model knows, the messages it is sent, and nothing else. Which documents a
turn showed it, and how much of each, it reads from the results of its calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from random import Random
from typing import Any

from django.urls import reverse

from assistant.agent import (
    Finished,
    Message,
    Mode,
    ModelEvent,
    ProviderError,
    TextDelta,
    ToolCallRequest,
    ToolSpec,
)
from assistant.selfcheck import phrases
from assistant.selfcheck.library import STATUS_PAGE, Library
from assistant.selfcheck.phrases import Desk
from assistant.selfcheck.truth import EXCERPT, FULL, TITLE, Truth

MOST_ROUNDS = 8
"""More than any turn is given: the last ones are answered without tools."""

_HOW_MUCH = {TITLE: "title", EXCERPT: "passages", FULL: "whole text"}
_PAGE = re.compile(r'reading the article "(.*)", ref (\d+)\.')


class Actor:
    """One conversation's model. `desk.truth` is the truth of the turn that ran last."""

    provider = "check"
    name = "actor"
    mode: Mode = "tools"

    def __init__(self, random: Random, library: Library, site: str) -> None:
        self.desk = Desk(random, library, site)
        self.transcript: list[str] = []
        self._random = random
        self._rounds_left = 0
        self._results_read = 0

    def begin_turn(self) -> None:
        self.desk.truth = Truth()
        self.transcript = []
        self._rounds_left = self._random.choice((0, 1, 1, 1, 2, 2, 3, MOST_ROUNDS))
        self._results_read = -1

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        self._read(messages)
        if tools and self._rounds_left:
            self._rounds_left -= 1
            requests = self._requests()
            for piece in self._slices(self._aside()):
                yield TextDelta(piece)
            yield Finished("tool_calls", requests)
            return
        ending = self._random.choices(("stop", "length", "break"), (18, 1, 1))[0]
        for piece in self._slices(self._answer(cut=ending != "stop")):
            yield TextDelta(piece)
        if ending == "break":
            raise ProviderError("unavailable", "the check breaks off here", retryable=True)
        yield Finished("length" if ending == "length" else "stop")

    # What it is sent

    def _read(self, messages: Sequence[Message]) -> None:
        """Takes in what has come since it was last asked; all of the history at first."""
        asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
        results = [m["content"] for m in messages[asked + 1 :] if m["role"] == "tool"]
        if self._results_read < 0:
            self._results_read = 0
            self._read_history(messages[:asked], messages[asked]["content"])
        for content in results[self._results_read :]:
            self.transcript.append(f"was shown: {_in_short(content)}")
            for document in _documents([content]):
                self._take(document)
                self.desk.truth.show(document["title"], _exposure(document))
        self._results_read = len(results)

    def _read_history(self, messages: Sequence[Message], question: str) -> None:
        contents = [message["content"] for message in messages if message["role"] == "tool"]
        self.desk.saw_status_page = False
        carried = set()
        for document in _documents(contents):
            self._take(document)
            if _exposure(document) > TITLE:
                carried.add(document["title"])
        self.desk.truth.carried = frozenset(carried)
        if page := _PAGE.search(question):
            title, ref = page[1], int(page[2])
            self._take({"title": title, "ref": ref, "url": self._address(title)})
            self.desk.truth.show(title, TITLE)

    def _take(self, document: dict[str, Any]) -> None:
        title, ref = document["title"], document["ref"]
        self.desk.refs[title], self.desk.urls[title] = ref, document["url"]
        self.desk.ever = max(ref, self.desk.ever)
        self.desk.saw_status_page |= STATUS_PAGE in json.dumps(document)

    def _address(self, title: str) -> str:
        return reverse("articles:article", args=[self.desk.library.slugs[title]])

    # What it does

    def _requests(self) -> tuple[ToolCallRequest, ...]:
        count = self._random.choices((1, 2, 3, 10), (70, 20, 8, 2))[0]
        calls = [self._call() for _ in range(count)]
        self.transcript += [f"called: {name} {arguments}" for name, arguments in calls]
        return tuple(ToolCallRequest("", name, json.dumps(asked)) for name, asked in calls)

    def _call(self) -> tuple[str, dict[str, Any]]:
        library, random = self.desk.library, self._random
        kinds = ("search", "open", "slug", "list", "categories", "decline", "wrong")
        match random.choices(kinds, (45, 25, 8, 12, 2, 4, 4))[0]:
            case "search":
                return "search_articles", self._search()
            case "open" if self.desk.refs:
                return "open_article", {"ref": random.choice(sorted(self.desk.refs.values()))}
            case "open" | "slug":
                titles = sorted(library.slugs) + 2 * list(library.withheld)
                return "open_article", {"slug": library.slugs[random.choice(titles)]}
            case "list":
                return "list_articles", {"category": random.choice(library.categories)}
            case "categories":
                return "list_categories", {}
            case "decline":
                return "cannot_answer", {"reason": "not_in_docs"}
            case _:
                return random.choice(("delete_article", "open_article")), {"ref": 0}

    def _search(self) -> dict[str, str]:
        library, random = self.desk.library, self._random
        query = random.choice(library.queries)
        category = random.choice(("", "", "", *library.categories))
        self.desk.truth.searches.append((query, category))
        return {"query": query, "category": category} if category else {"query": query}

    # What it writes

    def _aside(self) -> str:
        """Words before a call, perhaps: a paragraph that is over when the call runs."""
        if self._random.random() > 0.2:
            return ""
        return self._written(phrases.some(self.desk, phrases.INLINE, 1) + "\n\n")

    def _answer(self, *, cut: bool) -> str:
        """`cut`: it ends early, with a paragraph."""
        desk, random = self.desk, self._random
        kinds = phrases.INLINE if random.random() < 0.8 else phrases.PLAIN
        parts = [phrases.some(desk, kinds, random.randint(1, 4))]
        if desk.linkable() and random.random() < 0.15:
            parts.append(phrases.list_titles(desk))
        if cut:
            return self._written("\n\n".join([*parts, ""]))
        if random.random() < 0.25:
            parts.append(phrases.final_list(desk))
        return self._written("\n\n".join(filter(None, parts)))

    def _written(self, text: str) -> str:
        self.transcript.append(f"wrote: {text!r}")
        return text

    def _slices(self, text: str) -> Iterable[str]:
        while text:
            size = self._random.randint(1, 40)
            yield text[:size]
            text = text[size:]


def _documents(contents: Iterable[str]) -> Iterable[dict[str, Any]]:
    for content in contents:
        yield from json.loads(content).get("documents", [])


def _exposure(document: dict[str, Any]) -> int:
    if "body" in document:
        return FULL
    return EXCERPT if document.get("passages") else TITLE


def _in_short(content: str) -> str:
    result = json.loads(content)
    shown = [
        f"[{document['ref']}] {document['title']} ({_HOW_MUCH[_exposure(document)]})"
        for document in result.get("documents", [])
    ]
    return ", ".join(shown) or str(result.get("error", "no document"))
