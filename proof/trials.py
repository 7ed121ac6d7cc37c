"""Runs tests against a module that was broken, in a process of its own, nothing written to disk.

The processes are forked, so that pytest and what it needs are loaded once. The broken module
exists only in the memory of its process: an import hook gives its code in place of the file's.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import coverage
import hypothesis  # noqa: F401 - loaded once, for all who are forked
import markdown_it  # noqa: F401
import pytest

PROJECT = Path(__file__).resolve().parent.parent
PROFILE = "mutants"
_SLOWEST = 1.5
"""Seconds: a test that takes longer is not asked, there are too many mutants."""

_CPU_SECONDS = 30
_CPU_FACTOR = 4
_WALL_FACTOR = 10
_MEMORY = 4 * 2**30

_UNTESTED = int(pytest.ExitCode.NO_TESTS_COLLECTED)
_CRASHED = 99

_PROJECTS = frozenset({"articles", "assistant", "tests"})
"""Imported anew by each trial, so that nobody holds on to the unbroken module."""

_PLUGINS = ("_hypothesis_pytestplugin", "no:cacheprovider", "no:unraisableexception")
_FOR_BARE = ("tests.profiles",)
_FOR_SITE = ("pytest_django",)


class Verdict(Enum):
    """What the tests made of a broken module."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests that are run the same way. `bare`: without Django, a database, or `conftest.py`.

    `last`: files of random tests, which run everything and take long. They are asked about
    every mutant that the others do not notice.
    """

    name: str
    files: tuple[str, ...]
    bare: bool
    last: tuple[str, ...] = ()


@dataclass(slots=True)
class Baseline:
    """What the tests of a suite touch while nothing is broken. `lines`: by file and line, the
    tests that ran it. `seconds`: of the processor, by test."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def add(self, report: Mapping[str, Any]) -> None:
        """What one more file of tests touches."""
        for path, of_path in report["lines"].items():
            for line, tests in of_path.items():
                self.lines[path].setdefault(int(line), []).extend(tests)
        self.seconds |= report["seconds"]

    def tests_of(self, path: str, first: int, last: int) -> list[str]:
        """The tests that run these lines, quick ones first. Those that run at import are run
        by every test of the file."""
        lines = self.lines[path]
        found = {test for line in range(first, last + 1) for test in lines.get(line, [])}
        if "" in found or not found:
            at_import = any("" in lines.get(line, []) for line in range(first, last + 1))
            found = {test for tests in lines.values() for test in tests} if at_import else set()
        quick = (test for test in found - {""} if self.seconds.get(test, _SLOWEST) < _SLOWEST)
        return sorted(quick, key=lambda test: self.seconds[test])


@dataclass(frozen=True, slots=True)
class Trial:
    """A module, how to make its broken code, and the tests to ask."""

    module: str
    code: Callable[[], CodeType]
    suite: Suite
    tests: Sequence[str]
    seconds: float


@dataclass(slots=True)
class _Loader(importlib.machinery.SourceFileLoader):
    """Gives the code of one module."""

    broken: CodeType

    def __init__(self, name: str, path: str, broken: CodeType) -> None:
        importlib.machinery.SourceFileLoader.__init__(self, name, path)
        self.broken = broken

    def get_code(self, fullname: str) -> CodeType:
        return self.broken


@dataclass(slots=True)
class _Finder:
    """Stands before all others in the import of one module."""

    module: str
    path: str
    code: CodeType

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        loader = _Loader(fullname, self.path, self.code)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


@dataclass(slots=True)
class _Chosen:
    """A pytest plugin: only these tests, each with its cases, in this order; and a worker with a
    database of its own."""

    tests: Sequence[str]
    slot: int
    passed: int = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        # What xdist's workers carry; the suite's own servers are running already.
        config.workerinput = {"workerid": f"gw{self.slot}"}  # type: ignore[attr-defined]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.tests:
            place = {test: number for number, test in enumerate(self.tests)}
            places = [min(place.get(name, len(place)) for name in _names(item)) for item in items]
            chosen = [pair for pair in zip(places, items, strict=True) if pair[0] < len(place)]
            items[:] = [item for _, item in sorted(chosen, key=lambda pair: pair[0])]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed


def _names(item: pytest.Item) -> tuple[str, str, str]:
    """How a test may be asked for: as one case, with all its cases, with all of its file."""
    return item.nodeid, item.nodeid.split("[")[0], item.nodeid.split("::")[0]


