"""Asks the tests about modules that were broken, each in a process of its own.

Nothing is written to disk. Most trials are a fork of a session of pytest that has collected,
with one function changed in memory: this costs as little as the tests themselves do. A change
outside of functions is tried in a process that imports and collects anew.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import resource
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage

from proof.forks import CRASHED, forked, silence, start
from proof.sessions import UNTESTED, Runner, Suite, Watch, collect
from proof.swapping import functions_changed, import_anew, loaded_functions, swap

_SLOWEST = 0.4
"""Seconds: a test that takes longer is asked only where it is random, there are too many
mutants."""

_ANEW = 98
"""The exit code of a trial that has to import the module anew."""

_MEMORY = 4 * 2**30


class Verdict(Enum):
    """What the tests made of a broken module."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"


@dataclass(slots=True)
class Baseline:
    """What the tests of a suite touch while nothing is broken. `lines`: by file and line, the
    quick tests that ran it. `seconds`: of the processor, by test. `last`: the random tests,
    which run everything."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    last: list[str]

    def tests_of(self, path: str, first: int, last: int) -> list[str]:
        """The tests that run these lines, quick ones first; none where they run at import."""
        lines = self.lines[path]
        return self._quick_first(test for n in range(first, last + 1) for test in lines.get(n, []))

    def tests_of_all(self, path: str) -> list[str]:
        """The tests that run anything of a file, quick ones first."""
        return self._quick_first(test for tests in self.lines[path].values() for test in tests)

    def _quick_first(self, tests: Iterable[str]) -> list[str]:
        found = sorted(set(tests), key=lambda test: self.seconds[test])
        return [*found, *self.last] if found else []


@dataclass(frozen=True, slots=True)
class Trial:
    """A module, how to make its broken code, and the tests to ask. `seconds`: what tests take.
    `anew`: the change takes effect at import only."""

    module: str
    code: Callable[[], CodeType]
    suite: Suite
    tests: Sequence[str]
    seconds: Mapping[str, float]
    anew: bool = False


@functools.cache
def path_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no module {module}")
    return spec.origin


def measure(suite: Suite, modules: Iterable[str], jobs: int) -> Baseline:
    """Runs the suite with nothing broken, and again the quick tests of it, watching what they
    run. Each file has a process of its own, and has to pass."""
    paths = [path_of(module) for module in modules]
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = {path: {} for path in paths}
    for report in _reports(suite, suite.all_files, _time, jobs):
        seconds |= report
    quick = [test for test, taken in seconds.items() if taken < _SLOWEST]
    trace = functools.partial(_trace, quick, paths)
    for report in _reports(suite, suite.files, trace, jobs):
        for path, line, tests in report["lines"]:
            lines[path].setdefault(line, []).extend(tests)
    last = [test for test in seconds if test.split("::")[0] in suite.last]
    return Baseline(lines, seconds, sorted(last, key=lambda test: seconds[test]))


Measurement = Callable[[str, Runner], tuple[int, dict[str, Any]]]
"""Of a file, in the session of a runner: an exit code, and what was measured."""


def _reports(
    suite: Suite, files: Sequence[str], measurement: Measurement, jobs: int
) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="helpcenter-proof-") as folder:
        reports = [Path(folder) / str(number) for number in range(len(files))]
        work = [
            functools.partial(_write, measurement, file, report)
            for file, report in zip(files, reports, strict=True)
        ]
        for place, code in _in_session(suite, suite.all_files, lambda _: work, jobs):
            if code:
                raise SystemExit(f"{files[place]} does not pass with nothing broken")
            yield json.loads(reports[place].read_text(encoding="utf-8"))


def _write(measurement: Measurement, file: str, report: Path, runner: Runner) -> int:
    code, found = measurement(file, runner)
    report.write_text(json.dumps(found), encoding="utf-8")
    return code


def _time(file: str, runner: Runner) -> tuple[int, dict[str, Any]]:
    watch = Watch()
    runner.session.config.pluginmanager.register(watch)
    return runner.run([file], {}), watch.seconds


def _trace(
    tests: Sequence[str], paths: list[str], file: str, runner: Runner
) -> tuple[int, dict[str, Any]]:
    measured = coverage.Coverage(data_file=None, include=paths, config_file=False)
    runner.session.config.pluginmanager.register(Watch(measured.switch_context))
    measured.start()
    code = runner.run([test for test in tests if test.split("::")[0] == file], {})
    measured.stop()
    data = measured.get_data()
    lines = [
        (path, line, [test for test in contexts if test])
        for path in paths
        for line, contexts in data.contexts_by_lineno(path).items()
    ]
    return code, {"lines": lines}


def judge(trials: Sequence[Trial], jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Runs the trials, as many at a time as there are jobs; gives each one's place and verdict
    as it ends."""
    yield from ((n, Verdict.UNTESTED) for n, trial in enumerate(trials) if not trial.tests)
    for suite in dict.fromkeys(trial.suite for trial in trials):
        places = [n for n, trial in enumerate(trials) if trial.tests and trial.suite == suite]
        yield from _judge(suite, places, trials, jobs)


