"""The writers' queue: who does what with topics, what is kept of it, and what can be undone."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.indexing import index_article
from articles.models import Rating
from assistant import gaps
from assistant.gaps import evidence, queue
from assistant.models import AnswerFeedback, GapQuestion, GapStep, GapTopic, Grounding
from tests.factories import make_answer, make_article, make_document

pytestmark = pytest.mark.django_db

CARD = "When will I receive my new card?"
CURRENCY = "Which currencies do you support for exchange?"


def make_topics(*questions: str) -> list[GapTopic]:
    for question in questions:
        make_answer(question, grounding=Grounding.REJECTED)
    gaps.update_report()
    return list(GapTopic.objects.order_by("pk"))


def page_of(topic: GapTopic, client: Client) -> str:
    return client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk])).content.decode()


def test_every_step_stands_in_the_history(staff: User) -> None:
    (topic,) = make_topics(CARD)
    queue.claim([topic], staff)
    queue.change([topic], staff, due_on=date(2027, 1, 5))
    queue.comment(topic, staff, "Ask the card team first.")
    queue.dismiss([topic], staff, GapTopic.Reason.PRODUCT_GAP)

    topic.refresh_from_db()
    assert (topic.status, topic.dismissed_as) == ("dismissed", "product_gap")
    steps = list(topic.steps.order_by("pk"))
    assert [queue.told(step) for step in steps] == [
        ["claimed", "assigned"],
        ["due 2027-01-05"],
        [],
        ["dismissed: missing in the product"],
    ]
    assert {step.username for step in steps} == {"staff"}
    assert steps[2].note == "Ask the card team first."


@pytest.mark.parametrize("statement", ["UPDATE assistant_gapstep SET note = 'x'",
                                       "DELETE FROM assistant_gapstep"])  # fmt: skip
def test_the_history_cannot_be_changed(staff: User, statement: str) -> None:
    queue.claim(make_topics(CARD), staff)
    with pytest.raises(ProgrammingError, match="cannot be changed"), transaction.atomic():
        connection.cursor().execute(statement)
    assert GapStep.objects.count() == 1


def test_a_step_that_changes_nothing_is_none(staff: User) -> None:
    topics = make_topics(CARD)
    assert queue.reopen(topics, staff) == []
    assert not GapStep.objects.exists()


def test_undo_takes_back_the_last_act_on_all_its_topics_once(staff: User) -> None:
    topics = make_topics(CARD, CURRENCY)
    queue.claim(topics, staff)
    queue.dismiss(topics, staff, GapTopic.Reason.DUPLICATE)

    done = queue.undo(staff)

    assert {topic.pk for topic in done.restored} == {topic.pk for topic in topics}
    standing = set(GapTopic.objects.values_list("status", "dismissed_as", "assignee"))
    assert standing == {("claimed", "", staff.pk)}
    assert queue.undo(staff).restored == []


def test_undo_leaves_alone_what_somebody_did_since(staff: User, owner: User) -> None:
    topics = make_topics(CARD, CURRENCY)
    queue.claim(topics, staff)
    queue.change([topics[0]], owner, due_on=date(2027, 1, 5))
    done = queue.undo(staff)
    assert (done.left, done.restored) == ([topics[0]], [topics[1]])
    topics[0].refresh_from_db()
    assert topics[0].status == GapTopic.Status.CLAIMED


def test_undo_expires_and_is_ones_own(
    staff: User, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = make_topics(CARD)
    queue.claim(topics, staff)
    assert queue.latest(owner) == []
    assert queue.latest(staff) != []
    monkeypatch.setattr(queue, "EXPIRES", timedelta(0))
    assert queue.undo(staff).restored == []


def test_merging_moves_every_question_and_undo_brings_them_back(staff: User) -> None:
    card, currency = make_topics(CARD, CURRENCY)
    queue.merge([currency], card, staff)
    card.refresh_from_db()
    currency.refresh_from_db()
    assert (card.questions_count, currency.questions_count) == (2, 0)
    assert currency.merged_into == card
    assert card.texts_count == 2

    make_answer(CURRENCY, grounding=Grounding.NO_HITS)
    gaps.update_report()
    card.refresh_from_db()
    assert card.questions_count == 3

    queue.undo(staff)
    card.refresh_from_db()
    currency.refresh_from_db()
    assert (card.questions_count, currency.questions_count) == (2, 1)
    assert currency.merged_into is None


def test_the_list_says_what_it_does_not_merge(client: Client, staff: User) -> None:
    client.force_login(staff)
    card, currency = make_topics(CARD, CURRENCY)
    listed = reverse("admin:assistant_gaptopic_changelist")

    def merge(*topics: GapTopic) -> str:
        data = {"action": "merge", "_selected_action": [topic.pk for topic in topics]}
        return client.post(listed, data, follow=True).content.decode()

    assert "Choose two topics or more." in merge(card)
    GapTopic.objects.filter(pk=currency.pk).update(kind="search")
    assert "Only topics of one kind are merged" in merge(card, currency)
    GapTopic.objects.filter(pk=currency.pk).update(kind="gap")
    page = merge(card, currency)
    assert "1 topic changed." in page
    assert "Only topics of one kind" not in page


def test_topics_of_different_kinds_are_not_merged(staff: User) -> None:
    make_answer(CARD, grounding=Grounding.UNCITED)
    first, second = make_topics(CARD)
    assert queue.merge([second], first, staff) == []


def test_splitting_takes_all_questions_of_the_same_words_and_can_be_undone(staff: User) -> None:
    card, currency = make_topics(CARD, CURRENCY, CURRENCY)
    queue.merge([currency], card, staff)
    chosen = GapQuestion.objects.filter(text=CURRENCY).values_list("pk", flat=True)[:1]

    new = queue.split(card, list(chosen), staff)

    assert new is not None
    new.refresh_from_db()
    card.refresh_from_db()
    assert (new.name, new.questions_count, card.questions_count) == (CURRENCY, 2, 1)
    queue.undo(staff)
    new.refresh_from_db()
    card.refresh_from_db()
    assert (new.questions_count, card.questions_count, new.merged_into) == (0, 3, card)


def test_all_or_none_of_a_topic_is_no_split(staff: User) -> None:
    (topic,) = make_topics(CARD)
    assert queue.split(topic, list(topic.questions.values_list("pk", flat=True)), staff) is None
    assert queue.split(topic, [], staff) is None


def test_a_verified_topic_that_grows_again_reopens_by_itself() -> None:
    topics = make_topics(CARD)
    queue.change(topics, None, status=GapTopic.Status.VERIFIED)
    make_topics(CARD)
    topic = GapTopic.objects.get()
    assert topic.status == GapTopic.Status.OPEN
    step = topic.steps.first()
    assert step is not None
    assert (step.action, step.username) == (GapStep.Action.REOPENED, "")


def test_what_was_asked_before_a_topic_was_verified_does_not_reopen_it() -> None:
    topics = make_topics(CARD)
    make_answer(CARD, grounding=Grounding.NO_HITS)
    queue.change(topics, None, status=GapTopic.Status.VERIFIED)
    gaps.update_report()
    topic = GapTopic.objects.get()
    assert (topic.status, topic.questions_count) == (GapTopic.Status.VERIFIED, 2)


# How much it matters


def test_the_impact_is_the_product_of_its_parts() -> None:
    now = timezone.now()
    for days, rating in ((1, Rating.NEGATIVE), (2, Rating.POSITIVE), (3, None), (10, None)):
        answer = make_answer(CARD, grounding=Grounding.NO_HITS)
        type(answer).objects.filter(pk=answer.pk).update(created_at=now - timedelta(days=days))
        if rating:
            AnswerFeedback.objects.create(answer=answer, rating=rating)
    gaps.update_report()
    topic = GapTopic.objects.get()
    assert (topic.recent_askers, topic.week_count, topic.week_before_count) == (4, 3, 1)
    assert (topic.rated_count, topic.negative_count) == (2, 1)
    assert topic.impact == pytest.approx(4 * 2 * 1.5)


def test_an_old_topic_matters_no_more() -> None:
    (topic,) = make_topics(CARD)
    assert topic.impact > 0
    gaps.update_report(until=timezone.now() + timedelta(days=40))
    topic.refresh_from_db()
    assert topic.impact == 0


# What to do


def test_where_nothing_is_near_an_article_has_to_be_written() -> None:
    index_article(make_article("Roast a chicken", body="Heat the oven and add rosemary.").pk)
    (topic,) = make_topics(CARD)
    asked = evidence.samples(topic)
    assert [sample.text for sample in asked] == [CARD]
    assert evidence.suggestion(evidence.nearest(topic, asked)).advice == "write"


def test_an_article_that_answers_and_was_not_given_has_to_be_found_better() -> None:
    article = make_article(
        "When you receive your new card",
        body="## Delivery of a new card\n\nYou receive your new card within five working days.",
    )
    index_article(article.pk)
    (topic,) = make_topics(CARD)
    found = evidence.suggestion(evidence.nearest(topic, evidence.samples(topic)))
    assert found.advice == "fix_retrieval"
    assert found.near is not None
    assert found.near.article == article


def test_an_article_that_was_given_and_did_not_answer_has_to_be_extended(staff: User) -> None:
    article = make_article(
        "Cards", body="## Delivery of a new card\n\nYou receive a new card by post after ordering."
    )
    index_article(article.pk)
    make_document(make_answer(CARD, grounding=Grounding.REJECTED), article)
    gaps.update_report()
    topic = GapTopic.objects.get()
    found = evidence.suggestion(evidence.nearest(topic, evidence.samples(topic)))
    assert found.advice == "extend"
    assert found.near is not None
    assert found.near.section == ("Delivery of a new card",)


# The pages


def test_the_page_of_a_topic_shows_its_evidence_and_acts(client: Client, staff: User) -> None:
    client.force_login(staff)
    (topic,) = make_topics(CARD)
    page = page_of(topic, client)
    for shown in ("Write an article.", "Asked once by one person.", "Askers in 30 days", CARD):
        assert shown in page
    url = reverse("admin:assistant_gaptopic_status", args=[topic.pk])
    client.post(url, {"act": "claim"})
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("claimed", staff)
    client.post(url, {"act": "answered_elsewhere"})
    assert "answered elsewhere" in page_of(topic, client)
    client.post(reverse("admin:assistant_gaptopic_undo"))
    topic.refresh_from_db()
    assert topic.status == "claimed"


def test_the_form_assigns_dates_and_comments_through_the_queue(client: Client, staff: User) -> None:
    client.force_login(staff)
    (topic,) = make_topics(CARD)
    url = reverse("admin:assistant_gaptopic_change", args=[topic.pk])
    data = {"assignee": staff.pk, "due_on": "2100-01-05", "article": "", "comment": "By Friday"}
    assert client.post(url, data).status_code == 302
    topic.refresh_from_db()
    assert (topic.assignee, topic.due_on, topic.held) == (staff, date(2100, 1, 5), True)
    assert "By Friday" in page_of(topic, client)


def test_several_topics_are_assigned_in_one_act_that_can_be_undone(
    client: Client, staff: User, owner: User, stranger: User
) -> None:
    one, two = make_topics(CARD, CURRENCY)
    owner.is_staff = True
    owner.save()
    owner.user_permissions.add(Permission.objects.get(codename="change_gaptopic"))
    stranger.is_staff = True  # and may not work the queue
    stranger.save()
    queue.dismiss([two], staff, GapTopic.Reason.DUPLICATE)
    client.force_login(staff)
    url = reverse("admin:assistant_gaptopic_changelist")
    offered = client.get(url).context["action_form"].fields["person"].queryset
    assert list(offered) == [owner, staff]

    def assign(person: object) -> str:
        chosen = {"action": "assign", "person": person, "_selected_action": [one.pk, two.pk]}
        return client.post(f"{url}?status=all", chosen, follow=True).content.decode()

    for nobody in ("", stranger.pk, "x", "9" * 30):
        assert "2 topics changed" not in assign(nobody)
    assert not GapTopic.objects.filter(assignee__isnull=False).exists()
    assert "2 topics changed" in assign(owner.pk)
    assert assigned() == {("claimed", owner.pk), ("dismissed", owner.pk)}
    assert f"assigned to {owner.username}" in page_of(one, client)
    client.post(reverse("admin:assistant_gaptopic_undo"))
    assert assigned() == {("open", None), ("dismissed", None)}


def assigned() -> set[tuple[Any, ...]]:
    return set(GapTopic.objects.values_list("status", "assignee"))


def test_assigning_in_the_form_claims_and_keeps_whoever_may_no_more(
    client: Client, staff: User, owner: User
) -> None:
    (topic,) = make_topics(CARD)
    client.force_login(staff)
    url = reverse("admin:assistant_gaptopic_change", args=[topic.pk])
    client.post(url, {"assignee": staff.pk})
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("claimed", staff)
    client.post(url, {"assignee": ""})
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("open", None)
    GapTopic.objects.update(assignee=owner)
    client.post(url, {"assignee": owner.pk, "comment": "On holiday."})
    topic.refresh_from_db()
    assert topic.assignee == owner
    assert topic.steps.count() == 3


def test_who_may_not_change_topics_sees_no_buttons_and_no_answers(
    client: Client, stranger: User
) -> None:
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.add(Permission.objects.get(codename="view_gaptopic"))
    client.force_login(stranger)
    (topic,) = make_topics(CARD)
    page = page_of(topic, client)
    assert CARD in page
    assert reverse("admin:assistant_answer_changelist") not in page
    for name in ("status", "split"):
        url = reverse(f"admin:assistant_gaptopic_{name}", args=[topic.pk])
        assert url not in page
        assert client.post(url, {"act": "claim"}).status_code == 403
    assert client.post(reverse("admin:assistant_gaptopic_undo")).status_code == 403


def test_a_merged_topic_leads_to_where_its_questions_are(client: Client, staff: User) -> None:
    client.force_login(staff)
    card, currency = make_topics(CARD, CURRENCY)
    queue.merge([currency], card, staff)
    response = client.get(reverse("admin:assistant_gaptopic_change", args=[currency.pk]))
    assert response["Location"] == reverse("admin:assistant_gaptopic_change", args=[card.pk])
    assert response.status_code == 302


def test_the_list_shows_what_is_left_to_do(client: Client, staff: User) -> None:
    client.force_login(staff)
    card, currency = make_topics(CARD, CURRENCY)
    queue.dismiss([currency], staff, GapTopic.Reason.OUT_OF_SCOPE)
    url = reverse("admin:assistant_gaptopic_changelist")
    page: Any = client.get(url)
    assert [topic.pk for topic in page.context["cl"].result_list] == [card.pk]
    everything: Any = client.get(url, {"status": "all"})
    assert len(everything.context["cl"].result_list) == 2


def test_a_hostile_question_is_text_on_every_page(client: Client, staff: User) -> None:
    client.force_login(staff)
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> {{ 7|add:7 }} %s"
    (topic,) = make_topics(hostile)
    queue.comment(topic, staff, hostile)
    for page in (
        page_of(topic, client),
        client.get(reverse("admin:assistant_gaptopic_changelist")).content.decode(),
    ):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
