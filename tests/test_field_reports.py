"""Every field report has a test: each row of `cases/field-reports.md` is claimed by at least one.

A test claims a row by its name (`test_b01_…`) or by `@pytest.mark.field_report("B01", …)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import PROJECT

ROW = re.compile(r"^\| (B\d+) \|", re.MULTILINE)
NAMED = re.compile(r"test_b(\d+)_")


def claims_in(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each test of a file with the rows that it claims."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            named = NAMED.match(node.name)
            claims = [f"B{named[1]}"] if named else []
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith(".field_report"):
                    claims += [ast.literal_eval(argument) for argument in mark.args]
            yield f"{path.name}::{node.name}", claims


@pytest.fixture(scope="module")
def rows(shared_dir: Path) -> set[str]:
    reports = shared_dir / "cases" / "field-reports.md"
    if not reports.is_file():
        pytest.skip("needs cases/field-reports.md in ../shared, beside the checkout")
    found = ROW.findall(reports.read_text(encoding="utf-8"))
    assert len(found) == len(set(found)) > 50
    return set(found)


@pytest.fixture(scope="module")
def claims() -> dict[str, list[str]]:
    paths = sorted((PROJECT / "tests").rglob("test_*.py"))
    return {name: rows for path in paths for name, rows in claims_in(path) if rows}


def test_every_report_is_claimed_by_a_test(rows: set[str], claims: dict[str, list[str]]) -> None:
    claimed = {row for claimed in claims.values() for row in claimed}
    missing = sorted(rows - claimed, key=lambda row: int(row[1:]))
    assert not missing, " ".join(missing)


def test_every_claim_names_a_report(rows: set[str], claims: dict[str, list[str]]) -> None:
    assert not {
        name: unknown for name, claimed in claims.items() if (unknown := set(claimed) - rows)
    }
