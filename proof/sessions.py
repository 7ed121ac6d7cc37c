"""Sessions of pytest that collect once, and are forked for each run of some of their tests."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

PROFILE = "mutants"
_PLUGINS = ("_hypothesis_pytestplugin", "no:cacheprovider", "no:unraisableexception")
_FOR_BARE = ("tests.profiles",)
_FOR_SITE = ("pytest_django.plugin",)
UNTESTED = int(pytest.ExitCode.NO_TESTS_COLLECTED)

_SECONDS = 1.5
_SECONDS_FACTOR = 6
_UNKNOWN_SECONDS = 10.0
_WAIT = 30
_WAIT_FACTOR = 30
"""Of the clock, for a test that waits for what never comes; much, for the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests that are run the same way. `bare`: without Django, a database, or `conftest.py`.

    `last`: files of random tests, which run everything and take long. They are asked however
    long they take.
    """

    name: str
    files: tuple[str, ...]
    bare: bool
    last: tuple[str, ...] = ()

    @property
    def all_files(self) -> tuple[str, ...]:
        return (*self.files, *self.last)


@dataclass(slots=True)
class Runner:
    """The tests of a session that has collected, to be run in a fork of it. `anchor`: follows
    the last of them, and is not run."""

    session: pytest.Session
    anchor: pytest.Item
    failed: bool = False
    passed: int = 0

    def run(self, tests: Sequence[str], seconds: Mapping[str, float]) -> int:
        """Runs these tests, in this order, until one fails. The exit code: 0 when all passed,
        1 when one failed, `UNTESTED` when none was run. `seconds`: what they take of the
        processor; one that takes many times as long hangs, and ends the process."""
        items = self.chosen(tests)
        for item, following in zip(items, [*items[1:], self.anchor], strict=True):
            expected = seconds.get(item.nodeid, _UNKNOWN_SECONDS)
            signal.setitimer(signal.ITIMER_PROF, _SECONDS + _SECONDS_FACTOR * expected)
            signal.alarm(int(_WAIT + _WAIT_FACTOR * expected))
            self.run_one(item, following)
            if self.failed:
                return 1
        # Tests that were skipped prove nothing.
        return 0 if self.passed else UNTESTED

    def run_one(self, item: pytest.Item, following: pytest.Item) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def chosen(self, tests: Sequence[str]) -> list[pytest.Item]:
        """The items that were asked for, in the order in which they were."""
        place = {test: number for number, test in enumerate(tests)}
        found = []
        for item in self.session.items:
            places = [place[name] for name in _names(item) if name in place]
            found += [(min(places), item)] if places else []
        return [item for _, item in sorted(found, key=lambda pair: pair[0])]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed
        self.passed += report.when == "call" and report.passed


def _names(item: pytest.Item) -> tuple[str, str, str]:
    """How a test may be asked for: as one case, with all its cases, with all of its file."""
    return item.nodeid, item.nodeid.split("[")[0], item.nodeid.split("::")[0]


@dataclass(slots=True)
class Watch:
    """A pytest plugin: which test runs which lines, and how long it takes."""

    switch_context: Callable[[str], object] = lambda test: None
    seconds: dict[str, float] = field(default_factory=dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterable[None]:
        self.switch_context(item.nodeid)
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.switch_context("")
            self.seconds[item.nodeid] = time.process_time() - began


@dataclass(slots=True)
class _Host:
    """A pytest plugin: does something else with the tests than to run them all."""

    use: Callable[[Runner], None]
    bare: bool

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        # What xdist's workers carry; the suite's own servers are running already.
        config.workerinput = {"workerid": "gw0"}  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed or not session.items:
            raise session.Failed("not everything could be collected")
        runner = Runner(session, beside_modules(session, _nothing))
        session.config.pluginmanager.register(runner)
        if not self.bare:
            self._open_database(runner)
        gc.collect()
        self.use(runner)
        return True

    def _open_database(self, runner: Runner) -> None:
        """Once for all forks, each of which opens a connection of its own."""
        from django.db import connections

        runner.run_one(beside_modules(runner.session, _nothing_with_a_database), runner.anchor)
        if runner.failed:
            raise runner.session.Failed("the test database could not be opened")
        runner.passed = 0
        connections.close_all()


def beside_modules(session: pytest.Session, test: Callable[..., None]) -> pytest.Item:
    """A test that stands beside the modules of a session and not in one of them.

    As the next one of the last, one that does nothing keeps what the session shares. What is
    set up for a module may not stay, for then no test of another module may run.
    """
    module = next(item.getparent(pytest.Module) for item in session.items)
    assert module is not None
    item = pytest.Function.from_parent(module.parent, name=test.__name__, callobj=test)
    assert isinstance(item, pytest.Item)
    return item


def _nothing() -> None: ...


def _nothing_with_a_database(db: None) -> None: ...


def collect(suite: Suite, files: Sequence[str], use: Callable[[Runner], None]) -> int:
    """Collects the tests of these files in this process and hands them to `use`; pytest's
    exit code. Asserts stay as they are written, and only the plugins that are needed are
    loaded."""
    # Django's settings are to be read when `conftest.py` has set the environment, not before.
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    os.environ |= {"HYPOTHESIS_PROFILE": PROFILE, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    wanted = _FOR_BARE if suite.bare else _FOR_SITE
    arguments = [part for name in (*_PLUGINS, *wanted) for part in ("-p", name)]
    arguments += ["--noconftest"] if suite.bare else ["--reuse-db"]
    arguments += ["--quiet", "--tb=no", "--no-summary", "--assert=plain", "-m", "not slow"]
    return int(pytest.main([*arguments, *files], plugins=[_Host(use, suite.bare)]))
