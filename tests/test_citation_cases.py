"""The worked cases hold for the whole text, for single characters, and for random slices."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger

Slicing = Callable[[str], Iterator[str]]


def whole(text: str) -> Iterator[str]:
    yield text


def single(text: str) -> Iterator[str]:
    yield from text


def random_slices(seed: int) -> Slicing:
    def slices(text: str) -> Iterator[str]:
        source = random.Random(seed)
        while text:
            size = source.randint(1, 7)
            yield text[:size]
            text = text[size:]

    return slices


SLICINGS = [whole, single, *(random_slices(seed) for seed in range(5))]


@pytest.fixture(scope="module")
def cases(shared_dir: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((shared_dir / "cases" / "citations.json").read_text())
    return loaded


@pytest.mark.parametrize("slicing", SLICINGS, ids=["whole", "single", *"abcde"])
def test_every_worked_case_holds(cases: dict[str, Any], slicing: Slicing) -> None:
    assert len(cases["cases"]) > 50
    wrong = {}
    for case in cases["cases"]:
        expected = (case["text"], case["sources"], case["dropped"])
        if (found := play(case["steps"], cases["site_hosts"], slicing)) != expected:
            wrong[case["name"]] = (found, expected)
    assert wrong == {}


def play(
    steps: list[dict[str, Any]], hosts: list[str], slicing: Slicing
) -> tuple[str, list[Any], list[Any]]:
    ledger = Ledger(site_hosts=hosts)
    writer = CitationWriter(ledger)
    out = []
    for step in steps:
        if "say" in step:
            out += [writer.feed(part) for part in slicing(step["say"])]
        else:
            expose(ledger, step["expose"])
    out.append(writer.close())
    sources = [[s.document.id, s.number, s.consulted, s.via] for s in ledger.sources()]
    return "".join(out), sources, [[d.text, d.reason] for d in ledger.dropped]


def expose(ledger: Ledger, step: dict[str, Any]) -> None:
    document = Document(id=step["id"], title=step["title"], url=step.get("url"))
    exposure = Exposure[step["level"].upper()]
    ledger.expose(document, exposure, step.get("text", ""), carried=step.get("carried", False))
