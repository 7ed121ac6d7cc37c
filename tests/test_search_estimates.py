"""What a search is estimated to look at: asked of PostgreSQL once a minute."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from articles.ranking import estimates

pytestmark = pytest.mark.django_db

SELECT = "SELECT FROM generate_series(1, %s) AS number"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "_kept", {})


def asked(values: list[int]) -> tuple[int, int]:
    """The estimate, and how many statements it took."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        rows = estimates.rows(SELECT, values)
    return rows, len(queries)


def test_an_estimate_is_asked_for_once_for_each_scope() -> None:
    assert asked([12]) == (12, 1)
    assert asked([12]) == (12, 0)
    assert asked([7_000]) == (7_000, 1)
    assert asked([12]) == (12, 0)


def test_it_is_asked_for_again_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "KEPT_SECONDS", 0.0)
    assert asked([12]) == (12, 1)
    assert asked([12]) == (12, 1)


def test_a_process_keeps_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "MOST_KEPT", 2)
    assert [asked([rows])[1] for rows in (1, 2, 3)] == [1, 1, 1]
    assert len(estimates._kept) <= 2
