"""How many turns somebody may begin: atomic over all processes, and held without Valkey too."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from assistant.bill.budgets import Budget
from assistant.limits import charge
from assistant.refusals import BudgetSpent, RateLimited
from helpcenter import limits


@pytest.fixture(autouse=True)
def small_limits(settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 3
    settings.ASSISTANT_TURNS_PER_ADDRESS = 5
    settings.ASSISTANT_TURNS_WITHOUT_VALKEY = 7
    settings.ASSISTANT_LIMIT_SECONDS = 100


@pytest.fixture
def without_valkey(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limits._script.cache_clear()
    limits._local.clear()
    yield
    limits._script.cache_clear()
    limits._local.clear()


def may_ask(owner: str, address: str = "192.0.2.1") -> bool:
    try:
        charge(owner, address)
    except RateLimited:
        return False
    return True


def test_a_visitor_may_ask_so_often() -> None:
    assert [may_ask("visitor:a") for _ in range(4)] == [True, True, True, False]
    assert may_ask("visitor:b")


def test_the_refusal_says_when_to_come_back() -> None:
    for _ in range(3):
        charge("visitor:a", "192.0.2.1")
    with pytest.raises(RateLimited) as refusal:
        charge("visitor:a", "192.0.2.1")
    assert refusal.value.retry_after in range(90, 101)


def test_an_address_may_ask_so_often_whatever_visitors_it_claims() -> None:
    assert [may_ask(f"visitor:{number}") for number in range(6)] == [True] * 5 + [False]
    assert may_ask("visitor:6", "192.0.2.2")


def test_which_limit_was_reached_is_told_and_logged(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ASSISTANT_TURNS_PER_DAY, settings.ASSISTANT_TOKENS_PER_DAY = 3, 50
    charged: list[tuple[str, int, int]] = []

    def note(budget: Budget, count: int, amount: int) -> None:
        charged.append((budget.kind, count, amount))

    monkeypatch.setattr(Budget, "was_charged", note)
    caplog.set_level("INFO", logger="assistant.limits")
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    charge("visitor:a", "192.0.2.1")
    with pytest.raises(RateLimited) as refused:
        charge("visitor:a", "192.0.2.1")
    charge("visitor:b", "192.0.2.1")
    charge("visitor:c", "192.0.2.1")
    with pytest.raises(BudgetSpent):
        charge("visitor:d", "192.0.2.1")

    assert not isinstance(refused.value, BudgetSpent)
    turns, tokens = [("turns", n, 1) for n in (1, 2, 3)], [("tokens", 0, 0)] * 3
    assert charged == [pair for both in zip(turns, tokens, strict=True) for pair in both]
    assert [record.message for record in caplog.records] == ["turn_limited", "budget_spent"]


def test_a_refused_turn_charges_no_bucket(valkey_client: redis.Redis) -> None:
    for _ in range(10):
        may_ask("visitor:a")
    assert valkey_client.get("limit:owner:visitor:a") == b"3"
    assert valkey_client.get("limit:address:192.0.2.1") == b"3"


def test_buckets_expire(valkey_client: redis.Redis) -> None:
    may_ask("visitor:a")
    keys = valkey_client.keys("limit:*")
    assert len(keys) == 2
    assert all(0 < valkey_client.ttl(key) <= 100 for key in keys)


def test_a_new_window_begins_with_nothing_counted(valkey_client: redis.Redis) -> None:
    assert [may_ask("visitor:a") for _ in range(4)][-1] is False
    valkey_client.delete("limit:owner:visitor:a")
    assert may_ask("visitor:a")


def test_exactly_as_many_pass_as_may_when_all_ask_at_once() -> None:
    with ThreadPoolExecutor(16) as pool:
        passed = list(pool.map(lambda number: may_ask("visitor:a"), range(60)))
    assert sum(passed) == 3


@pytest.mark.usefixtures("without_valkey")
def test_without_valkey_the_same_limits_hold_in_the_process() -> None:
    assert [may_ask("visitor:a") for _ in range(4)] == [True, True, True, False]
    assert [may_ask(f"visitor:{number}") for number in range(3)] == [True, True, False]


@pytest.mark.usefixtures("without_valkey")
def test_without_valkey_there_is_a_ceiling_over_everyone() -> None:
    asked = [may_ask(f"visitor:{number}", f"192.0.2.{number}") for number in range(9)]
    assert asked == [True] * 7 + [False] * 2


@pytest.mark.usefixtures("without_valkey")
def test_without_valkey_windows_that_are_over_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    for number in range(50):
        may_ask(f"visitor:{number}", f"192.0.2.{number}")
    now += 200
    may_ask("visitor:a")
    assert len(limits._local._counts) == 3


@pytest.mark.usefixtures("without_valkey")
def test_without_valkey_a_new_window_begins_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    assert [may_ask("visitor:a") for _ in range(4)][-1] is False
    now += 100
    assert may_ask("visitor:a")


@pytest.mark.parametrize("where", ["shared", "local"])
def test_a_bucket_may_have_its_own_window_and_amount(where: str, settings: Any) -> None:
    if where == "local":
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        limits._local.clear()
    looks = limits.Bucket("limit:test:looks", 5, seconds=900, amount=0)
    counts = limits.Bucket("limit:test:counts", 5, amount=3)
    charged = [limits.charge([looks, counts], 100) for _ in range(3)]
    assert [one.counts for one in charged] == [(0, 3), (0, 6), ()]
    assert charged[2].full == counts
    assert 0 < charged[2].wait <= 100
    full = limits.charge([limits.Bucket("limit:test:looks", 0, seconds=900, amount=0)], 100)
    assert 800 < full.wait <= 900
    limits._local.clear()


def test_what_was_counted_can_be_asked() -> None:
    may_ask("visitor:a")
    assert limits.counted("limit:owner:visitor:a") == 1
    assert limits.counted("limit:owner:visitor:b") == 0


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_an_address_is_counted_by_the_customer_it_names(address: str, counted: str) -> None:
    assert limits.network(address) == counted
