"""What live answers cost one web process: its time, its CPU, its memory.

    python bench/turns.py [--figures first cpu streams idle mixed] [--minutes N] [--cache FOLDER]

A real web process, database and Valkey; a provider that writes 25 tokens a second
(`bench.paced_provider`); visitors from bare sockets (`bench.visitors`). Provider, visitors and
site share the machine's cores, so on a small one the figures are worse than the process alone
would give. CPU is compared with a bare loop over the openai client that does nothing with the
tokens, in the same run. Prints a Markdown table, and the machine's load while it measured.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

import openai  # noqa: E402
import psutil  # noqa: E402
import uvloop  # noqa: E402

from bench import databases  # noqa: E402
from bench.corpora import load_average  # noqa: E402
from bench.paced_provider import paced_provider  # noqa: E402
from bench.visitors import Heard, Visitor  # noqa: E402

PER_SECOND = 25.0
QUESTION = "How do I connect a model?"
FIGURES = ("first", "cpu", "streams", "idle", "mixed")
MOST_ADDED_GAP = 0.05
UNLIMITED = {
    "ASSISTANT_TURNS_PER_VISITOR": "10000000",
    "ASSISTANT_TURNS_PER_ADDRESS": "10000000",
}


@dataclass(frozen=True)
class Site:
    """A running site, and the process that serves it."""

    url: str
    process: psutil.Process

    @property
    def cpu_seconds(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    @property
    def megabytes(self) -> float:
        return float(self.process.memory_info().rss) / 1e6

    async def visitor(self) -> Visitor:
        visitor = Visitor(self.url)
        await visitor.arrive()
        return visitor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--minutes", type=float, default=10.0, help="of the mixed load")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "bench-turns")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (12_000, 12_000))
    with databases.servers(options.cache):
        databases.use("turns", _version(), _build, options.cache)
        print("| figure | measured |\n| --- | --- |")
        for name in options.figures:
            for figure, value in globals()[f"measure_{name}"](options):
                print(f"| {figure} | {value} |", flush=True)
    print(f"\nload average {load_average()}")


def measure_first(options: argparse.Namespace) -> Iterable[tuple[str, str]]:
    """Time to the first word through the site, beside asking the provider itself."""
    with paced_provider(3, PER_SECOND) as endpoint, site(endpoint) as here:
        added = asyncio.run(_added_to_first_word(endpoint, here, rounds=300))
    yield "added time to first word, one stream", _milliseconds(added)


async def _added_to_first_word(endpoint: str, here: Site, rounds: int) -> list[float]:
    visitor = await here.visitor()
    added = []
    async with _client(endpoint) as client:
        await _bare(client)
        await visitor.ask(QUESTION)
        for _ in range(rounds):
            direct = await _bare(client)
            heard = await visitor.ask(QUESTION)
            added.append(heard.first_word - direct)
    return added


def measure_cpu(options: argparse.Namespace) -> Iterable[tuple[str, str]]:
    """CPU seconds of the whole web process per word: with the beginnings and ends of its turns,
    and without them, which is what long answers cost more than short ones."""
    streams, short, long = 50, 100, 500
    costs = {words: _costs_of_answers(streams, words, rounds=3) for words in (short, long)}
    for name in ("bare", "delta", "html"):
        ours, bare = (
            (
                costs[long][one] / streams / long,
                (costs[long][one] - costs[short][one]) / streams / (long - short),
            )
            for one in (name, "bare")
        )
        for part, told in enumerate((f"answers of {long} words whole", "streaming alone")):
            ratio = ours[part] / bare[part]
            yield (
                f"CPU per word, `{name}`, {told}",
                f"{ours[part] * 1e6:.0f} µs, {ratio:.2f} of bare",
            )


def _costs_of_answers(streams: int, words: int, rounds: int) -> dict[str, float]:
    """CPU seconds of so many answers at once: of a bare loop over the client, and of the site."""
    with paced_provider(words, PER_SECOND) as endpoint, site(endpoint) as here:
        asyncio.run(_streams(here, 2))  # loads what the first turn of a process loads
        costs: dict[str, list[float]] = {"bare": [], "delta": [], "html": []}
        for _ in range(rounds):
            before = time.process_time()
            asyncio.run(_bare_loops(endpoint, streams))
            costs["bare"].append(time.process_time() - before)
            for name in ("delta", "html"):
                before = here.cpu_seconds
                asyncio.run(_streams(here, streams, html=name == "html"))
                costs[name].append(here.cpu_seconds - before)
    return {name: median(each) for name, each in costs.items()}


def measure_streams(options: argparse.Namespace) -> Iterable[tuple[str, str]]:
    """How smoothly and how late words come where many answers are written at once.

    The gap between two pieces of a text is beyond the provider's own between two words. Measured
    while all are under way: whoever has an answer asks again, so some begin and end all the time.
    """
    words = 500
    for streams in (100, 200, 300, 400):
        for name in ("delta", "html"):
            with paced_provider(words, PER_SECOND) as endpoint, site(endpoint) as here:
                steady = _steady_streams(here, streams, words / PER_SECOND, html=name == "html")
                gaps, late, load = uvloop.run(steady)
            added = [gap - 1 / PER_SECOND for gap in gaps]
            yield f"{streams} answers as `{name}`, added gap", _milliseconds(added)
            yield f"{streams} answers as `{name}`, words come late by", _milliseconds(late)
            yield f"{streams} answers as `{name}`, of a core", f"{load:.2f}"


async def _steady_streams(
    here: Site, count: int, seconds: float, *, html: bool
) -> tuple[list[float], list[float], float]:
    """Gaps, lateness and the process's share of a core in the `seconds` in which so many answers,
    each of that length, are under way."""
    visitor = await here.visitor()

    async def one(number: int) -> Sequence[Heard]:
        await asyncio.sleep(seconds * number / count)
        return [await visitor.ask(QUESTION, html=html) for _ in range(2)]

    async def load() -> float:
        await asyncio.sleep(seconds)
        before = here.cpu_seconds
        await asyncio.sleep(seconds)
        return (here.cpu_seconds - before) / seconds

    began = time.monotonic() + seconds
    used, *pairs = await asyncio.gather(load(), *(one(number) for number in range(count)))
    heard = [one for pair in pairs for one in pair]
    assert all(one.end == "completed" for one in heard)

    def meanwhile(samples: Iterable[tuple[float, float]]) -> list[float]:
        return [value for moment, value in samples if began < moment < began + seconds]

    gaps = [gap for one in heard for gap in meanwhile(one.gaps)]
    return gaps, [delay for one in heard for delay in meanwhile(one.lateness)], used


def measure_idle(options: argparse.Namespace) -> Iterable[tuple[str, str]]:
    sockets = 5_000
    with paced_provider(3, PER_SECOND) as endpoint, site(endpoint) as here:
        added = asyncio.run(_memory_of_sockets(here, sockets))
    yield f"memory added by {sockets} idle sockets", f"{added:.0f} MB"


async def _memory_of_sockets(here: Site, count: int) -> float:
    visitor = await here.visitor()
    before = here.megabytes
    sockets = []
    for _ in range(count // 50):
        sockets += await asyncio.gather(*(visitor.listen() for _ in range(50)))
    await asyncio.sleep(2)
    added = here.megabytes - before
    for socket in sockets:
        socket.close()
    return added


def measure_mixed(options: argparse.Namespace) -> Iterable[tuple[str, str]]:
    """200 idle sockets, 20 answers at a time, ten help pages a second."""
    with paced_provider(250, PER_SECOND) as endpoint, site(endpoint) as here:
        mixed = asyncio.run(_mixed_load(here, options.minutes * 60))
        memory = here.megabytes
    yield f"{options.minutes:g} minutes of mixed load: first event", _milliseconds(mixed.first)
    yield "help page", _milliseconds(mixed.pages)
    yield "`/healthz`, which waits for nothing but the loop", _milliseconds(mixed.health, last=99)
    yield "answers; pages; errors", f"{len(mixed.first)}; {len(mixed.pages)}; {mixed.errors}"
    yield "memory at the end", f"{memory:.0f} MB"


class Mixed:
    def __init__(self) -> None:
        self.first: list[float] = []
        self.pages: list[float] = []
        self.health: list[float] = []
        self.errors = 0


async def _mixed_load(here: Site, seconds: float) -> Mixed:
    mixed = Mixed()
    visitor = await here.visitor()
    sockets = await asyncio.gather(*(visitor.listen() for _ in range(200)))
    end = time.monotonic() + seconds

    async def ask(number: int) -> None:
        # Answers last ten seconds: begun together, all twenty would begin together for ever.
        await asyncio.sleep(number / 2)
        while time.monotonic() < end:
            heard = await visitor.ask(QUESTION)
            mixed.first.append(heard.first_event)
            mixed.errors += heard.end != "completed"

    async def visit(path: str, per_second: float, into: list[float]) -> None:
        fetches: set[asyncio.Task[float]] = set()
        while time.monotonic() < end:
            fetch = asyncio.create_task(visitor.fetch(path))
            fetches.add(fetch)
            fetch.add_done_callback(lambda task: into.append(task.result()))
            fetch.add_done_callback(fetches.discard)
            await asyncio.sleep(1 / per_second)
        await asyncio.gather(*fetches)

    loads: list[Awaitable[None]] = [ask(number) for number in range(20)]
    loads += [visit("/", 10, mixed.pages), visit("/healthz", 5, mixed.health)]
    for outcome in await asyncio.gather(*loads, return_exceptions=True):
        if isinstance(outcome, Exception):
            mixed.errors += 1
    for socket in sockets:
        socket.close()
    return mixed


async def _streams(here: Site, count: int, *, html: bool = False) -> None:
    """So many answers at once."""
    visitor = await here.visitor()
    asked = (visitor.ask(QUESTION, html=html) for _ in range(count))
    assert all(heard.end == "completed" for heard in await asyncio.gather(*asked))


async def _bare_loops(endpoint: str, count: int) -> None:
    async with _client(endpoint) as client:
        await asyncio.gather(*(_bare(client) for _ in range(count)))


async def _bare(client: openai.AsyncOpenAI) -> float:
    """A loop over the client that does nothing with the words. Seconds to the first one."""
    began, first = time.monotonic(), 0.0
    request: Any = {
        "model": "paced",
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
    }
    async for chunk in await client.chat.completions.create(**request):
        if chunk.choices and chunk.choices[0].delta.content:
            first = first or time.monotonic() - began
    return first


def _client(endpoint: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="none", base_url=endpoint, max_retries=0)


@contextmanager
def site(endpoint: str) -> Iterator[Site]:
    """A web process of the site whose model is behind `endpoint`."""
    from tests.processes import web_process

    variables = {"OPENAI_BASE_URL": endpoint, "ASSISTANT_MODEL": "paced", "LOG_LEVEL": "WARNING"}
    with web_process(**UNLIMITED, **variables) as url:
        yield Site(url, _listener(int(url.rsplit(":", 1)[1])))


def _listener(port: int) -> psutil.Process:
    for process in psutil.Process().children(recursive=True):
        if any(one.laddr and one.laddr.port == port for one in process.net_connections()):
            return process
    raise RuntimeError("the web process was not found")


def _build() -> databases.Figures:
    from django.core.management import call_command

    call_command("load_demo", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    return {}


def _version() -> str:
    migrations = sorted(path.name for path in PROJECT.glob("*/migrations/*.py"))
    return hashlib.sha256("\n".join(migrations).encode()).hexdigest()


def _milliseconds(seconds: Iterable[float], last: int = 95) -> str:
    ranked = sorted(seconds)
    at = {share: ranked[min(len(ranked) * share // 100, len(ranked) - 1)] for share in (50, last)}
    return ", ".join(f"p{share} {value * 1e3:.1f} ms" for share, value in at.items())


if __name__ == "__main__":
    main()
