"""The audit shows what a turn left behind, changes nothing, and costs a fixed number of queries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles import publishing
from articles.models import Status
from assistant.admin.audit import DROPPED, why, why_dropped
from assistant.models import (
    Answer,
    AnswerDocument,
    DroppedCitation,
    Grounding,
    ToolCall,
)
from assistant.provenance import DropReason
from tests.factories import make_answer, make_article, make_document, make_traced_answer

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def admin(client: Client, staff: User) -> Client:
    client.force_login(staff)
    return client


@pytest.fixture
def answer() -> Answer:
    answer = make_traced_answer(
        f"How do I set up SSO? {SCRIPT}",
        make_article("Set up SSO"),
        text="Open Settings [1]. See [Plans](/articles/plans/).",
        model_text="Open Settings [2][9]. See [Plans](/articles/plans/).",
        heading="Okta",
        passage=f"Okta {SCRIPT}",
        comment=f"No {SCRIPT}",
        call={"arguments": '{"query": "sso"}', "count": 2},
        document={
            "ref": 2,
            "exposure": "full",
            "via": "opened",
            "cited": True,
            "consulted": True,
            "number": 1,
            "position": 1,
        },
    )
    make_document(
        answer, make_article("Plans"), 3, exposure="title", via="listing", linked=True, position=2
    )
    make_document(answer, make_article("Roles"), 1)
    return answer


def test_one_answer_shows_the_three_sets_and_why(admin: Client, answer: Answer) -> None:
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    page = admin.get(url).content.decode()

    assert "3 retrieved" in page
    assert "2 cited" in page
    assert "1 consulted" in page
    assert "It was opened, so it was read." in page
    assert "A title is never a source." in page
    assert "unknown_ref" in page
    assert "The number belongs to no document" in page
    assert "search_articles" in page
    assert "12 ms" in page


def test_the_models_own_text_shows_what_was_not_delivered(admin: Client, answer: Answer) -> None:
    page = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert "Open Settings <del>[2][9]</del><ins>[1]</ins>" in page

    Answer.objects.filter(pk=answer.pk).update(model_text=answer.text)
    page = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert "It was delivered as it was written." in page
    assert "<del>" not in page


def test_every_reason_for_dropping_is_said_in_words() -> None:
    assert set(DROPPED) == set(get_args(DropReason))
    assert why_dropped(DroppedCitation(reason="image")) == str(DROPPED["image"])


def test_calls_of_a_round_stand_together_with_arguments_result_and_error(
    admin: Client, answer: Answer
) -> None:
    for position, error in ((1, ""), (2, "no such reference")):
        ToolCall.objects.create(
            answer=answer,
            position=position,
            round=2,
            call_id=f"c{position}",
            name="open_article",
            arguments='{"ref":99}',
            result="not json {",
            error=error,
        )
    page = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert page.count("Round 1") == page.count("Round 2") == 1
    assert "{\n  &quot;ref&quot;: 99\n}" in page
    assert "not json {" in page
    assert "no such reference" in page


def test_the_timeline_has_clock_times_of_the_site_with_durations(
    admin: Client, answer: Answer, settings: Any
) -> None:
    settings.TIME_ZONE = "Asia/Kathmandu"  # 5 h 45 min ahead
    asked = datetime(2026, 12, 1, 8, 30, 0, tzinfo=UTC)
    Answer.objects.filter(pk=answer.pk).update(
        created_at=asked,
        first_token_at=asked + timedelta(seconds=4),
        finished_at=asked + timedelta(seconds=7.5),
    )
    began = asked + timedelta(seconds=1.25)
    answer.tool_calls.update(began_at=began, duration_ms=1500)
    found = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    timeline = found[found.index("Timeline") : found.index("Documents</h2>")]
    for clock in ("14:15:00", "14:15:01", "14:15:04", "14:15:07"):
        assert f">{clock}</time>" in timeline or f", {clock}</time>" in timeline
    assert '<span class="timeline-when">1.25 s</span> Round 1' in timeline
    assert "tools took 1.50 s" in timeline
    answer.tool_calls.update(began_at=None)  # stored before it was kept
    found = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert '<span class="timeline-when">–</span> Round 1' in found


def test_an_article_that_changed_since_is_marked_and_compared(
    admin: Client, answer: Answer
) -> None:
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    assert "changed since" not in admin.get(url).content.decode()
    document = answer.documents.get(title="Set up SSO")
    assert document.article is not None
    document.article.body += "\n\nOkta too."
    publishing.publish(document.article)

    page = admin.get(url).content.decode()
    assert "changed since" in page
    assert "from revision 1 to 2" in page
    assert '<pre dir="auto">Okta too.</pre>' in page
    assert page.count('<pre dir="auto">Okta too.</pre>') == 1


def test_an_article_that_was_withdrawn_is_marked(admin: Client, answer: Answer) -> None:
    document = answer.documents.get(title="Set up SSO")
    assert document.article is not None
    publishing.withdraw(document.article, Status.ARCHIVED)
    page = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert "no longer published" in page


def test_the_page_costs_the_same_for_many_documents(
    admin: Client, answer: Answer, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make_document(answer, make_article(f"Article {number}"), number + 10)
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    with django_assert_max_num_queries(22):
        assert "15 retrieved" in admin.get(url).content.decode()


def test_hostile_transcripts_are_text(admin: Client, answer: Answer) -> None:
    for name, pk in (("answer", answer.pk), ("conversation", answer.conversation_id)):
        for url in (
            reverse(f"admin:assistant_{name}_change", args=[pk]),
            reverse(f"admin:assistant_{name}_changelist"),
        ):
            page = admin.get(url).content.decode()
            assert SCRIPT not in page
            assert "&lt;script&gt;" in page


def test_the_conversation_is_on_one_page(admin: Client, answer: Answer) -> None:
    make_answer("And Okta?", conversation=answer.conversation, text="Yes.")
    page = admin.get(
        reverse("admin:assistant_conversation_change", args=[answer.conversation_id])
    ).content.decode()
    assert "How do I set up SSO?" in page
    assert "And Okta?" in page
    assert "[1] <a" in page


def test_the_audit_outlives_the_article(admin: Client, answer: Answer) -> None:
    for document in answer.documents.all():
        assert document.article is not None
        document.article.delete()
    page = admin.get(reverse("admin:assistant_answer_change", args=[answer.pk])).content.decode()
    assert "Set up SSO" in page
    assert "deleted since" in page


@pytest.mark.parametrize("name", ["answer", "conversation"])
def test_nothing_recorded_can_be_changed(name: str, admin: Client, answer: Answer) -> None:
    pk = answer.pk if name == "answer" else answer.conversation_id
    assert admin.get(reverse(f"admin:assistant_{name}_add")).status_code == 403
    response = admin.post(
        reverse(f"admin:assistant_{name}_change", args=[pk]), {"question": "Rewritten"}
    )
    assert response.status_code == 403
    answer.refresh_from_db()
    assert answer.question.startswith("How do I set up SSO?")


def test_lists_cost_the_same_for_many_rows(
    admin: Client, answer: Answer, django_assert_max_num_queries: Any
) -> None:
    article = make_article("Refunds")
    for number in range(30):
        another = make_answer(f"Question {number}", grounding=Grounding.NO_HITS)
        make_document(another, article)
    with django_assert_max_num_queries(12):
        page = admin.get(reverse("admin:assistant_answer_changelist")).content.decode()
    assert "Question 29" in page
    assert "Set up SSO" in page
    with django_assert_max_num_queries(12):
        admin.get(reverse("admin:assistant_conversation_changelist"))


def test_answers_are_found_by_their_question_and_verdict(admin: Client, answer: Answer) -> None:
    make_answer("Refunds?", grounding=Grounding.NO_HITS)
    url = reverse("admin:assistant_answer_changelist")
    assert "Refunds?" not in admin.get(url, {"q": "SSO"}).content.decode()
    filtered = admin.get(url, {"grounding__exact": "no_hits"}).content.decode()
    assert "Refunds?" in filtered
    assert "How do I set up SSO?" not in filtered


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (AnswerDocument(exposure="title", via="listing", linked=True), "Only its title was seen"),
        (AnswerDocument(exposure="full", via="opened", consulted=True), "It was opened"),
        (
            AnswerDocument(exposure="excerpt", via="excerpt", consulted=True, cited=True),
            "Its text was given, and the answer cites it",
        ),
        (
            AnswerDocument(exposure="excerpt", via="excerpt", consulted=True),
            "an answer that cites nothing",
        ),
        (AnswerDocument(exposure="full", via="carried", carried=True), "in an earlier turn"),
        (AnswerDocument(exposure="excerpt", via="excerpt"), "does not cite it"),
    ],
)
def test_each_document_says_why(document: AnswerDocument, reason: str) -> None:
    assert reason in why(document)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("invoice", {"How do I pay an invoice?", "Invoice lost"}),
        ("PAY invoice", {"How do I pay an invoice?"}),
        ('"an invoice"', {"How do I pay an invoice?"}),
        ('"', set()),
        ("  ", {"How do I pay an invoice?", "Invoice lost", "Hello"}),
    ],
)
def test_conversations_are_found_once_by_the_words_of_any_turn(
    typed: str, found: set[str], admin: Client
) -> None:
    first = make_answer("How do I pay an invoice?")
    make_answer("And the invoice of March?", conversation=first.conversation)
    make_answer("Invoice lost")
    make_answer("Hello")
    url = reverse("admin:assistant_conversation_changelist")
    shown = admin.get(url, {"q": typed}).context["cl"].result_list
    assert sorted(one.first[0].question for one in shown) == sorted(found)
