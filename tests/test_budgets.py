"""What the site may use in a day: exact over all transports, and staff are told in time."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import redis
from django.core import mail

from assistant.bill import budgets
from assistant.bill.alerts import send
from assistant.bill.budgets import Budget
from assistant.limits import charge
from assistant.models import Answer
from assistant.refusals import BudgetSpent, RateLimited
from assistant.tasks import send_budget_alert
from helpcenter import limits
from tests.chat_clients import ANSWERS, Person, in_loop
from tests.factories import make_answer
from tests.scripted_provider import DONE, ScriptedProvider, finish, say, usage


@pytest.fixture(autouse=True)
def alerts(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[Any, ...]]:
    """What was handed out to the worker."""
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = 1000
    settings.ASSISTANT_TURNS_WITHOUT_VALKEY = 1000
    handed_out: list[tuple[Any, ...]] = []
    monkeypatch.setattr(budgets, "hand_out", lambda _task, *facts: handed_out.append(facts))
    limits._local.clear()
    return handed_out


def begin(times: int = 1) -> int:
    """Turns that begin. How many may."""
    begun = 0
    for _ in range(times):
        try:
            charge("visitor:a", "192.0.2.1")
            begun += 1
        except BudgetSpent:
            pass
    return begun


@pytest.mark.django_db
def test_a_day_has_so_many_turns(settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = 3
    assert begin(5) == 3


@pytest.mark.django_db
def test_the_refusal_says_to_come_back_tomorrow(settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = 1
    begin()
    with pytest.raises(BudgetSpent) as refusal:
        charge("visitor:a", "192.0.2.1")
    assert refusal.value.code == "rate_limited"
    assert "tomorrow" in str(refusal.value.message)
    left = budgets._seconds_left()
    assert refusal.value.retry_after is not None
    assert left - 5 <= refusal.value.retry_after <= left + 5


@pytest.mark.django_db
def test_a_visitors_own_limit_is_told_as_such(settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = 5
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    begin()
    with pytest.raises(RateLimited) as refusal:
        charge("visitor:a", "192.0.2.1")
    assert not isinstance(refusal.value, BudgetSpent)
    assert limits.counted(budgets.of_today()[0].name) == 1, "what was refused is not counted"


@pytest.mark.django_db
def test_a_day_has_so_many_tokens_and_running_turns_may_end(settings: Any) -> None:
    settings.ASSISTANT_TOKENS_PER_DAY = 100
    assert begin(2) == 2
    budgets.spend_tokens(60)
    assert begin() == 1
    budgets.spend_tokens(60)
    assert begin() == 0
    budgets.spend_tokens(60)
    assert budgets.of_today()[0].spent() == 180


@pytest.mark.django_db
def test_the_counts_end_with_the_day(valkey_client: redis.Redis, settings: Any) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = settings.ASSISTANT_TOKENS_PER_DAY = 1000
    begin()
    for key in valkey_client.keys("limit:day:*"):
        assert 0 < valkey_client.ttl(key) <= budgets._seconds_left() + 5


@pytest.mark.parametrize(
    ("zone", "now", "day", "left"),
    [
        ("UTC", datetime(2026, 3, 1, 23, 59, 30, tzinfo=UTC), date(2026, 3, 1), 30),
        ("Europe/Vienna", datetime(2026, 3, 1, 23, 0, 0, tzinfo=UTC), date(2026, 3, 2), 86400),
        ("Europe/Vienna", datetime(2026, 3, 28, 23, 0, 0, tzinfo=UTC), date(2026, 3, 29), 82800),
        ("Asia/Tokyo", datetime(2026, 3, 1, 14, 0, 0, tzinfo=UTC), date(2026, 3, 1), 3600),
    ],
)
def test_a_day_is_one_of_the_sites_time_zone(
    settings: Any, monkeypatch: pytest.MonkeyPatch, zone: str, now: datetime, day: date, left: int
) -> None:
    settings.TIME_ZONE, settings.ASSISTANT_TURNS_PER_DAY = zone, 5
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    [budget] = budgets.of_today()
    assert budget.day == day
    assert budgets._seconds_left() == left


# Valkey


@pytest.mark.django_db
@pytest.mark.parametrize("where", ["lost", "down"])
def test_where_valkey_lost_its_counts_the_stored_answers_have_them(
    settings: Any, where: str
) -> None:
    settings.ASSISTANT_TURNS_PER_DAY, settings.ASSISTANT_TOKENS_PER_DAY = 4, 1000
    if where == "down":
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
    for _ in range(3):
        make_answer(prompt_tokens=200, completion_tokens=50)
    assert begin() == 1, "this turn's own row is one of the three"
    assert begin() == 1
    assert begin() == 0
    budgets.spend_tokens(250)
    tokens = budgets.of_today()[1]
    assert limits.charge([tokens.bucket()], 1).counts == (750,)


# Alerts


@pytest.mark.django_db
def test_staff_are_told_once_at_each_mark(
    settings: Any, alerts: list[Any], caplog: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = 10
    with django_capture_on_commit_callbacks(execute=True):
        begin(20)
    assert [(facts[1], facts[2], facts[3], facts[4]) for facts in alerts] == [
        ("turns", 80, 8, 10),
        ("turns", 100, 10, 10),
    ]
    logged = [one for one in caplog.records if one.getMessage() == "budget_alert"]
    assert [one.percent for one in logged] == [80, 100]


@pytest.mark.django_db
def test_one_charge_may_reach_both_marks(
    settings: Any, alerts: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    settings.ASSISTANT_TOKENS_PER_DAY = 1000
    with django_capture_on_commit_callbacks(execute=True):
        for tokens in (700, 5000, 1):
            budgets.spend_tokens(tokens)
    assert [(facts[2], facts[3]) for facts in alerts] == [(80, 5700), (100, 5700)]


@pytest.mark.parametrize(
    ("kind", "percent", "sentence"),
    [
        ("turns", 80, "80 of 100 questions have been asked today."),
        ("tokens", 100, "80 of 100 tokens have been used today."),
    ],
)
def test_the_message_says_what_and_what_then(
    settings: Any, kind: str, percent: int, sentence: str
) -> None:
    settings.ASSISTANT_ALERT_EMAIL = "ops@example.com"
    settings.SITE_URL = "https://help.example.com"
    assert [send_budget_alert("2026-12-01", kind, percent, 80, 100) for _ in range(3)] == [
        True,
        False,
        False,
    ]
    [message] = mail.outbox
    assert message.to == ["ops@example.com"]
    assert f"{percent} percent" in message.subject
    assert sentence in message.body
    assert f"ASSISTANT_{kind.upper()}_PER_DAY" in message.body
    assert "https://help.example.com/admin/assistant/costreport/" in message.body


def test_a_message_that_was_not_sent_is_tried_again(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ASSISTANT_ALERT_EMAIL = "ops@example.com"

    def broken(*args: Any) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr("assistant.bill.alerts.send_mail", broken)
        with pytest.raises(ConnectionRefusedError):
            send("2026-12-01", "turns", 80, 8, 10)
    assert send("2026-12-01", "turns", 80, 8, 10)


def test_without_an_address_nobody_is_told(settings: Any) -> None:
    settings.ASSISTANT_ALERT_EMAIL = ""
    assert not send("2026-12-01", "turns", 80, 8, 10)
    assert mail.outbox == []


# Turns


@pytest.mark.django_db(transaction=True)
def test_a_stopped_and_a_failed_answer_are_counted_too(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TOKENS_PER_DAY = 1_000_000
    settings.ASSISTANT_PRICES = {"scripted": (Decimal(1), Decimal("0.1"), Decimal(10))}
    provider.reply(say("Open it."), finish(), usage(1000, 100, cached=400), DONE)
    provider.reply(say("This answer breaks off. "))
    provider.refuse(401, {})

    async def body() -> None:
        person = await Person.visitor()
        for question in ("One?", "Two?", "Three?"):
            await person.ask_sse(question)

    in_loop(body)
    whole, broken, refused = Answer.objects.order_by("created_at")
    assert whole.cost == Decimal("0.00164")
    assert (whole.usage_estimated, broken.usage_estimated) == (False, True)
    assert broken.prompt_tokens > 100
    assert broken.completion_tokens == 6
    assert broken.cost is not None
    assert (refused.prompt_tokens, refused.completion_tokens) == (0, 0)
    used = sum(one.prompt_tokens + one.completion_tokens for one in (whole, broken, refused))
    assert budgets.of_today()[0].spent() == used


@pytest.mark.django_db(transaction=True)
def test_two_hundred_sends_at_once_make_exactly_as_many_calls_as_may_be(
    provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_DAY = 20
    for _ in range(20):
        provider.answer("Yes.")

    async def body() -> None:
        people = [await Person.visitor() for _ in range(4)]
        sends = [
            people[number % 4].post(ANSWERS, {"question": f"How {number}?"}, **_headers(number))
            for number in range(160)
        ]
        async with people[0].socket() as one, people[1].socket() as other:

            async def over_sockets() -> list[Any]:
                codes = []
                for number in range(20):
                    for socket in (one, other):
                        await socket.send({"type": "ask", "question": f"And {number}?"})
                        event = (await socket.read_answer())[-1]
                        codes.append(event.get("code", event["type"]))
                return codes

            codes, *responses = await asyncio.gather(over_sockets(), *sends)
        begun = 0
        for response in responses:
            if response.status_code == 200:
                begun += 1
                if response.streaming:
                    async for _chunk in response:
                        pass
            else:
                assert response.status_code == 429
                assert int(response["Retry-After"]) > 0
        assert begun + codes.count("done") == 20
        assert set(codes) <= {"done", "rate_limited"}

    in_loop(body)
    assert Answer.objects.count() == len(provider.requests) == 20


def _headers(number: int) -> dict[str, str]:
    return {"Accept": "text/event-stream"} if number % 2 else {}


def test_a_budget_names_its_key() -> None:
    assert Budget("turns", 5, date(2026, 12, 1)).name == "limit:day:2026-12-01:turns"
