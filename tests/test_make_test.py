"""What `make test` makes of its steps: all are run, one that fails fails the whole."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.run import PROJECT, WHOLLY_COVERED, Step, check_core, require_chromium, steps, summarise


def report(folder: Path, percent: dict[str, float]) -> Path:
    file = folder / "coverage.json"
    files = {name: {"summary": {"percent_covered": value}} for name, value in percent.items()}
    file.write_text(json.dumps({"files": files}))
    return file


def test_a_step_passes_by_its_exit_status() -> None:
    for code, passed in [(0, True), (1, False), (5, False)]:
        step = Step("example", [sys.executable, "-c", f"raise SystemExit({code})"])
        step.run(dict(os.environ))
        assert step.passed is passed


def test_one_failed_step_fails_the_run_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = Step("good", [], passed=True), Step("bad", [], passed=False)
    assert summarise([good]) == 0
    assert summarise([good, bad, good]) == 1
    assert "FAILED     0.0 s  bad" in capsys.readouterr().out


def test_every_check_and_every_kind_of_test_is_a_step() -> None:
    words = " ".join(" ".join(step.command) for step in steps(Path("report.json")))
    for expected in ["ruff check", "ruff format --check", "mypy", "makemigrations --check"]:
        assert expected in words
    for expected in ["not slow and not browser", "slow and not browser and not alone"]:
        assert expected in words
    for expected in ["-m alone", "-m browser"]:
        assert expected in words


def test_the_core_has_to_be_covered_wholly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = dict.fromkeys(WHOLLY_COVERED, 100.0)
    assert check_core(report(tmp_path, whole)) == 0
    name = WHOLLY_COVERED[0]
    assert check_core(report(tmp_path, whole | {name: 99.5})) == 1
    assert f"{name}: 99.5 % covered" in capsys.readouterr().out


def test_a_core_file_that_was_not_even_run_fails(tmp_path: Path) -> None:
    assert check_core(report(tmp_path, dict.fromkeys(WHOLLY_COVERED[1:], 100.0))) == 1


def test_each_file_of_the_core_exists() -> None:
    assert [name for name in WHOLLY_COVERED if not (PROJECT / name).is_file()] == []


def test_without_a_browser_and_without_the_right_to_install_one_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.run.shutil.which", lambda name: None)
    with pytest.raises(SystemExit, match="The browser tests need Chromium: apt install chromium"):
        require_chromium()
