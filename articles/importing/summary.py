"""A report as the lines that a command prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from articles.importing.report import Kind, Outcome, Problem, Report

SHOWN = 15
"""Lines per kind of problem, unless all are asked for."""

_HEADINGS = {
    Kind.FAILED: "Not imported",
    Kind.REFUSED: "Refused",
    Kind.KEPT: "Edited on the site and kept (import with --overwrite to replace them)",
    Kind.LINK: "Links that lead nowhere",
    Kind.ANCHOR: "Links to missing headings",
    Kind.IMAGE: "Images that are not shown",
    Kind.NOTE: "Notes",
}


def problem_lines(report: Report, *, everything: bool) -> Iterator[str]:
    """The problems under their headings, the gravest first; a long list is cut."""
    for kind, heading in _HEADINGS.items():
        problems = report.of(kind)
        if problems:
            yield f"{heading} ({len(problems)}):"
            yield from _shown(problems, None if everything else SHOWN)


def _shown(problems: list[Problem], limit: int | None) -> Iterator[str]:
    for problem in problems[:limit]:
        yield f"  {problem}"
    if limit is not None and len(problems) > limit:
        yield f"  … and {len(problems) - limit} more; --verbosity 2 shows all"


def summary_lines(report: Report, *, dry_run: bool) -> Iterator[str]:
    """What was done, in a few lines."""
    counts = ", ".join(f"{report.count(outcome)} {outcome}" for outcome in Outcome)
    yield f"Articles: {counts}."
    if report.images:
        yield f"{report.images} images copied."
    for label, counter in (
        ("Front matter ignored", report.ignored_keys),
        ("Components without a text left out", report.left_out),
        ("Files left alone", report.skipped),
    ):
        if counter:
            yield f"{label}: {_counted(counter)}."
    if dry_run:
        yield "Dry run: nothing was written."
    elif report.wrote:
        yield f"{report.passages} passages indexed."
    elif not report.failures:
        yield "Nothing changed."


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counter.most_common(12))
