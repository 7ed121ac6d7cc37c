"""Breaks the pure core in every small way, and each named guard once: the tests have to notice.

    python -m proof.mutation                    all of it
    python -m proof.mutation delivery markers   the modules of these names only
    python -m proof.mutation --guards           the named guards only

Mutants that no test notices have to stand in `survivors.toml` with the reason. One that does
not is an error; one that stands there and is noticed now is reported, to be taken out.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from proof.core import called, modules, suite_of
from proof.guards import GUARDS, Guard
from proof.mutants import Mutant, mutants
from proof.sessions import Suite
from proof.trials import Baseline, Trial, Verdict, broken, judge, measure, path_of

SURVIVORS = Path(__file__).with_name("survivors.toml")
_PROGRESS = 200
Key = tuple[str, str, str]
"""The last name of a module, the function, and the change."""


@dataclass(frozen=True, slots=True)
class Case:
    """A mutant of a module, with its verdict to come."""

    module: str
    mutant: Mutant

    @property
    def key(self) -> Key:
        return self.module.rpartition(".")[2], *self.mutant.key

    def __str__(self) -> str:
        path = os.path.relpath(path_of(self.module))
        return f"{path}:{self.mutant.first} {self.mutant.function}: {self.mutant.change}"


def main() -> int:
    options = _options()
    chosen = [called(name) for name in options.modules] or list(modules())
    guards = [g for g in GUARDS if not options.modules or called(g.module) in chosen]
    suites = {modules()[module] for module in chosen} | {suite_of(g.test) for g in guards}
    with _servers(needed=not all(suite.bare for suite in suites)):
        failed = _check_guards(guards, options.jobs)
        if not options.guards:
            failed |= _check_mutants(chosen, options.jobs, quick=options.quick)
    return int(failed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Break the core; the tests have to notice.")
    parser.add_argument("modules", nargs="*", help="last names; all modules where none")
    parser.add_argument("--guards", action="store_true", help="the named guards only")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="without the random tests: lists too what they alone notice",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


@contextmanager
def _servers(*, needed: bool) -> Iterator[None]:
    if not needed:
        yield
        return
    from tests.servers import TestServers

    servers = TestServers.start()
    try:
        yield
    finally:
        servers.stop()


# Named guards


def _check_guards(guards: Sequence[Guard], jobs: int) -> bool:
    """Each test has to fail with its guard taken out, and to pass with nothing broken."""
    whole = list({guard.test: guard for guard in guards}.values())
    trials = [
        *(_trial_of_guard(guard, guard.new) for guard in guards),
        *(_trial_of_guard(guard, guard.old) for guard in whole),
    ]
    verdicts = dict(judge(trials, jobs))
    unnoticed = [g for n, g in enumerate(guards) if verdicts[n] is not Verdict.KILLED]
    failing = [g for n, g in enumerate(whole, len(guards)) if verdicts[n] is not Verdict.SURVIVED]
    print(f"\n{len(guards)} guards broken by hand, {len(guards) - len(unnoticed)} noticed")
    for guard in unnoticed:
        print(f"  NOT NOTICED  {guard.name} ({guard.test})")
    for guard in failing:
        print(f"  DOES NOT PASS with nothing broken  {guard.test}")
    return bool(unnoticed or failing)


def _trial_of_guard(guard: Guard, text: str) -> Trial:
    module = called(guard.module)
    path = path_of(module)
    try:
        source = broken({guard.old: text}, Path(path).read_text(encoding="utf-8"))
    except LookupError as error:
        raise SystemExit(f"The guard “{guard.name}” in {path} {error}") from error
    code = functools.partial(compile, source, path, "exec")
    return Trial(module, code, suite_of(guard.test), [guard.test], {})


# Mutants


def _check_mutants(chosen: Sequence[str], jobs: int, *, quick: bool) -> bool:
    cases = [
        Case(module, mutant)
        for module in chosen
        for mutant in mutants(Path(path_of(module)).read_text(encoding="utf-8"))
    ]
    trials = list(_trials(cases, jobs, quick=quick))
    verdicts: dict[int, Verdict] = {}
    began = time.monotonic()
    print(f"\n{len(cases)} mutants of {len(chosen)} modules; those that no test notices:")
    for number, verdict in judge(trials, jobs):
        verdicts[number] = verdict
        if verdict is not Verdict.KILLED:
            print(f"  {verdict.value:9} {cases[number]}", flush=True)
        if len(verdicts) % _PROGRESS == 0:
            print(f"  … {len(verdicts)} of {len(cases)}", flush=True)
    _print_table(cases, verdicts)
    print(f"\n{time.monotonic() - began:.0f} s")
    return _compare(cases, verdicts)


def _trials(cases: Iterable[Case], jobs: int, *, quick: bool) -> Iterator[Trial]:
    baselines: dict[Suite, Baseline] = {}
    for case in cases:
        suite = modules()[case.module]
        if suite not in baselines:
            of_suite = [module for module, its in modules().items() if its is suite]
            measured = dataclasses.replace(suite, last=()) if quick else suite
            baselines[suite] = measure(measured, of_suite, jobs)
        path = path_of(case.module)
        baseline = baselines[suite]
        tests = baseline.tests_of(path, case.mutant.first, case.mutant.last)
        code = functools.partial(_code, case.mutant, path)
        asked = tests or baseline.tests_of_all(path)
        yield Trial(case.module, code, suite, asked, baseline.seconds, anew=not tests)


def _code(mutant: Mutant, path: str) -> CodeType:
    return compile(mutant.break_tree(), path, "exec")


def _print_table(cases: Sequence[Case], verdicts: dict[int, Verdict]) -> None:
    counts = Counter((cases[number].key[0], verdict) for number, verdict in verdicts.items())
    print("\n| module | mutants | noticed | not noticed |\n| --- | ---: | ---: | ---: |")
    for module in dict.fromkeys(case.key[0] for case in cases):
        noticed = counts[module, Verdict.KILLED]
        all_of_it = sum(counts[module, verdict] for verdict in Verdict)
        print(f"| {module} | {all_of_it} | {noticed} | {all_of_it - noticed} |")


def _compare(cases: Sequence[Case], verdicts: dict[int, Verdict]) -> bool:
    """Compares what survived with what is explained; True where something is not."""
    here = {case.key[0] for case in cases}
    survived = {cases[n].key: cases[n] for n, found in verdicts.items() if found != Verdict.KILLED}
    new, gone = survivors_unlike(survived.keys(), explained(), here)
    print(f"{len(survived)} survivors, {len(survived) - len(new)} of them explained")
    for key in new:
        print(f"  NOT EXPLAINED  {survived[key]}")
    for key in gone:
        print(f"  noticed now, take it out of {SURVIVORS.name}:  {' | '.join(key)}")
    return bool(new)


def survivors_unlike(
    survived: Set[Key], explained: Set[Key], modules: Set[str]
) -> tuple[list[Key], list[Key]]:
    """Those that nobody explained, and those explained that do not survive, of these modules."""
    gone = {key for key in explained - survived if key[0] in modules}
    return sorted(survived - explained), sorted(gone)


def explained() -> set[Key]:
    """The survivors of the file; each stands under a reason."""
    found = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    keys: set[Key] = set()
    for group in found["because"]:
        if not group["reason"].strip():
            raise SystemExit(f"{SURVIVORS.name}: survivors without a reason")
        for module, function, change in group["survivors"]:
            keys.add((module, function, change))
    return keys


if __name__ == "__main__":
    sys.exit(main())