def _judge(
    suite: Suite, places: Sequence[int], trials: Sequence[Trial], jobs: int
) -> Iterator[tuple[int, Verdict]]:
    anew = [place for place in places if trials[place].anew]
    quick = [place for place in places if not trials[place].anew]
    work = functools.partial(_swaps, [trials[place] for place in quick])
    files = sorted({test.split("::")[0] for place in quick for test in trials[place].tests})
    for number, code in _in_session(suite, files, work, jobs) if quick else ():
        if code == _ANEW:
            anew.append(quick[number])
        else:
            yield quick[number], _verdict(code, trials[quick[number]])
    for number, code in forked(
        [functools.partial(_attempt, trials[n]) for n in anew], jobs if suite.bare else 1
    ):
        yield anew[number], _verdict(code, trials[anew[number]])


Work = Sequence[Callable[[Runner], int]]


def _in_session(
    suite: Suite, files: Sequence[str], work: Callable[[Runner], Work], jobs: int
) -> Iterator[tuple[int, int]]:
    """Collects the files in a process, and runs the work in forks of it; gives place and exit
    code of each. Those that share a database run one after the other."""
    jobs = jobs if suite.bare else 1
    reading, writing = os.pipe()

    def use(runner: Runner) -> None:
        pieces = [functools.partial(piece, runner) for piece in work(runner)]
        for place, code in forked(pieces, jobs):
            os.write(writing, b"%d %d\n" % (place, code))

    def host() -> int:
        silence()
        return collect(suite, files, use)

    process = start(host)
    os.close(writing)
    with open(reading, encoding="utf-8") as lines:
        for line in lines:
            place, _, ending = line.partition(" ")
            yield int(place), int(ending)
    _, status = os.waitpid(process, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"the tests of {suite.name} could not be collected ({code})")


def _swaps(trials: Sequence[Trial], runner: Runner) -> Work:
    modules = {trial.module: path_of(trial.module) for trial in trials}
    functions = loaded_functions(modules.values())
    whole = {
        module: compile(Path(path).read_text(encoding="utf-8"), path, "exec")
        for module, path in modules.items()
    }
    return [
        functools.partial(_swap_and_run, t, whole[t.module], functions[modules[t.module]])
        for t in trials
    ]


def _swap_and_run(
    trial: Trial, whole: CodeType, functions: Sequence[FunctionType], runner: Runner
) -> int:
    _limit_memory()
    changed = functions_changed(whole, trial.code())
    if changed is None or not swap(functions, changed):
        return _ANEW
    return runner.run(trial.tests, trial.seconds)


def _attempt(trial: Trial) -> int:
    _limit_memory()
    silence()
    import_anew(trial.module, path_of(trial.module), trial.code())
    files = sorted({test.split("::")[0] for test in trial.tests})
    codes: list[int] = []
    code = collect(
        trial.suite, files, lambda runner: codes.append(runner.run(trial.tests, trial.seconds))
    )
    # A module that cannot be imported any more is noticed.
    return codes[0] if codes else code


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _verdict(code: int, trial: Trial) -> Verdict:
    if code == CRASHED:
        raise RuntimeError(f"a trial of {trial.module} could not be run")
    if code == UNTESTED:
        return Verdict.UNTESTED
    return Verdict.KILLED if code else Verdict.SURVIVED


def broken(code: Mapping[str, str], source: str) -> str:
    """The source with each text replaced by another; `LookupError` unless it stands there once."""
    for old, new in code.items():
        if source.count(old) != 1:
            raise LookupError(f"stands there {source.count(old)} times, and not once: {old!r}")
        source = source.replace(old, new)
    return source
