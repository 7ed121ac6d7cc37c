"""The gap report: which answers enter it, how they are grouped, and what a run may not do."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant import gaps
from assistant.gaps import report
from assistant.gaps.naming import name_of
from assistant.models import Answer, GapQuestion, GapRun, GapTopic, Grounding, Origin
from assistant.tasks import update_gap_report
from tests.factories import make_answer

pytestmark = pytest.mark.django_db


def topics() -> dict[str, int]:
    return dict(GapTopic.objects.values_list("name", "questions_count"))


def test_only_unanswered_questions_of_visitors_are_gaps() -> None:
    for _ in range(5):
        make_answer("How do I reset my password?", grounding=Grounding.GROUNDED)
    for _ in range(3):
        make_answer("Does it support SSO with Okta?", grounding=Grounding.NO_HITS)
    make_answer("Why?", grounding=Grounding.UNAVAILABLE, status=Answer.Status.FAILED)
    make_answer("hello", grounding=Grounding.SMALLTALK)
    make_answer("What articles do you have?", grounding=Grounding.LISTING)
    make_answer("Who won the cup?", grounding=Grounding.OUT_OF_SCOPE)
    make_answer("And?", grounding=Grounding.UNCLEAR)
    make_answer("Asked by staff", grounding=Grounding.NO_HITS, origin=Origin.STAFF)
    make_answer("Asked by a check", grounding=Grounding.NO_HITS, origin=Origin.CHECK)

    run = gaps.update_report()

    assert run is not None
    assert run.questions_added == 3
    assert topics() == {"Does it support SSO with Okta?": 3}


@pytest.mark.parametrize("grounding", [Grounding.REJECTED, Grounding.NO_HITS, Grounding.UNSEARCHED])
def test_each_kind_of_gap_is_reported(grounding: Grounding) -> None:
    make_answer("Can I pay by invoice?", grounding=grounding)
    gaps.update_report()
    assert GapTopic.objects.get().kind == GapTopic.Kind.GAP
    assert GapQuestion.objects.get().grounding == grounding


def test_uncited_answers_are_a_kind_of_their_own() -> None:
    make_answer("Can I pay by invoice?", grounding=Grounding.UNCITED)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert set(GapTopic.objects.values_list("kind", flat=True)) == {"gap", "uncited"}


def test_exact_and_near_duplicates_share_a_topic() -> None:
    for question in (
        "How do I export my invoices as CSV?",
        "how do i export my invoices as csv",
        "Exporting invoices as CSV",
        "Where do I change the time zone of reports?",
    ):
        make_answer(question, grounding=Grounding.REJECTED)
    gaps.update_report()
    assert topics() == {
        "How do I export my invoices as CSV?": 3,
        "Where do I change the time zone of reports?": 1,
    }


def test_questions_without_a_word_in_common_stay_apart() -> None:
    make_answer("Refund?", grounding=Grounding.NO_HITS)
    make_answer("退款", grounding=Grounding.NO_HITS)
    make_answer("???", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert len(topics()) == 3


def test_a_second_run_adds_nothing_and_later_questions_join() -> None:
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert gaps.update_report() is not None
    assert topics() == {"Can I pay by invoice?": 1}

    make_answer("can I pay by invoice", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert topics() == {"Can I pay by invoice?": 2}
    assert GapRun.objects.count() == 3


def test_an_answer_that_commits_late_is_not_lost() -> None:
    gaps.update_report()
    late = timezone.now() - timedelta(minutes=20)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS, finished_at=late)
    gaps.update_report()
    assert topics() == {"Can I pay by invoice?": 1}


def test_a_period_is_reported_once() -> None:
    now = timezone.now()
    first = gaps.update_report(until=now)
    assert first is not None
    assert gaps.update_report(until=now) is None
    second = gaps.update_report(until=now + timedelta(minutes=1))
    assert second is not None
    assert second.period_start == now


def test_personal_data_is_masked_before_it_is_stored() -> None:
    make_answer(
        "My mail is jo@example.test, card 4242 4242 4242 4242, why declined?",
        grounding=Grounding.NO_HITS,
    )
    gaps.update_report()
    assert GapQuestion.objects.get().text == "My mail is [email], card [card], why declined?"
    assert "example.test" not in GapTopic.objects.get().name


def test_a_dismissed_topic_stays_dismissed() -> None:
    make_answer("Write me a poem about invoices", grounding=Grounding.NO_HITS)
    gaps.update_report()
    GapTopic.objects.update(status=GapTopic.Status.DISMISSED, dismissed_as="out_of_scope")
    make_answer("Write me a poem about invoices", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic = GapTopic.objects.get()
    assert (topic.status, topic.questions_count) == (GapTopic.Status.DISMISSED, 2)


def test_erasing_a_conversation_takes_its_words_and_keeps_the_count() -> None:
    first = make_answer("Is Jane Doe's invoice late?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    first.conversation.delete()

    topic = GapTopic.objects.get()
    question = topic.questions.get()
    assert (question.text, question.fingerprint, question.answer_id) == ("", "", None)
    assert "Jane" not in topic.name
    assert topic.questions_count == 1

    make_answer("Is Jane Doe's invoice late?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert GapTopic.objects.count() == 2


def test_a_topic_named_by_an_erased_question_takes_another_name() -> None:
    first = make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    make_answer("can i PAY by invoice", grounding=Grounding.NO_HITS)
    gaps.update_report()
    first.conversation.delete()
    assert topics() == {"can i PAY by invoice": 2}


def test_a_long_question_names_its_topic_shortly() -> None:
    assert name_of("word " * 100).endswith("word…")
    assert len(name_of("word " * 100)) <= 120
    assert name_of("Short\nand  sweet") == "Short and sweet"


@pytest.mark.django_db(transaction=True)
def test_two_runs_never_work_at_once() -> None:
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [report._LOCK])
            locked.set()
            release.wait(30)
            cursor.execute("SELECT pg_advisory_unlock(%s)", [report._LOCK])
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(30)
        assert gaps.update_report() is None
        assert not GapTopic.objects.exists()
    finally:
        release.set()
        holder.join()
    assert gaps.update_report() is not None
    assert topics() == {"Can I pay by invoice?": 1}


@pytest.mark.django_db(transaction=True)
def test_what_is_erased_while_a_run_reads_it_does_not_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    erased = make_answer("Is the card of Jane Doe here?", grounding=Grounding.NO_HITS)

    def erase() -> None:
        erased.conversation.delete()
        connection.close()

    def measure(now: object) -> None:
        """The run has read everything, and is about to commit."""
        eraser = threading.Thread(target=erase)
        eraser.start()
        eraser.join()
        monkeypatch.undo()

    monkeypatch.setattr(report, "measure", measure)
    run = gaps.update_report()
    assert run is not None
    assert run.questions_added == 1
    assert topics() == {"Can I pay by invoice?": 1}


def test_writers_update_claim_and_close_topics_in_the_admin(client: Client, staff: User) -> None:
    client.force_login(staff)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    url = reverse("admin:assistant_gaptopic_changelist")
    assert "has not run yet" in client.get(url).content.decode()

    updated = client.post(reverse("admin:assistant_gaptopic_update"), follow=True)
    assert "The report waits for the worker." in updated.content.decode()
    assert updated["Refresh"] == "2"
    update_gap_report()
    after = client.get(url)
    assert "Last updated" in after.content.decode()
    assert "Refresh" not in after
    topic = GapTopic.objects.get()
    for action, status in (
        ("claim", GapTopic.Status.CLAIMED),
        ("mark_published", GapTopic.Status.PUBLISHED),
        ("reopen", GapTopic.Status.OPEN),
        ("dismiss_product_gap", GapTopic.Status.DISMISSED),
    ):
        client.post(url, {"action": action, "_selected_action": [topic.pk]})
        topic.refresh_from_db()
        assert (topic.status, topic.assignee) == (status, staff)

    page = client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk]))
    assert "Can I pay by invoice?" in page.content.decode()
    assert reverse("admin:assistant_answer_change", args=[Answer.objects.get().pk]) in (
        page.content.decode()
    )


def test_the_button_needs_the_permission_and_a_post(client: Client, stranger: User) -> None:
    stranger.is_staff = True
    stranger.save()
    client.force_login(stranger)
    url = reverse("admin:assistant_gaptopic_update")
    assert client.post(url).status_code == 403
    assert client.get(url).status_code == 405
    assert not GapRun.objects.exists()


def test_the_queue_lists_without_a_query_per_topic(
    client: Client, staff: User, django_assert_max_num_queries: Any
) -> None:
    client.force_login(staff)
    for number in range(15):
        make_answer(f"Unknown thing{number} wanted{number}?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    with django_assert_max_num_queries(14):
        client.get(reverse("admin:assistant_gaptopic_changelist"))


def test_questions_that_mean_the_same_share_a_topic_by_their_vectors() -> None:
    for question in (
        "When will I receive my new card?",
        "I have been waiting for my new card. When will it arrive?",
        "My new card has not arrived yet, when will I receive it?",
        "Which currencies do you support for exchange?",
    ):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert sorted(topics().values()) == [1, 3]


def test_later_questions_are_found_by_the_stored_vectors(settings: Any) -> None:
    make_answer("When will I receive my new card?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic = GapTopic.objects.get()
    make_answer("When will my new card arrive?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic.refresh_from_db()
    assert (topic.questions_count, topic.name) == (2, "When will I receive my new card?")
    assert topic.centroid is not None
    assert topic.texts_count == 2


def test_without_an_embedder_words_decide(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_answer("How do I export my invoices as CSV?", grounding=Grounding.NO_HITS)
    make_answer("Export all invoices as CSV", grounding=Grounding.NO_HITS)
    make_answer("Where is the time zone?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert sorted(topics().values()) == [1, 2]


def test_another_embedder_takes_over_what_the_first_one_knew(settings: Any) -> None:
    make_answer("When will I receive my new card?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    settings.EMBEDDING_BACKEND = "hashed"
    make_answer("When will I receive my new bank card?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert topics() == {"When will I receive my new card?": 2}
    models = GapQuestion.objects.values_list("embedding_model", flat=True)
    assert set(models) == {"hashed-256"}


def test_while_an_endpoint_is_down_questions_wait_for_the_next_run(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDING_DIMENSIONS = 9
    make_answer("When will I receive my new card?", grounding=Grounding.NO_HITS)
    assert gaps.update_report() is None
    assert not GapRun.objects.exists()
    settings.EMBEDDING_DIMENSIONS = 256
    gaps.update_report()
    assert GapQuestion.objects.count() == 1


def test_askers_are_counted_once_and_named_nowhere() -> None:
    conversation = make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS).conversation
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS, conversation=conversation)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic = GapTopic.objects.get()
    assert (topic.questions_count, topic.askers_count) == (3, 2)
    askers = set(GapQuestion.objects.values_list("asker", flat=True))
    assert not any(str(conversation.visitor_id)[:8] in asker for asker in askers)


def test_a_run_moves_no_question_of_a_topic_that_somebody_works_on() -> None:
    make_answer("When will I receive my new card?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    first = GapTopic.objects.get()
    GapTopic.objects.update(held=True)
    other = make_answer("Which currencies do you support?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    GapQuestion.objects.filter(answer=other).update(topic=first)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert GapQuestion.objects.get(answer=other).topic == first


def test_topics_that_turn_out_to_be_one_become_one_and_the_other_leads_there() -> None:
    make_answer("When will I receive my new card?", grounding=Grounding.NO_HITS)
    make_answer("Which currencies do you support?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    one, other = GapTopic.objects.order_by("pk")
    vector = GapQuestion.objects.get(topic=one).embedding
    GapQuestion.objects.update(embedding=vector)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    other.refresh_from_db()
    assert other.merged_into == one
    one.refresh_from_db()
    assert (one.questions_count, other.questions_count) == (2, 0)


def test_the_list_says_how_far_a_run_is(
    client: Client, staff: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(staff)
    url = reverse("admin:assistant_gaptopic_changelist")
    seen: list[str] = []

    def look(now: object) -> None:
        seen.append(client.get(url).content.decode())

    monkeypatch.setattr(report, "measure", look)
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    assert "The report is being updated: 1 question so far." in seen[0]
    assert "is being updated" not in client.get(url).content.decode()


def test_without_valkey_the_report_runs_and_nobody_can_tell_how_far(
    settings: Any, client: Client, staff: User
) -> None:
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    make_answer("Can I pay by invoice?", grounding=Grounding.NO_HITS)
    assert gaps.update_report() is not None
    client.force_login(staff)
    page = client.get(reverse("admin:assistant_gaptopic_changelist"))
    assert "Can I pay by invoice?" in page.content.decode()


def test_a_question_in_another_language_joins_where_the_vectors_allow() -> None:
    make_answer("Okta SAML SSO setup error", grounding=Grounding.NO_HITS, language="en")
    make_answer("Okta SAML SSO Setup Fehler", grounding=Grounding.NO_HITS, language="de")
    make_answer("Wann kommt meine neue Karte?", grounding=Grounding.NO_HITS, language="de")
    gaps.update_report()
    assert sorted(topics().values()) == [1, 2]


@pytest.mark.parametrize(
    ("question", "page", "language"),
    [
        ("Wie exportiere ich meine Rechnungen?", "en", "de"),
        ("Wie exportiere ich meine Rechnungen?", "de", "de"),
        ("Okta SAML", "de", "de"),
        ("Okta SAML", "pt-br", "pt-br"),
        ("How do I export my invoices?", "de", "en"),
        ("請求書はどこですか", "en", "ja"),
    ],
)
def test_a_topics_language_is_its_words_or_else_the_pages(
    question: str, page: str, language: str
) -> None:
    make_answer(question, grounding=Grounding.NO_HITS, language=page)
    gaps.update_report()
    assert GapTopic.objects.get().language == language