@dataclass(slots=True)
class _Watch:
    """A pytest plugin: which test runs which lines, and how long it takes."""

    measured: coverage.Coverage
    seconds: dict[str, float] = field(default_factory=dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterable[None]:
        self.measured.switch_context(item.nodeid)
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.measured.switch_context("")
            self.seconds[item.nodeid] = time.process_time() - began


def path_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no module {module}")
    return spec.origin


def measure(suite: Suite, modules: Iterable[str], jobs: int) -> Baseline:
    """Runs the suite with nothing broken, each file in a process of its own. It has to pass."""
    paths = [path_of(module) for module in modules]
    baseline = Baseline({path: {} for path in paths}, {})
    with tempfile.TemporaryDirectory(prefix="helpcenter-proof-") as folder:
        reports = [Path(folder) / str(number) for number in range(len(suite.files))]
        work = [
            functools.partial(_measure, suite, file, paths, report)
            for file, report in zip(suite.files, reports, strict=True)
        ]
        for number, code in _forked(work, jobs):
            if code:
                raise SystemExit(f"{suite.files[number]} does not pass with nothing broken")
            baseline.add(json.loads(reports[number].read_text(encoding="utf-8")))
    return baseline


def _measure(suite: Suite, file: str, paths: list[str], report: Path, slot: int) -> int:
    measured = coverage.Coverage(data_file=None, include=paths, config_file=False)
    watch = _Watch(measured)
    measured.start()
    code = _pytest(suite, [file], [watch, _Chosen([], slot)])
    measured.stop()
    data = measured.get_data()
    lines = {path: data.contexts_by_lineno(path) for path in paths}
    report.write_text(json.dumps({"lines": lines, "seconds": watch.seconds}), encoding="utf-8")
    return code


def judge(trials: Sequence[Trial], jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Runs the trials, as many at a time as there are jobs; gives each one's place and verdict
    as it ends."""
    tested = [number for number, trial in enumerate(trials) if trial.tests]
    yield from ((n, Verdict.UNTESTED) for n, trial in enumerate(trials) if not trial.tests)
    work = [functools.partial(_attempt, trials[number]) for number in tested]
    for place, code in _forked(work, jobs):
        yield tested[place], _verdict(code, trials[tested[place]])


def _forked(work: Sequence[Callable[[int], int]], jobs: int) -> Iterator[tuple[int, int]]:
    """Runs each piece of work in a process of its own, as many at a time as there are jobs.

    The work gets the number of its slot, which no other has at that time. Gives its place and
    exit code as it ends; minus the signal, where one ended it.
    """
    waiting = list(range(len(work)))[::-1]
    slots = list(range(jobs))
    running: dict[int, tuple[int, int]] = {}
    while waiting or running:
        while waiting and slots:
            place, slot = waiting.pop(), slots.pop()
            running[_fork(work[place], slot)] = place, slot
        process, status = os.wait()
        place, slot = running.pop(process)
        slots.append(slot)
        yield place, os.waitstatus_to_exitcode(status)


def _fork(work: Callable[[int], int], slot: int) -> int:
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = _CRASHED
    try:
        code = work(slot)
    finally:
        sys.stdout.flush()
        os._exit(code)


def _verdict(code: int, trial: Trial) -> Verdict:
    if code == _CRASHED:
        raise RuntimeError(f"a trial of {trial.module} could not be run")
    if code == _UNTESTED:
        return Verdict.UNTESTED
    return Verdict.KILLED if code else Verdict.SURVIVED


def _attempt(trial: Trial, slot: int) -> int:
    seconds = int(_CPU_SECONDS + _CPU_FACTOR * trial.seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(seconds * _WALL_FACTOR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    finder = _Finder(trial.module, path_of(trial.module), trial.code())
    sys.meta_path.insert(0, finder)
    for name in [name for name in sys.modules if name.split(".")[0] in _PROJECTS]:
        del sys.modules[name]
    chosen = _Chosen(trial.tests, slot)
    files = sorted({test.split("::")[0] for test in trial.tests})
    code = _pytest(trial.suite, files, [chosen])
    # Tests that were skipped prove nothing.
    return code or (0 if chosen.passed else _UNTESTED)


def _pytest(suite: Suite, files: Iterable[str], plugins: list[object]) -> int:
    """Asserts stay as they are written, and only the plugins that are needed are loaded: this
    is done thousands of times, and nobody reads what a test that fails has to say."""
    os.environ |= {"HYPOTHESIS_PROFILE": PROFILE, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    wanted = _FOR_BARE if suite.bare else _FOR_SITE
    arguments = [part for name in (*_PLUGINS, *wanted) for part in ("-p", name)]
    arguments += ["--noconftest"] if suite.bare else ["--reuse-db"]
    arguments += [
        "--quiet",
        "--exitfirst",
        "--tb=no",
        "--no-summary",
        "--assert=plain",
        "-m",
        "not slow",
    ]
    return int(pytest.main([*arguments, *files], plugins=plugins))


def broken(code: Mapping[str, str], source: str) -> str:
    """The source with each text replaced by another; `LookupError` unless it stands there once."""
    for old, new in code.items():
        if source.count(old) != 1:
            raise LookupError(f"stands there {source.count(old)} times, and not once: {old!r}")
        source = source.replace(old, new)
    return source
