"""The answerer that needs no model: it finds the article and quotes it, word for word.

A `Model` like any other, in the same loop with the same tools, so that its answers have
the same ledger, verdict and record. Each step follows from what the tools said so far.
Its own sentences are the site's, translated; everything else stands in an article.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assistant.agent import (
    Finished,
    Message,
    Mode,
    ModelEvent,
    TextDelta,
    ToolCallRequest,
    ToolSpec,
    Usage,
)
from assistant.classifiers.intents import list_request, names_the_same
from assistant.classifiers.small_talk import Kind, small_talk_kind
from assistant.fencing import unfenced
from assistant.providers.quoting import quote

_LINK = re.compile(r"\[[^\[\]]*\]\(https?://[^\s()]*\)")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


class ExtractiveModel:
    """Quotes. `mode` tells the door to give it only what is sure enough to be quoted."""

    provider = "extractive"
    name = "extractive"
    mode: Mode = "extractive"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        turn = _Turn.of(messages)
        with translation.override(turn.language):
            step = _next_step(turn, may_call=bool(tools))
        if isinstance(step, str):
            for line in step.splitlines(keepends=True):
                yield TextDelta(line)
            yield Finished("stop", (), Usage())
        else:
            yield Finished("tool_calls", tuple(step), Usage())


@dataclass(frozen=True, slots=True)
class _Exchange:
    name: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def documents(self) -> Sequence[Mapping[str, Any]]:
        documents: Sequence[Mapping[str, Any]] = self.result.get("documents", ())
        return documents


@dataclass(frozen=True, slots=True)
class _Turn:
    """The question, and what was called for it so far."""

    question: str
    search: str
    language: str
    exchanges: tuple[_Exchange, ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> _Turn:
        start = max(i for i, message in enumerate(messages) if message["role"] == "user")
        asked = messages[start]
        calls = [call for message in messages[start:] for call in message.get("tool_calls", ())]
        results = [message["content"] for message in messages[start:] if message["role"] == "tool"]
        exchanges = tuple(
            _Exchange(
                call["function"]["name"],
                json.loads(call["function"]["arguments"]),
                json.loads(result),
            )
            for call, result in zip(calls, results, strict=True)
        )
        return cls(asked["question"], asked["search"], asked["language"], exchanges)

    def last(self, name: str) -> list[_Exchange]:
        return [exchange for exchange in self.exchanges if exchange.name == name]


Step = str | list[ToolCallRequest]


def _next_step(turn: _Turn, *, may_call: bool) -> Step:
    """The text to write, or the calls to make."""
    if not turn.exchanges:
        kind = small_talk_kind(turn.question)
        if kind is not None:
            return _small_talk(kind)
        return _first_calls(turn) if may_call else _not_found()
    last = turn.exchanges[-1].name
    if last == "list_articles":
        return _listing(turn)
    if last == "open_article":
        return _quotes(turn) or _declined(may_call=may_call)
    if last == "cannot_answer" or not may_call:
        return _not_found()
    if last == "list_categories":
        return _category_or_search(turn)
    found = [document["ref"] for document in turn.exchanges[-1].documents]
    return [_call("open_article", ref=ref) for ref in found] or _declined(may_call=True)


def _first_calls(turn: _Turn) -> list[ToolCallRequest]:
    wanted = list_request(turn.question)
    if wanted is None:
        return [_call("search_articles", query=turn.search)]
    return [_call("list_categories") if wanted.topic else _call("list_articles")]


def _category_or_search(turn: _Turn) -> list[ToolCallRequest]:
    wanted = list_request(turn.question)
    for category in turn.exchanges[-1].result.get("categories", ()):
        if wanted and names_the_same(wanted.topic, category["name"].rsplit(" › ", 1)[-1]):
            return [_call("list_articles", category=category["slug"])]
    return [_call("search_articles", query=turn.search)]


def _declined(*, may_call: bool) -> Step:
    return [_call("cannot_answer", reason="not_in_docs")] if may_call else _not_found()


def _quotes(turn: _Turn) -> str:
    """What the opened articles say, each quote under its article's name and reference."""
    found = {
        document["ref"]: document
        for exchange in turn.last("search_articles")
        for document in exchange.documents
    }
    quotes = []
    for exchange in turn.last("open_article"):
        for document in exchange.documents:
            passages = found[document["ref"]]["passages"]
            texts = [unfenced(passage["text"]) for passage in passages]
            lines = quote(turn.search, texts, turn.language)
            if lines:
                quotes.append(_as_quotation(document, passages[0]["heading"], lines))
    return "\n\n".join(quotes)


def _as_quotation(document: Mapping[str, Any], heading: str, lines: str) -> str:
    place = " › ".join(_escaped(part) for part in (document["title"], heading) if part)
    said = _("From “%(place)s” [%(ref)d]:") % {"place": place, "ref": document["ref"]}
    return "\n".join([said, "", *(f"> {line}".rstrip() for line in _as_text(lines))])


def _as_text(lines: str) -> list[str]:
    """The lines with brackets escaped that a reader of Markdown would take for a citation."""
    shown, fenced = [], False
    for line in lines.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        shown.append(line if fenced or is_fence else _escaped_around_links(line))
        fenced = fenced != is_fence
    return shown


def _escaped_around_links(line: str) -> str:
    kept = sorted([*_LINK.finditer(line), *_CODE.finditer(line)], key=lambda match: match.start())
    shown, position = [], 0
    for match in kept:
        if match.start() >= position:
            shown += [_escaped(line[position : match.start()]), match[0]]
            position = match.end()
    return "".join([*shown, _escaped(line[position:])])


def _escaped(text: str) -> str:
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text)


def _listing(turn: _Turn) -> str:
    listed = turn.exchanges[-1]
    total = listed.result.get("total", 0)
    if not total:
        return _("There is nothing to list yet.")
    lines = [
        ngettext("There is %(count)d article:", "There are %(count)d articles:", total)
        % {"count": total},
        "",
        *(f"- [{_escaped(each['title'])}]({each['url']})" for each in listed.documents),
    ]
    if len(listed.documents) < total:
        more = _("These are the first %(count)d; the start page shows all by category.")
        lines += ["", more % {"count": len(listed.documents)}]
    return "\n".join(lines)


def _small_talk(kind: Kind) -> str:
    texts = {
        "greeting": _("Hello. Ask a question, and I quote what the articles say about it."),
        "thanks": _("You are welcome."),
        "closing": _("Goodbye."),
        "nod": _("Ask another question whenever you like."),
        "assistant": _("I am this site's assistant, a program that quotes what the articles say."),
        "complaint": _("I am sorry that this did not help. Say in a sentence what you want to do."),
    }
    return texts[kind]


def _not_found() -> str:
    return _("I could not find an answer to this in the help center.")


def _call(name: str, **arguments: Any) -> ToolCallRequest:
    return ToolCallRequest("", name, json.dumps(arguments, ensure_ascii=False))
