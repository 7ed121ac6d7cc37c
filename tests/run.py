"""What `make test` runs: every check and every test, one after the other, then a summary.

All of them run, even when an early one fails: the summary names each with its time.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
COVERAGE_FLOOR = 92
# What has to be right in every branch: the pure core, access, the sanitiser's gates and limits.
WHOLLY_COVERED = [
    "articles/access.py",
    "articles/addresses.py",
    "articles/markup/anchors.py",
    "articles/chunking.py",
    "articles/ranking/fusion.py",
    "articles/markup/sanitising.py",
    "assistant/access.py",
    "assistant/writing/addresses.py",
    "assistant/agent.py",
    "assistant/citations.py",
    "assistant/contracts.py",
    "assistant/deadline.py",
    "assistant/writing/delivery.py",
    "assistant/writing/destinations.py",
    "assistant/events.py",
    "assistant/writing/inline.py",
    "assistant/writing/lines.py",
    "assistant/limits.py",
    "assistant/writing/markers.py",
    "assistant/writing/pieces.py",
    "assistant/provenance.py",
    "assistant/writing/reading.py",
    "assistant/writing/referencelists.py",
    "assistant/writing/scanner.py",
    "helpcenter/limits.py",
    "helpcenter/proxies.py",
    "helpcenter/request_ids.py",
    "helpcenter/texts.py",
]
CHROMIUM = "chromium"
SLOW = "slow and not browser and not alone"


@dataclass
class Step:
    name: str
    command: Sequence[str]
    passed: bool = False
    seconds: float = 0.0
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, environment: dict[str, str]) -> None:
        print(f"\n=== {self.name}", flush=True)
        started = time.monotonic()
        result = subprocess.run(self.command, cwd=PROJECT, env=environment, check=False)
        self.passed = result.returncode == 0
        self.seconds = time.monotonic() - started


def steps(report: Path) -> list[Step]:
    python = sys.executable
    pytest = [python, "-m", "pytest", "--quiet"]
    measured = [*pytest, "--cov", "--cov-append", "--cov-report="]
    return [
        Step("ruff check", [python, "-m", "ruff", "check", "."]),
        Step("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
        Step("mypy", [python, "-m", "mypy"]),
        Step("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Step("fast tests", [*measured, "-n", "2", "-m", "not slow and not browser"]),
        # By file: what a module sets up, processes of the site among it, is set up once.
        Step("slow tests", [*measured, "-n", "2", "--dist=loadfile", "-m", SLOW]),
        Step("tests alone", [*measured, "-m", "alone"]),
        Step("browser tests", [*pytest, "-m", "browser"]),
        Step("coverage", [python, "-m", "coverage", "report", f"--fail-under={COVERAGE_FLOOR}"]),
        Step("coverage data", [python, "-m", "coverage", "json", "--quiet", "-o", str(report)]),
        Step("coverage of the core", [python, "-m", "tests.run", "core", str(report)]),
    ]


def run_everything() -> int:
    require_chromium()
    return carry_out(steps)


def carry_out(planned: Callable[[Path], list[Step]]) -> int:
    """Runs the steps that are planned for a folder of their own; 0 where all of them passed."""
    with tempfile.TemporaryDirectory(prefix="helpcenter-checks-") as name:
        folder = Path(name)
        # As root, the embedded database's own user has to pass through it.
        folder.chmod(0o711)
        environment = {
            **os.environ,
            "HELPCENTER_DATA_DIR": str(folder / "data"),
            "COVERAGE_FILE": str(folder / "coverage"),
        }
        plan = planned(folder / "coverage.json")
        for step in plan:
            step.run({**environment, **step.variables})
    return summarise(plan)


def summarise(plan: Sequence[Step]) -> int:
    print("\n=== Summary")
    for step in plan:
        print(f"{'passed' if step.passed else 'FAILED'}  {step.seconds:6.1f} s  {step.name}")
    return 0 if all(step.passed for step in plan) else 1


def require_chromium() -> None:
    """The browser tests' browser: installed here where that is possible, asked for elsewhere."""
    if shutil.which(CHROMIUM):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update", "-qq"], ["install", "-qq", "-y", CHROMIUM]):
            subprocess.run(["apt-get", *command], check=True)
    if not shutil.which(CHROMIUM):
        sys.exit("The browser tests need Chromium: apt install chromium")


def check_core(report: Path) -> int:
    """Fail for each file that has to be wholly covered, and is not or was not even run."""
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    missed = [name for name in WHOLLY_COVERED if coverage_of(files, name) < 100]
    for name in missed:
        print(f"{name}: {coverage_of(files, name):.1f} % covered, 100 % are due")
    return 1 if missed else 0


def coverage_of(files: dict[str, dict[str, dict[str, float]]], name: str) -> float:
    return files[name]["summary"]["percent_covered"] if name in files else 0.0


if __name__ == "__main__":
    sys.exit(check_core(Path(sys.argv[2])) if sys.argv[1:2] == ["core"] else run_everything())
