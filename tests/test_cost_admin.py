"""The admin's page of what answers used and cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant.agent import Usage
from assistant.bill import report
from assistant.bill.pricing import cost_of
from assistant.models import Answer
from helpcenter.environment import Environment, SettingError
from tests.factories import make_answer

PAGE = "admin:assistant_costreport_changelist"


def used(model: str, days_ago: int = 0, **fields: Any) -> Answer:
    answer = make_answer(model=model, **fields)
    Answer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return answer


@pytest.fixture
def answers(db: None) -> None:
    used("small", prompt_tokens=1000, cached_tokens=500, completion_tokens=10, cost=Decimal("0.5"))
    used("small", prompt_tokens=1000, usage_estimated=True, cost=Decimal("0.25"))
    used("large", prompt_tokens=3, completion_tokens=7)
    used("small", days_ago=8, prompt_tokens=5)
    used("small", days_ago=95, prompt_tokens=5)


@pytest.mark.usefixtures("answers")
def test_sums_are_by_day_and_model() -> None:
    rows = report.rows(30)
    assert [(row.model, row.turns, row.read) for row in rows] == [
        ("large", 1, 3),
        ("small", 2, 2000),
        ("small", 1, 5),
    ]
    small = rows[1]
    assert (small.cached_percent, small.written, small.estimated) == (25, 10, 1)
    assert (small.cost, small.unpriced) == (Decimal("0.75"), 0)
    assert (rows[0].cost, rows[0].unpriced) == (None, 1)
    total = report.total(rows)
    assert (total.turns, total.read, total.cost, total.unpriced) == (4, 2008, Decimal("0.75"), 2)
    assert len(report.rows(7)) == 2


@pytest.mark.usefixtures("answers")
def test_the_page_shows_them_in_three_queries(
    staff_client: Client, settings: Any, django_assert_max_num_queries: Any
) -> None:
    settings.ASSISTANT_CURRENCY = "EUR"
    settings.ASSISTANT_TURNS_PER_DAY = 200
    with django_assert_max_num_queries(6):
        page = staff_client.get(reverse(PAGE)).content.decode()
    for text in ("Cost, EUR", "0.7500", "and 2 without a price", "2,008", "0 of 200 (0 %)"):
        assert text in page
    assert "How do I reset" not in page


@pytest.mark.django_db
def test_it_says_what_is_missing(staff_client: Client, settings: Any) -> None:
    page = staff_client.get(reverse(PAGE), {"days": "7"}).content.decode()
    assert "No budget is set." in page
    assert "No prices are set" in page
    assert "Nothing was asked in this time." in page
    settings.ASSISTANT_TOKENS_PER_DAY = 10
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert "Valkey does not answer" in staff_client.get(reverse(PAGE)).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("days", ["8", "x", "-1", "9" * 400])
def test_another_period_is_the_usual_one(staff_client: Client, days: str) -> None:
    assert "The last 30 days" in staff_client.get(reverse(PAGE), {"days": days}).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(("may", "status"), [("view_costreport", 200), ("view_answer", 403)])
def test_it_has_a_permission_of_its_own_that_shows_no_question(
    client: Client, owner: User, may: str, status: int
) -> None:
    answer = make_answer()
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    owner.user_permissions.set(Permission.objects.filter(codename=may))
    client.force_login(owner)
    assert client.get(reverse(PAGE)).status_code == status
    for behind in (f"{answer.pk}/", f"{answer.pk}/change/", f"{answer.pk}/history/", "add/"):
        assert client.get(reverse(PAGE) + behind).status_code == 404, behind


# Prices


def test_a_cost_is_by_what_was_read_cached_and_written(settings: Any) -> None:
    settings.ASSISTANT_PRICES = Environment(
        {"P": "small=0.25/0.025/2, org/model:free=0/0,two=1/3"}
    ).rates("P")
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)
    assert cost_of("small", usage) == Decimal("0.36")
    assert cost_of("two", usage) == Decimal("1.3")
    assert cost_of("org/model:free", usage) == 0
    assert cost_of("unknown", usage) is None


@pytest.mark.parametrize(
    "value", ["small", "small=1", "=1/2", "a=1/-2", "a=1/2/3/4", "a=x/1", "a=1,5/2"]
)
def test_prices_that_make_no_sense_are_named(value: str) -> None:
    with pytest.raises(SettingError, match="ASSISTANT_PRICES"):
        Environment({"ASSISTANT_PRICES": value}).rates("ASSISTANT_PRICES")
