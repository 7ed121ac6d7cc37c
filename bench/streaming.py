"""What a streamed token costs, beside a bare loop over the openai client.

    python bench/streaming.py [--tokens N] [--rounds N]

A scripted OpenAI-compatible server in a process of its own streams the same answer to
both, one event a token. Ours: the provider's stream, the agent's loop and the citation
writer, up to the typed events. Bare: `async for chunk in client.chat.completions…`, and
nothing else. CPU time is this process's; each figure is the median of the rounds, which
take turns. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

import openai  # noqa: E402

from assistant import agent  # noqa: E402
from assistant.agent import Limits, Model  # noqa: E402
from assistant.citations import CitationWriter  # noqa: E402
from assistant.events import Delta, SourceEntry  # noqa: E402
from assistant.provenance import Document, Exposure, Ledger, Source  # noqa: E402
from assistant.providers.context import ContextModel  # noqa: E402
from assistant.providers.openai import OpenAIModel  # noqa: E402
from tests.scripted_provider import DONE, ScriptedProvider, finish, say, usage  # noqa: E402

MESSAGES = [{"role": "user", "content": "How do I set up single sign-on?"}]
ANSWER = (
    "Open **Security** and choose Single sign-on, then paste the address of your identity "
    "provider [1]. Press Save and sign in again; people who are signed in stay so.\n\n"
)


class Cost(NamedTuple):
    """Of one answer: CPU seconds, and seconds to the first text."""

    cpu: float
    first: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    asked = 2 * (options.rounds + 1)
    server = multiprocessing.Process(target=serve, args=(there, options.tokens, asked))
    server.start()
    try:
        asyncio.run(compare(here.recv(), options.tokens, options.rounds))
    finally:
        here.send("done")
        server.join()


def serve(pipe: Connection, tokens: int, answers: int) -> None:
    """The server's process: the same answer again and again, until it is told to end."""
    with ScriptedProvider() as provider:
        answer = ANSWER.split(" ")
        words = [say(f" {answer[number % len(answer)]}") for number in range(tokens)]
        for _ in range(answers):
            provider.reply(*words, finish(), usage(), DONE)
        pipe.send(provider.url)
        pipe.recv()


async def compare(url: str, tokens: int, rounds: int) -> None:
    model = ContextModel(OpenAIModel(name="scripted", base_url=url))
    costs: dict[str, list[Cost]] = {"bare": [], "ours": []}
    async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        loops: dict[str, Callable[[], Awaitable[Cost]]] = {
            "bare": lambda: bare(client, tokens),
            "ours": lambda: ours(model),
        }
        for loop in loops.values():
            await loop()
        for _ in range(rounds):
            for name, loop in loops.items():
                costs[name].append(await loop())
    cpu = {name: median(cost.cpu for cost in each) / tokens * 1e6 for name, each in costs.items()}
    first = {name: median(cost.first for cost in each) * 1e3 for name, each in costs.items()}
    print(f"{tokens} tokens, median of {rounds} answers\n")
    print("| | bare loop over the client | ours | ratio |\n| --- | --- | --- | --- |")
    ratio = cpu["ours"] / cpu["bare"]
    print(f"| CPU per token, µs | {cpu['bare']:.1f} | {cpu['ours']:.1f} | {ratio:.2f} |")
    added = first["ours"] - first["bare"]
    print(f"| first text, ms | {first['bare']:.2f} | {first['ours']:.2f} | {added:+.2f} ms |")


async def bare(client: openai.AsyncOpenAI, tokens: int) -> Cost:
    clock = _Clock()
    request: Any = {"model": "scripted", "messages": MESSAGES, "stream": True}
    stream = await client.chat.completions.create(**request)
    words = 0
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            clock.mark()
            words += 1
    assert words == tokens
    return clock.cost()


async def ours(model: Model) -> Cost:
    clock = _Clock()
    ledger = Ledger()
    ledger.expose(Document("1", "Single sign-on", "/articles/sso/"), Exposure.EXCERPT, text="Open")
    events = agent.run(
        messages=MESSAGES,
        model=model,
        toolbox=NoTools(),
        ledger=ledger,
        writer=CitationWriter(ledger),
        describe=describe,
        references=tuple,
        limits=Limits(),
    )
    async with aclosing(events) as running:
        async for event in running:
            if isinstance(event, Delta):
                clock.mark()
    return clock.cost()


class NoTools:
    specs = ()

    def label(self, call: agent.ToolCallRequest) -> str:
        raise NotImplementedError

    async def call(self, call: agent.ToolCallRequest) -> agent.ToolOutcome:
        raise NotImplementedError


def describe(source: Source) -> SourceEntry:
    document = source.document
    return SourceEntry(
        document.id, "", document.title, document.url, source.number, source.consulted, source.via
    )


class _Clock:
    def __init__(self) -> None:
        self._cpu = time.process_time()
        self._start = time.perf_counter()
        self._first: float | None = None

    def mark(self) -> None:
        if self._first is None:
            self._first = time.perf_counter() - self._start

    def cost(self) -> Cost:
        assert self._first is not None
        return Cost(time.process_time() - self._cpu, self._first)


if __name__ == "__main__":
    main()
