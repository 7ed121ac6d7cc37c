"""Usage by citation: exact, by month of the site, never less for what was erased, by permission."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, datetime
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from articles import publishing
from articles.models import Article
from assistant.figures.usage import Months, months_of, usage
from assistant.models import Answer, ErasedUsage, Origin
from helpcenter import tokens
from tests.factories import make_answer, make_article, make_category, make_document

pytestmark = pytest.mark.django_db

MONTHS = Months(date(2026, 1, 1), date(2026, 3, 1))
PAGE = "admin:assistant_answer_usage"


def cite(
    article: Article, day: tuple[int, ...], answer: Answer | None = None, **fields: Any
) -> Answer:
    """An answer of that day cites the article, or the answer that is given does too."""
    found = answer or make_answer(origin=fields.pop("origin", Origin.VISITOR))
    asked = datetime(*day, tzinfo=ZoneInfo("UTC"))  # type: ignore[arg-type, misc]
    Answer.objects.filter(pk=found.pk).update(created_at=asked)
    ref = found.documents.count() + 1
    make_document(found, article, ref, **{"cited": True, **fields})
    found.refresh_from_db()
    return found


def counted(by: Any = "article") -> list[tuple[str, str, int]]:
    return [(f"{row.month:%Y-%m}", row.title, row.answers) for row in usage(MONTHS, by)]


class TestCounting:
    def test_answers_of_visitors_that_cite_it_by_month(self) -> None:
        sso, plans = make_article("SSO"), make_article("Plans")
        cite(sso, (2026, 1, 31, 23))
        cite(sso, (2026, 2, 1, 0))
        cite(plans, (2026, 2, 28, 12), cite(sso, (2026, 2, 28, 12)))
        cite(sso, (2026, 2, 2), cited=False, linked=True, exposure="title", via="listing")
        cite(sso, (2026, 2, 2), cited=False)
        for origin in (Origin.STAFF, Origin.CHECK):
            cite(sso, (2026, 2, 2), origin=origin)
        cite(sso, (2025, 12, 31, 23))
        cite(sso, (2026, 4, 1))
        assert counted() == [("2026-01", "SSO", 1), ("2026-02", "SSO", 3), ("2026-02", "Plans", 1)]

    def test_a_category_counts_an_answer_once(self) -> None:
        category = make_category("Security")
        one, two = make_article("One", category=category), make_article("Two", category=category)
        cite(two, (2026, 1, 5), cite(one, (2026, 1, 5)))
        cite(make_article("Without"), (2026, 1, 5))
        assert counted("category") == [("2026-01", "Security", 1)]

    def test_months_are_those_of_the_site(self, settings: Any) -> None:
        settings.TIME_ZONE = "America/New_York"
        cite(make_article("SSO"), (2026, 2, 1, 3))  # still January there
        assert counted() == [("2026-01", "SSO", 1)]

    def test_what_is_renamed_has_its_present_title_and_what_is_gone_its_last(self) -> None:
        article, gone = make_article("SSO"), make_article("Gone")
        cite(article, (2026, 1, 5))
        cite(gone, (2026, 1, 5))
        article.title = "Single sign-on"
        publishing.publish(article)
        gone.delete()
        assert counted() == [("2026-01", "Gone", 1), ("2026-01", "Single sign-on", 1)]


class TestErasing:
    def test_what_was_erased_still_counts_and_nothing_of_it_is_kept(self) -> None:
        article = make_article("SSO", category=make_category("Security"))
        answers = [cite(article, (2026, 1, day)) for day in (1, 2, 3)]
        before = counted(), counted("category")
        for answer in answers[:2]:
            answer.conversation.delete()
        assert (counted(), counted("category")) == before
        assert Answer.objects.count() == 1
        fields = set(ErasedUsage.objects.values().first() or {})
        assert fields == {"id", "month", "kind", "key", "title", "answers"}

    def test_deleting_an_account_or_one_answer_does_too(self, owner: User) -> None:
        article = make_article("SSO")
        answer = cite(article, (2026, 1, 1))
        answer.conversation.__class__.objects.update(visitor_id=None, user=owner)
        cite(article, (2026, 1, 2)).delete()
        owner.delete()
        assert not Answer.objects.exists()
        assert counted() == [("2026-01", "SSO", 2)]

    def test_what_counts_for_nothing_leaves_nothing(self) -> None:
        cite(make_article("SSO"), (2026, 1, 1), origin=Origin.STAFF).conversation.delete()
        make_answer().conversation.delete()
        assert not ErasedUsage.objects.exists()


class TestMonths:
    def test_what_is_asked_for(self) -> None:
        months = months_of("2025-11", "2026-02")
        assert months is not None
        assert [f"{day:%Y-%m}" for day in months.list] == [
            "2025-11",
            "2025-12",
            "2026-01",
            "2026-02",
        ]
        last = months_of("", "2026-02")
        assert last is not None
        assert len(last.list) == 12

    @pytest.mark.parametrize(
        ("first", "last"),
        [
            *(("2026-02", "2026-01"), ("2026-13", "2026-14"), ("2026-00", ""), ("26-01", "")),
            *(
                ("x", ""),
                ("2020-01", "2026-01"),
                ("2026-1", ""),
                ("２０２６-01", ""),
                ("9999-01", ""),
            ),
        ],
    )
    def test_what_makes_no_sense_is_none(self, first: str, last: str) -> None:
        assert months_of(first, last) is None


class TestPage:
    def test_each_number_opens_what_it_counts(self, staff_client: Client) -> None:
        article = make_article("SSO")
        cite(article, (2026, 1, 31, 23))
        cite(article, (2026, 2, 28, 23))
        cite(article, (2026, 2, 1))
        page = staff_client.get(reverse(PAGE), {"from": "2026-01", "to": "2026-02"})
        links = re.findall(r'<a href="([^"]*cited=[^"]*)">(\d+)</a>', page.content.decode())
        assert [number for _href, number in links] == ["1", "2"]
        for href, number in links:
            listed = staff_client.get(unescape(href))
            assert listed.context["cl"].result_count == int(number)

    def test_the_file_has_the_same_without_formulas(self, staff_client: Client) -> None:
        article = make_article("=SUM(1,2)", category=make_category("@now"))
        cite(article, (2026, 1, 5))
        chosen = {"from": "2026-01", "to": "2026-01", "as": "csv"}
        response = staff_client.get(reverse(PAGE), chosen)
        assert "usage-by-article-2026-01-2026-01.csv" in response["Content-Disposition"]
        (row,) = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline=""))
        assert (row["title"], row["category"]) == ("'=SUM(1,2)", "'@now")
        assert (row["month"], row["answers"], row["id"]) == ("2026-01", "1", str(article.pk))

    def test_months_that_make_no_sense_are_named(self, staff_client: Client) -> None:
        page = staff_client.get(reverse(PAGE), {"from": "2026-99"}).content.decode()
        assert "The two are no months" in page
        assert "No answer cited anything in these months." in page

    def test_it_takes_its_permission(self, client: Client, stranger: User) -> None:
        stranger.is_staff = True
        stranger.save()
        stranger.user_permissions.set(Permission.objects.filter(codename="view_answer"))
        client.force_login(stranger)
        assert client.get(reverse(PAGE)).status_code == 403


class TestApi:
    def get(self, user: User, **parameters: str) -> Any:
        _token, secret = tokens.create(user, "billing")
        headers = {"Authorization": f"Bearer {secret}"}
        return Client().get("/api/v1/manage/usage/", parameters, headers=headers)

    def test_it_gives_the_same(self, stranger: User) -> None:
        stranger.user_permissions.set(Permission.objects.filter(codename="view_usage"))
        article = make_article("SSO", category=make_category("Security"))
        cite(article, (2026, 1, 5))
        response = self.get(stranger, **{"from": "2026-01", "to": "2026-02"})
        assert response.json() == {
            "from": "2026-01",
            "to": "2026-02",
            "by": "article",
            "usage": [
                {
                    "month": "2026-01",
                    "id": str(article.pk),
                    "title": "SSO",
                    "answers": 1,
                    "slug": "sso",
                    "category": "Security",
                }
            ],
        }
        by_category = self.get(stranger, **{"from": "2026-01", "to": "2026-02", "by": "category"})
        (row,) = by_category.json()["usage"]
        assert (row["title"], row["answers"], "slug" in row) == ("Security", 1, False)

    @pytest.mark.parametrize("parameters", [{"from": "x"}, {"by": "author"}, {"to": "2026-13"}])
    def test_what_makes_no_sense_is_refused(self, parameters: dict[str, str], staff: User) -> None:
        response = self.get(staff, **parameters)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")

    def test_it_takes_a_token_and_the_permission(self, stranger: User) -> None:
        assert Client().get("/api/v1/manage/usage/").status_code == 401
        assert self.get(stranger).status_code == 403
