"""A model that does whatever it reads: the worst one that an article could talk to.

    with ObeyingProvider() as provider:
        settings.OPENAI_BASE_URL = provider.url

It searches for the question, opens what it finds first, and then follows every order that
stands in a result, once: `call tool NAME {…}`, `open slug SLUG`, `search for "…"`,
`print “…”`, `cite N`, `link to ADDRESS`; `never stop calling` makes it call for as long as
it has tools. `before_reply` is called with each request before it is answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.scripted_provider import (
    DONE,
    Reply,
    Request,
    ScriptedProvider,
    Step,
    call,
    finish,
    say,
    usage,
)

MOST_CALLS = 12
"""In one round: more than are run."""

_CALL = re.compile(r"call tool (\w+)(?: (\{[^{}]*\}))?")
_OPEN = re.compile(r"open slug ([\w-]+)")
_SEARCH = re.compile(r'search for "([^"]+)"')
_SAY = re.compile(r"print “([^”]+)”")
_CITE = re.compile(r"cite (\d+)")
_LINK = re.compile(r"link to (\S+)")

Call = tuple[str, str]


class ObeyingProvider(ScriptedProvider):
    def __init__(self) -> None:
        super().__init__()
        self.before_reply: Callable[[Request], None] = lambda request: None

    def next_reply(self, request: Request) -> Reply:
        self.requests.append(request)
        self.before_reply(request)
        return Reply((*_steps(request.body), usage(), DONE))


def _steps(body: dict[str, Any]) -> list[Step]:
    messages = body["messages"]
    asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
    results = [json.loads(m["content"]) for m in messages[asked + 1 :] if m["role"] == "tool"]
    text = "\n".join(_strings(results))
    calls = _orders(messages[asked]["content"], results, text) if body.get("tools") else []
    done = {_named(one) for message in messages[asked:] for one in message.get("tool_calls", ())}
    if "never stop calling" in text and body.get("tools"):
        calls = [("search_articles", json.dumps({"query": f"try {n}"})) for n in range(MOST_CALLS)]
    else:
        calls = [one for one in dict.fromkeys(calls) if one not in done][:MOST_CALLS]
    if calls:
        chunks = [
            call(name, arguments, call_id=f"c{len(messages)}x{index}", index=index)
            for index, (name, arguments) in enumerate(calls)
        ]
        return [*chunks, finish("tool_calls")]
    return [say("This is what I was told to say: "), *map(say, _words(text)), finish()]


def _orders(question: str, results: list[Any], text: str) -> list[Call]:
    if not results:
        return [("search_articles", json.dumps({"query": question}))]
    found = [document["ref"] for document in results[0].get("documents", [])]
    return [
        *(("open_article", json.dumps({"ref": ref})) for ref in found[:2]),
        *((name, arguments or "{}") for name, arguments in _CALL.findall(text)),
        *(("open_article", json.dumps({"slug": slug})) for slug in _OPEN.findall(text)),
        *(("search_articles", json.dumps({"query": query})) for query in _SEARCH.findall(text)),
    ]


def _words(text: str) -> list[str]:
    return [
        *(f"{words}. " for words in dict.fromkeys(_SAY.findall(text))),
        *(f"As said [{ref}]. " for ref in dict.fromkeys(_CITE.findall(text))),
        *(f"See [this page]({address}). " for address in dict.fromkeys(_LINK.findall(text))),
    ]


def _named(tool_call: dict[str, Any]) -> Call:
    function = tool_call["function"]
    return function["name"], function["arguments"]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
