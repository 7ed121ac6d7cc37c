"""What the citation writer costs: per token, on hostile text, and in characters held back.

    python bench/citations.py

Needs nothing but Python. Times are of the processor, the best of several runs, and differ
between machines; ratios should not. Prints Markdown tables.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger

HOST = "help.example.com"
TOKENS = 2_000
LONG = 100_000

PARAGRAPHS = {
    "prose": (
        "To change your plan, open **Settings**, then *Billing*, and choose the plan that fits "
        "[1]. The new price counts from the next invoice on [2], unless you ask for it at once "
        "[1][2].\n\nIn short (and there is more to it): it's done, it takes a minute.\n\n"
    ),
    "prose with links": (
        "See [how invoices work](/articles/invoices/). Invoices are sent to every owner of the "
        "account, as [the page on members](/articles/members/) says [3].\n\n"
    ),
    "a list": "1. Open *Members*\n2. Press `Invite [all]` [3]\n3. Wait for the mail\n\n",
    "code": "```sh\ncurl -s https://api.example.com/v1/items[0]\n```\n\n",
    "a table": "| Plan | Seats |\n| --- | --- |\n| Team | 12 [1] |\n| Company | 50 |\n\n",
}
"""An answer as models write them. The writer leaves it as it is: what was not delivered is held."""

HOSTILE = [
    *(
        "[",
        "]",
        "[x] ",
        "[1]",
        "[9] ",
        "[9]*",
        "](",
        "[](",
        '[a](b "',
        "[a](<",
        "[a](\n",
        "![",
        "【",
    ),
    *(
        "【1†",
        "<think ",
        "<a:",
        "https://a(",
        "h ",
        "`",
        "` `` ",
        "\\",
        "```\n",
        " ",
        "\n",
        "> ",
        "- ",
    ),
    *("Sources:\n- [1]\n\n", "[a]: b\n", "[a\n"),
]


def main() -> None:
    report_tokens()
    report_held_back()
    report_brackets()
    report_doubling()


def report_tokens() -> None:
    tokens = answer()
    spent = best(lambda: deliver(tokens), runs=7)
    print(f"\n## An answer of {len(tokens)} tokens\n")
    print("| | |\n| --- | ---: |")
    print(f"| the whole answer | {spent * 1e3:.1f} ms |")
    print(f"| a token | {spent / len(tokens) * 1e6:.1f} µs |")


def report_held_back() -> None:
    print("\n## Characters held back, one character fed at a time\n")
    print("| Text | mean | longest |\n| --- | ---: | ---: |")
    held = held_back("".join(PARAGRAPHS.values()))
    for name, text in PARAGRAPHS.items():
        here = list(islice(held, len(text)))
        print(f"| {name} | {fmean(here):.1f} | {max(here)} |")


def report_brackets() -> None:
    print(f"\n## {LONG:,} characters\n")
    print("| | at once | one by one |\n| --- | ---: | ---: |")
    letters = [cost("a" * LONG, size) for size in (LONG, 1)]
    brackets = [cost("[" * LONG, size) for size in (LONG, 1)]
    for name, row in (("letters", letters), ("brackets", brackets)):
        print(f"| {name} | {row[0] * 1e3:.1f} ms | {row[1] * 1e3:.0f} ms |")
    ratios = [there / here for there, here in zip(brackets, letters, strict=True)]
    print(f"| ratio | {ratios[0]:.1f} | {ratios[1]:.1f} |")


def report_doubling() -> None:
    print("\n## Twice the text: times the time\n")
    print(f"| {LONG // 2:,} to {LONG:,} of | at once | one by one | {LONG:,} one by one |")
    print("| --- | ---: | ---: | ---: |")
    for unit in HOSTILE:
        half, whole = repeated(unit, LONG // 2), repeated(unit, LONG)
        at_once = cost(whole, LONG) / cost(half, LONG)
        slow = cost(whole, 1)
        one_by_one = slow / cost(half, 1)
        print(f"| `{unit!r}` | {at_once:.1f} | {one_by_one:.1f} | {slow * 1e3:.0f} ms |")


def answer() -> list[str]:
    """Some two thousand tokens: words with the space before them, and marks."""
    text = "".join(PARAGRAPHS.values()) * 40
    return re.findall(r"\s?\w{1,8}|\s?[^\w\s]{1,2}|\s+", text)[:TOKENS]


def writer() -> CitationWriter:
    ledger = Ledger(site_hosts=[HOST])
    for name in ("plans", "invoices", "members"):
        ledger.expose(Document(name, name.title(), f"/articles/{name}/"), Exposure.EXCERPT)
    return CitationWriter(ledger)


def deliver(slices: Iterable[str]) -> None:
    citing = writer()
    for part in slices:
        citing.feed(part)
    citing.close()


def held_back(text: str) -> Iterator[int]:
    """After each character of a text that the writer leaves as it is: how many are missing."""
    citing, missing = writer(), 0
    for character in text:
        missing += 1 - len(citing.feed(character))
        yield missing


def best(work: Callable[[], None], *, runs: int) -> float:
    """Seconds of the processor, of the run that was disturbed least."""
    times = []
    for _run in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def cost(text: str, size: int) -> float:
    slices = [text[start : start + size] for start in range(0, len(text), size)]
    return best(lambda: deliver(slices), runs=3)


if __name__ == "__main__":
    main()
