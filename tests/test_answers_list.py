"""The list of answers: what its filters find, and what it costs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.admin import SimpleListFilter, site
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from assistant.admin.answers import AnswerAdmin
from assistant.admin.typed_filters import TypedFilter
from assistant.models import Answer, AnswerFeedback, CitationSupport, DroppedCitation
from tests.factories import make_answer, make_article, make_category, make_document

pytestmark = pytest.mark.django_db


def listed(client: Client, **parameters: str) -> set[str]:
    """The questions of the answers that the list shows."""
    response = client.get(reverse("admin:assistant_answer_changelist"), parameters)
    assert response.status_code == 200
    return {answer.question for answer in response.context["cl"].result_list}


@pytest.fixture
def grounded() -> Answer:
    """Rests on one article, well supported, voted helpful."""
    answer = make_answer("grounded", model="model-a", language="de", cost="0.02")
    article = make_article("Set up SSO", category=make_category("Security"))
    fields = {"cited": True, "consulted": True, "number": 1, "position": 1}
    document = make_document(answer, article, 1, **fields)
    CitationSupport.objects.create(document=document, position=0, sentence="x", score=0.9)
    AnswerFeedback.objects.create(answer=answer, rating="positive")
    return answer


@pytest.fixture
def troubled() -> Answer:
    """Rests on nothing, lost a citation, took long, and was voted down."""
    now = timezone.now()
    answer = make_answer(
        "troubled",
        grounding="uncited",
        model="model-b",
        status="truncated",
        truncated_by="length",
        search_fallback="embeddings_off",
        error_code="",
        finished_at=now + timedelta(seconds=20),
    )
    make_document(answer, make_article("Plans"), 1)
    DroppedCitation.objects.create(answer=answer, position=0, text="[9]", reason="unknown_ref")
    AnswerFeedback.objects.create(answer=answer, rating="negative")
    return answer


@pytest.fixture
def failed() -> Answer:
    now = timezone.now()
    fields = {"status": "failed", "error_code": "timeout", "grounding": "unavailable"}
    return make_answer("failed", finished_at=now + timedelta(seconds=40), **fields)


@pytest.mark.usefixtures("grounded", "troubled", "failed")
class TestFilters:
    @pytest.mark.parametrize(
        ("parameters", "found"),
        [
            ({}, {"grounded", "troubled", "failed"}),
            ({"grounding__exact": "uncited"}, {"troubled"}),
            ({"sources": "some"}, {"grounded"}),
            ({"sources": "none"}, {"troubled", "failed"}),
            ({"rating": "positive"}, {"grounded"}),
            ({"rating": "negative"}, {"troubled"}),
            ({"rating": "none"}, {"failed"}),
            ({"status__exact": "failed"}, {"failed"}),
            ({"model": "model-b"}, {"troubled"}),
            ({"took": "2"}, {"grounded"}),
            ({"took": "10"}, set()),
            ({"took": "30"}, {"troubled"}),
            ({"took": "more"}, {"failed"}),
            ({"cost": "some"}, {"grounded"}),
            ({"cost": "more"}, set()),
            ({"cost": "none"}, {"troubled", "failed"}),
            ({"flag": "dropped"}, {"troubled"}),
            ({"flag": "cut"}, {"troubled"}),
            ({"flag": "fallback"}, {"troubled"}),
            ({"flag": "error"}, {"failed"}),
            ({"flag": "weak"}, set()),
            ({"flag": "slow"}, {"troubled", "failed"}),
            ({"flag": "slow", "took": "more"}, {"failed"}),
            ({"support": "good"}, {"grounded"}),
            ({"support": "weak"}, set()),
            ({"language": "de"}, {"grounded"}),
            ({"article": "sso"}, {"grounded"}),
            ({"article": "set-up-sso"}, {"grounded"}),
            ({"article": "Plans"}, set()),
            ({"origin__exact": "staff"}, set()),
            ({"q": "TROUB"}, {"troubled"}),
            ({"q": "troub", "rating": "positive"}, set()),
        ],
    )
    def test_each_finds_what_it_says(
        self, parameters: dict[str, str], found: set[str], staff_client: Client
    ) -> None:
        assert listed(staff_client, **parameters) == found

    def test_by_category_and_article_of_a_source(
        self, grounded: Answer, staff_client: Client
    ) -> None:
        article = grounded.documents.get().article
        assert article is not None
        assert listed(staff_client, article=str(article.pk)) == {"grounded"}
        assert listed(staff_client, category=str(article.category_id)) == {"grounded"}
        assert listed(staff_client, category=str(make_category("Empty").pk)) == set()

    def test_by_id(self, grounded: Answer, staff_client: Client) -> None:
        assert listed(staff_client, q=str(grounded.pk)) == {"grounded"}

    @pytest.mark.parametrize(
        "parameters",
        [
            {"category": "abc"},
            {"category": "9" * 40},
            {"article": "\0"},
            {"took": "-1"},
            {"flag": "<script>"},
        ],
    )
    def test_nonsense_narrows_nothing_down_and_breaks_nothing(
        self, parameters: dict[str, str], staff_client: Client
    ) -> None:
        assert len(listed(staff_client, **parameters)) == 3

    @pytest.mark.parametrize(
        ("parameters", "said"),
        [
            ({"from": "2026-99-99"}, "“2026-99-99” is no day. Enter it as 2026-01-31."),
            ({"from": "2026-02-31"}, "“2026-02-31” is no day. Enter it as 2026-01-31."),
            ({"from": "2026-01-01", "to": "9999-12-31"}, "“9999-12-31” is no day."),
            ({"from": "2026-01-02", "to": "2026-01-01"}, "The first day is after the last."),
            ({"cited": "plans"}, "“plans” is no number."),
            ({"unused": "<b>"}, "“&lt;b&gt;” is no number."),
        ],
    )
    def test_what_was_typed_and_makes_no_sense_is_told_and_finds_nothing(
        self, parameters: dict[str, str], said: str, staff_client: Client
    ) -> None:
        assert listed(staff_client, **parameters) == set()
        url = reverse("admin:assistant_answer_changelist")
        page = staff_client.get(url, parameters).content.decode()
        assert f'<p class="list-problem" role="alert">{said}' in page
        assert "Show the whole list" in page

    def test_a_file_with_bad_days_is_empty_and_not_of_everything(
        self, staff_client: Client
    ) -> None:
        model_admin = site.get_model_admin(Answer)
        request = RequestFactory().get("/", {"from": "2026-02-31"})
        request.user = User.objects.get(username="staff")
        assert not model_admin.get_changelist_instance(request).get_queryset(request).exists()

    def test_what_was_typed_stays_in_the_form_and_is_text(self, staff_client: Client) -> None:
        url = reverse("admin:assistant_answer_changelist")
        hostile = '"><script>alert(1)</script>'
        chosen = {"article": hostile, "rating": "none", "q": "x"}
        page = staff_client.get(url, chosen).content.decode()
        assert hostile not in page
        assert "&quot;&gt;&lt;script&gt;" in page
        assert '<input type="hidden" name="rating" value="none">' in page

    def test_flags_are_named_in_the_list(self, staff_client: Client) -> None:
        page = staff_client.get(reverse("admin:assistant_answer_changelist")).content.decode()
        for flag in ("timeout", "dropped", "cut short", "search fell back", "slow"):
            assert f'<span class="flag flag-gap">{flag}</span>' in page


def test_days_are_those_of_the_site(staff_client: Client, settings: Any) -> None:
    settings.TIME_ZONE = "America/New_York"
    zone = ZoneInfo("America/New_York")
    for name, hour in (("late", 23), ("early", 0)):
        answer = make_answer(name)
        day = 1 if name == "late" else 2
        asked = datetime(2026, 11, day, hour, 30, tzinfo=zone)  # the night clocks went back
        Answer.objects.filter(pk=answer.pk).update(created_at=asked)
    assert listed(staff_client, **{"from": "2026-11-01", "to": "2026-11-01"}) == {"late"}
    assert listed(staff_client, **{"from": "2026-11-02", "to": "2026-11-02"}) == {"early"}
    assert listed(staff_client, to="2026-10-31") == set()


def test_weak_support_is_found(staff_client: Client) -> None:
    answer = make_answer("weak")
    document = make_document(answer, make_article("Plans"), 1, cited=True)
    CitationSupport.objects.create(document=document, position=0, sentence="x", score=0.9)
    CitationSupport.objects.create(document=document, position=1, sentence="y", score=0.1)
    assert listed(staff_client, support="weak") == {"weak"}
    assert listed(staff_client, flag="weak") == {"weak"}
    assert listed(staff_client, support="good") == set()


def test_every_filter_and_the_search_cost_a_dozen_queries_at_most(
    client: Client, stranger: User, django_assert_max_num_queries: Any
) -> None:
    """For a colleague with some permissions, who costs more than a superuser."""
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.set(Permission.objects.filter(codename__startswith="view"))
    client.force_login(stranger)
    article = make_article("Refunds", category=make_category())
    for number in range(60):
        answer = make_answer(f"Question {number}", model=f"model {number}")
        make_document(answer, article)
        AnswerFeedback.objects.create(answer=answer, rating="positive")
    url = reverse("admin:assistant_answer_changelist")
    filters = client.get(url).context["cl"].filter_specs
    assert len(filters) == len(AnswerAdmin.list_filter)
    chosen = {"q": "question card"}  # which could be a reference number
    for one in filters:
        if isinstance(one, TypedFilter):
            typed = dict.fromkeys(one.fields, "2026-01-01" if one.kind == "date" else "1")
        else:
            (name,) = [name for name in one.expected_parameters() if "isnull" not in str(name)]
            typed = {name: values_of(one)[-1]}
        chosen |= typed
        with django_assert_max_num_queries(12):
            assert client.get(url, typed).status_code == 200
    for parameters in ({}, chosen, {"q": "question card"}, {"q": "question", "o": "4.-8"}):
        with django_assert_max_num_queries(12):
            assert client.get(url, parameters).status_code == 200


def values_of(one: Any) -> list[str]:
    """What a filter offers, `""` for all left out."""
    if isinstance(one, SimpleListFilter):
        return [str(value) for value, _label in one.lookup_choices]
    return [str(value) for value, _label in one.field.flatchoices]


def test_a_page_shows_its_rows_in_the_order_of_the_list(staff_client: Client) -> None:
    for number, seconds in enumerate((3, 1, 2)):
        ended = timezone.now() + timedelta(seconds=seconds)
        answer = make_answer(f"Question {number}", finished_at=ended)
        make_document(answer, make_article(f"Article {number}"))
    url = reverse("admin:assistant_answer_changelist")
    rows = staff_client.get(url, {"o": "6", "sources": "none"}).context["cl"].result_list
    assert [answer.question for answer in rows] == ["Question 1", "Question 2", "Question 0"]


@pytest.mark.parametrize(
    ("query", "said"),
    [("", "Nobody has asked anything yet."), ("?q=nothing", "Nothing matches.")],
)
def test_an_empty_list_says_so_in_words(staff_client: Client, query: str, said: str) -> None:
    page = staff_client.get(reverse("admin:assistant_answer_changelist") + query)
    assert said in page.content.decode()
