"""The overview and an article's page: figures of visitors' answers, with the lists they count."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles import publishing
from articles.models import Article, ArticleFeedback
from assistant.audit import reviewing
from assistant.figures.articles import article_use
from assistant.figures.overview import grounded_share, overview
from assistant.figures.period import MOST_DAYS, Period
from assistant.models import (
    AccessRecord,
    Answer,
    AnswerFeedback,
    AnswerPassage,
    CitationSupport,
    GapTopic,
    Origin,
)
from tests.factories import make_answer, make_article, make_document

pytestmark = pytest.mark.django_db

COUNTED = re.compile(r'<a href="([^"]*/answer/\?[^"]*)">([\d,]+)</a>')
OVERVIEW = "admin:assistant_answer_overview"


def asked(question: str = "How?", *, at: datetime | None = None, **fields: Any) -> Answer:
    answer = make_answer(question, **fields)
    moment = at or timezone.now()
    times = {
        "created_at": moment,
        "first_token_at": moment + timedelta(seconds=2),
        "finished_at": moment + timedelta(seconds=3),
    }
    Answer.objects.filter(pk=answer.pk).update(**times)
    answer.refresh_from_db()
    return answer


def rest(answer: Answer, article: Article, ref: int = 1, **fields: Any) -> Any:
    source = {"cited": True, "consulted": True, "number": ref, "position": ref}
    return make_document(answer, article, ref, **{**source, **fields})


@pytest.fixture
def busy() -> tuple[Article, Article]:
    """Some days with answers of every kind. The first article is used, the second one is not."""
    used, unused = make_article("Set up SSO"), make_article("Plans")
    now = timezone.now()
    for days, grounding in enumerate(["grounded", "grounded", "no_hits", "uncited", "smalltalk"]):
        answer = asked(f"{grounding} {days}", at=now - timedelta(days=days), grounding=grounding)
        if grounding == "grounded":
            rest(answer, used)
            AnswerFeedback.objects.create(answer=answer, rating="positive")
        elif grounding == "uncited":
            AnswerFeedback.objects.create(answer=answer, rating="negative")
        make_document(answer, unused, 2)
    for origin in (Origin.STAFF, Origin.CHECK):
        rest(asked("not a visitor's", origin=origin), used)
    running = make_answer("running", status="running", grounding="", finished_at=None)
    make_document(running, unused, 2)
    rest(asked("long ago", at=now - timedelta(days=400)), used)
    return used, unused


class TestFigures:
    def test_only_visitors_answers_of_the_period_that_ended_count(
        self, busy: tuple[Article, Article]
    ) -> None:
        found = overview(Period.of({}))
        assert dict(found.groundings) == {
            "grounded": 2,
            "no_hits": 1,
            "uncited": 1,
            "smalltalk": 1,
        }
        assert (found.positive, found.negative) == (2, 1)
        assert found.share == 0.5  # small talk is no question
        assert [(one.title, one.answers) for one in found.consulted] == [("Set up SSO", 2)]
        assert [(one.title, one.answers) for one in found.unused] == [("Plans", 5)]
        assert found.first_word == found.first_word_slowest == 2.0
        assert len(found.steps) == 30
        assert sum(step.answers for step in found.steps) == 5

    def test_days_end_where_they_end_for_the_site(self, settings: Any) -> None:
        settings.TIME_ZONE = "America/New_York"
        zone = ZoneInfo("America/New_York")
        with timezone.override(zone):
            asked("late", at=datetime(2026, 11, 1, 23, 30, tzinfo=zone))  # clocks went back
            asked("early", at=datetime(2026, 11, 2, 0, 30, tzinfo=zone))
            found = overview(Period.of({"from": "2026-11-01", "to": "2026-11-02"}))
            assert [step.answers for step in found.steps] == [1, 1]
            assert overview(Period.of({"from": "2026-11-01", "to": "2026-11-01"})).answers == 1

    def test_the_cost_is_that_of_answers_with_a_price(self, staff_client: Client) -> None:
        for cost in ("0.0125", "0.25", None):
            asked(cost=cost)
        found = overview(Period.of({}))
        assert found.cost == found.steps[-1].cost == Decimal("0.2625")
        assert found.steps[0].cost is None
        response = staff_client.get(reverse(OVERVIEW))
        page = response.content.decode()
        assert "0.26 USD" in page
        assert response.context["charts"]["costs"]["values"][-1] == 0.2625
        listed = staff_client.get(unescape(response.context["priced_url"]))
        assert listed.context["cl"].result_count == 2

    def test_a_long_period_is_counted_by_weeks_that_end_with_it(self, staff_client: Client) -> None:
        days = {"from": "2026-01-01", "to": "2026-04-15"}  # a Thursday and a Wednesday
        for month, day in [(1, 1), (1, 4), (1, 5), (4, 13), (4, 15), (4, 16)]:
            asked(at=datetime(2026, month, day, 12, tzinfo=ZoneInfo("UTC")), grounding="no_hits")
        found = overview(Period.of(days))
        assert found.is_weekly
        assert found.steps[0].period == Period(date(2026, 1, 1), date(2026, 1, 4))
        assert found.steps[-1].period == Period(date(2026, 4, 13), date(2026, 4, 15))
        counts = [step.answers for step in found.steps]
        assert (counts[:2], counts[-1], sum(counts), len(counts)) == ([2, 1], 2, 5, 16)
        page = staff_client.get(reverse(OVERVIEW), days).content.decode()
        for href, number in set(COUNTED.findall(page)):
            listed = staff_client.get(unescape(href))
            assert listed.context["cl"].result_count == int(number), href

    def test_a_site_without_answers_has_no_share(self) -> None:
        found = overview(Period.of({}))
        assert (found.answers, found.share, found.first_word) == (0, None, None)
        assert grounded_share(found.groundings) is None

    def test_it_costs_the_same_for_any_number_of_answers(
        self, busy: tuple[Article, Article], django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(7):
            overview(Period.of({}, 365))


class TestPeriod:
    @pytest.mark.parametrize(
        ("chosen", "first", "last"),
        [
            ({"from": "2026-01-01", "to": "2026-01-31"}, (2026, 1, 1), (2026, 1, 31)),
            ({"from": "2026-01-31", "to": "2026-01-01"}, (2026, 1, 1), (2026, 1, 31)),
            ({"from": "nonsense", "to": "2026-01-30"}, (2026, 1, 1), (2026, 1, 30)),
            ({"from": "2026-02-30", "to": "2026-01-30"}, (2026, 1, 1), (2026, 1, 30)),
        ],
    )
    def test_what_is_chosen(self, chosen: Any, first: Any, last: Any) -> None:
        assert Period.of(chosen) == Period(date(*first), date(*last))

    @pytest.mark.parametrize("chosen", [{"to": "9999-12-31"}, {"from": "0001-01-01"}])
    def test_it_is_never_endless(self, chosen: dict[str, str]) -> None:
        period = Period.of(chosen)
        assert len(period.days) <= MOST_DAYS
        assert period.start < period.end


class TestOverviewPage:
    def test_every_number_opens_the_list_it_counts(
        self, busy: tuple[Article, Article], staff_client: Client
    ) -> None:
        page = staff_client.get(reverse(OVERVIEW)).content.decode()
        links = set(COUNTED.findall(page))
        assert len(links) > 15
        for href, number in links:
            listed = staff_client.get(unescape(href))
            assert listed.context["cl"].result_count == int(number), href

    def test_charts_have_the_numbers_of_the_table_and_nothing_comes_from_elsewhere(
        self, busy: tuple[Article, Article], staff_client: Client
    ) -> None:
        response = staff_client.get(reverse(OVERVIEW))
        page = response.content.decode()
        charts = response.context["charts"]
        assert len(charts["labels"]) == 30
        assert {one["key"]: sum(one["values"]) for one in charts["groundings"]} == {
            "grounded": 2,
            "no_hits": 1,
            "uncited": 1,
            "smalltalk": 1,
        }
        assert page.count("<canvas") == page.count('aria-describedby="days-title"') == 4
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)

    def test_without_answers_it_says_so(self, staff_client: Client) -> None:
        page = staff_client.get(reverse(OVERVIEW)).content.decode()
        assert "Nobody asked anything in these days." in page

    def test_topics_stand_by_impact_with_their_trend(
        self, staff_client: Client, staff: User
    ) -> None:
        now = timezone.now()
        made: dict[str, Any] = {"kind": "gap", "first_seen": now, "last_seen": now}
        small = GapTopic.objects.create(name="Small", impact=1, questions_count=9, **made)
        GapTopic.objects.create(name="Large", impact=7, week_count=3, week_before_count=1, **made)
        GapTopic.objects.create(name="Done", impact=9, status="verified", **made)
        GapTopic.objects.create(name="Joined", impact=9, merged_into=small, **made)
        rest(asked(), make_article())
        found = overview(Period.of({}))
        assert [topic.name for topic in found.topics] == ["Large", "Small"]
        response = staff_client.get(reverse(OVERVIEW))
        page = response.content.decode()
        assert page.count('aria-label="growing"') == 1
        assert '<canvas data-chart="topics"' in page
        drawn = response.context["charts"]["topics"]
        assert drawn["labels"] == ["Large", "Small"]
        assert (drawn["now"]["values"], drawn["before"]["values"]) == ([3, 0], [1, 0])
        staff.is_superuser = False
        staff.save()
        staff.user_permissions.add(Permission.objects.get(codename="view_answer"))
        response = staff_client.get(reverse(OVERVIEW))
        assert "topics" not in response.context["charts"]
        assert "Large" not in response.content.decode()

    def test_a_hostile_title_is_text(self, staff_client: Client) -> None:
        article = make_article("</script><script>alert(1)</script>{{ 7|add:7 }}")
        rest(asked(), article)
        page = staff_client.get(reverse(OVERVIEW)).content.decode()
        assert "<script>alert" not in page
        assert "{{ 7|add:7 }}" in page

    def test_who_may_not_see_answers_sees_no_figures(self, client: Client, stranger: User) -> None:
        stranger.is_staff = True
        stranger.save()
        client.force_login(stranger)
        article = make_article()
        assert client.get(reverse(OVERVIEW)).status_code == 403
        url = reverse("admin:assistant_answer_of_article", args=[article.pk])
        for codename in ("view_answer", "view_article"):
            stranger.user_permissions.set(Permission.objects.filter(codename=codename))
            assert client.get(url).status_code == 403


class TestFromAnArticle:
    def test_its_answers_ratings_questions_and_what_is_not_used(
        self, busy: tuple[Article, Article], staff: User
    ) -> None:
        used, unused = busy
        use = article_use(used, Period.of({}))
        assert (use.retrieved, use.consulted, use.cited, use.unused) == (2, 2, 2, 0)
        assert (use.positive, use.negative, use.known) == (2, 0, 2)
        assert {question.text for question in use.questions} == {"grounded 0", "grounded 1"}
        assert [answer.question for answer in use.answers] == ["grounded 0", "grounded 1"]
        other = article_use(unused, Period.of({}))
        assert (other.retrieved, other.consulted, other.unused, other.known) == (5, 0, 5, 0)

    def test_readers_votes_on_the_article_count_too(self) -> None:
        article = make_article()
        assert article.live_revision is not None
        for number, rating in enumerate(["positive", "positive", "negative"]):
            ArticleFeedback.objects.create(
                article=article,
                revision=article.live_revision,
                voter=f"visitor:{number}",
                rating=rating,
            )
        use = article_use(article, Period.of({}))
        assert (use.readers_positive, use.readers_negative) == (2, 1)

    def test_the_same_question_is_counted_however_it_is_written(self) -> None:
        article = make_article()
        for text in ("How?", "how?", "HOW?", "Why?"):
            rest(asked(text), article)
        questions = article_use(article, Period.of({})).questions
        assert [question.asked for question in questions] == [3, 1]

    def test_sections_say_what_an_edit_touches(self, staff: User) -> None:
        article = make_article()
        answer = asked()
        document = rest(answer, article)
        for position, heading in enumerate(["Okta", "Okta", "Azure", ""]):
            passage = AnswerPassage.objects.create(
                document=document, position=position, heading=heading, text="x"
            )
            CitationSupport.objects.create(
                document=document, position=position, sentence="x", score=0.9, passage=passage
            )
        reviewing.review(answer, staff, verdict="right")
        use = article_use(article, Period.of({}))
        assert [(section.heading, section.sentences) for section in use.sections] == [
            *(("Okta", 2), ("", 1), ("Azure", 1)),
        ]
        assert (use.known, use.outdated) == (1, 0)
        article.body += "\n\nMore."
        publishing.publish(article)
        assert article_use(article, Period.of({})).outdated == 1

    def test_its_page_is_linked_counts_and_is_recorded(
        self, busy: tuple[Article, Article], staff_client: Client
    ) -> None:
        for article in busy:
            change = reverse("admin:articles_article_change", args=[article.pk])
            url = reverse("admin:assistant_answer_of_article", args=[article.pk])
            assert f'href="{url}"' in staff_client.get(change).content.decode()
            page = staff_client.get(url).content.decode()
            links = COUNTED.findall(page)
            assert len(links) == 4
            for href, number in links:
                listed = staff_client.get(unescape(href))
                assert listed.context["cl"].result_count == int(number), href
        details = AccessRecord.objects.filter(detail="article.answers")
        assert list(details.order_by("pk").values_list("count", flat=True)) == [2, 0]
