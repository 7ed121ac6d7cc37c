"""From a topic to an article that was checked: drafting, trying, and asking again."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from articles import publishing
from articles.indexing import index_article
from articles.models import Article, Passage, Status, Visibility
from assistant import gaps
from assistant.gaps import checking, drafting, evidence, queue
from assistant.models import (
    Answer,
    AnswerDocument,
    Conversation,
    GapCheck,
    GapQuestion,
    GapTopic,
    Grounding,
    Origin,
)
from tests.factories import make_answer, make_article

pytestmark = pytest.mark.django_db

CARD = "When will I receive my new card?"
CARD_AGAIN = "When will my new card arrive by post?"
ANSWERING = (
    "## When will I receive my new card?\n\n"
    "You will receive your new card by post. It will arrive within five working days.\n"
)


def make_topic(*questions: str) -> GapTopic:
    for question in questions or (CARD, CARD_AGAIN):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    return GapTopic.objects.get()


def publish(article: Article, body: str = ANSWERING) -> None:
    """As the editor does it, and with what follows the commit."""
    article.body = body
    publishing.publish(article)


# Drafting


def test_a_draft_has_the_questions_as_outline_and_the_nearest_passages_as_material(
    staff: User,
) -> None:
    near = make_article("Order a card", body="## Ordering\n\nOrder a new card in the settings.")
    index_article(near.pk)
    topic = make_topic()
    article = drafting.draft(topic, staff)

    topic.refresh_from_db()
    assert (topic.status, topic.article, topic.assignee) == ("drafted", article, staff)
    assert article.status == Status.DRAFT
    assert article.title == topic.name.rstrip("?")
    assert article.body.startswith("## ")
    assert "> Order a card › Ordering:" in article.body
    assert "> Order a new card in the settings." in article.body
    assert drafting.draft(topic, staff) == article


def test_a_question_is_nothing_but_text_in_the_outline(staff: User) -> None:
    topic = make_topic("Does [this](https://evil.example) ![x](y) <b>work</b>?")
    heading = drafting.draft(topic, staff).body.splitlines()[0]
    assert heading == r"## Does \[this\](https://evil.example) \!\[x\](y) \<b\>work\</b\>?"


def test_only_different_questions_get_a_section(staff: User) -> None:
    topic = make_topic(CARD, "when will i receive my NEW card??", CARD_AGAIN)
    asked = evidence.samples(topic)
    assert len(drafting.different(asked, "en")) < 3


def test_the_editor_shows_the_topics_questions(client: Client, staff: User) -> None:
    client.force_login(staff)
    topic = make_topic()
    response = client.post(reverse("admin:assistant_gaptopic_draft", args=[topic.pk]), follow=True)
    page = response.content.decode()
    assert "Written for a documentation gap" in page
    assert CARD_AGAIN in page


def test_drafting_needs_the_permission_to_write_articles(client: Client, stranger: User) -> None:
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.add(
        *Permission.objects.filter(codename__in=["view_gaptopic", "change_gaptopic"])
    )
    client.force_login(stranger)
    topic = make_topic()
    assert client.post(
        reverse("admin:assistant_gaptopic_draft", args=[topic.pk])
    ).status_code == 403  # fmt: skip
    assert not Article.objects.exists()


# Trying questions against the draft


def test_trying_says_which_questions_the_draft_would_answer_and_leaves_no_trace(
    staff: User,
) -> None:
    topic = make_topic(CARD, CARD_AGAIN)
    article = drafting.draft(topic, staff)
    Article.objects.filter(pk=article.pk).update(body=ANSWERING)
    tried = drafting.try_questions(article, topic)

    assert {one.text: one.answers for one in tried} == {CARD: True, CARD_AGAIN: True}
    assert tried[0].section == (CARD,)
    article.refresh_from_db()
    assert (article.status, article.live_revision) == (Status.DRAFT, None)
    assert not Passage.objects.exists()


def test_a_draft_that_only_repeats_the_questions_answers_none(staff: User) -> None:
    topic = make_topic(CARD, CARD_AGAIN)
    article = drafting.draft(topic, staff)
    tried = drafting.try_questions(article, topic)
    assert [(one.place, one.answers) for one in tried] == [(1, False), (1, False)]


def test_trying_names_what_comes_first_instead(client: Client, staff: User) -> None:
    other = make_article("When you receive your new card", body=ANSWERING)
    index_article(other.pk)
    topic = make_topic(CARD)
    article = drafting.draft(topic, staff)
    Article.objects.filter(pk=article.pk).update(body="Nothing about it.", title="Fees")
    (tried,) = drafting.try_questions(article, topic)
    assert (tried.answers, tried.instead) == (False, "When you receive your new card")

    client.force_login(staff)
    page = client.get(reverse("admin:assistant_gaptopic_try", args=[topic.pk])).content.decode()
    assert "0 of 1 question would find" in page


# Checking what was published


@pytest.mark.django_db(transaction=True)
def test_a_published_article_that_answers_verifies_its_topic(staff: User, client: Client) -> None:
    topic = make_topic(CARD, CARD, CARD_AGAIN)
    publish(drafting.draft(topic, staff))
    topic.refresh_from_db()
    assert topic.status == GapTopic.Status.PUBLISHED

    assert checking.work() == 1

    topic.refresh_from_db()
    check = GapCheck.objects.get()
    assert (check.outcome, check.asked_count, check.answered_count) == ("passed", 2, 2)
    assert topic.status == GapTopic.Status.VERIFIED
    asked = Answer.objects.filter(origin=Origin.CHECK)
    assert {answer.grounding for answer in asked} == {Grounding.GROUNDED}
    repeated = asked.values_list("conversation__repeats__question", flat=True)
    assert set(repeated) == {CARD, CARD_AGAIN}
    client.force_login(staff)
    url = reverse("admin:assistant_gaptopic_change", args=[topic.pk])
    page = client.get(url).content.decode()
    assert "2 of 2 questions are answered from the article." in page
    assert checking.work() == 0
    gaps.update_report()
    topic.refresh_from_db()
    assert topic.questions_count == 3


@pytest.mark.django_db(transaction=True)
def test_one_that_does_not_answer_goes_back_to_its_writer_with_what_is_missing(
    staff: User, client: Client
) -> None:
    topic = make_topic(CARD, CARD_AGAIN)
    article = drafting.draft(topic, staff)
    article.title = "Fees"
    publish(article, "Withdrawals abroad cost two percent.")
    checking.work()
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("claimed", staff)
    client.force_login(staff)
    page = client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk])).content.decode()
    assert "0 of 2 questions are answered from the article." in page
    assert page.count("<strong>missing</strong>") == 2

    publish(Article.objects.get())
    checking.work()
    topic.refresh_from_db()
    assert topic.status == GapTopic.Status.VERIFIED


@pytest.mark.django_db(transaction=True)
def test_a_check_that_was_limited_goes_on_and_asks_nothing_twice(
    staff: User, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    topic = make_topic(CARD, CARD_AGAIN)
    publish(drafting.draft(topic, staff))
    assert checking.work() == 0
    assert Answer.objects.filter(origin=Origin.CHECK).count() == 1
    settings.ASSISTANT_TURNS_PER_VISITOR = 20
    assert checking.work() == 1
    assert Answer.objects.filter(origin=Origin.CHECK).count() == 2
    topic.refresh_from_db()
    assert topic.status == GapTopic.Status.VERIFIED


def asked_by(user: User | None, question: str) -> Answer:
    conversation = Conversation.objects.create(user=user, visitor_id=None if user else uuid.uuid4())
    return make_answer(question, conversation=conversation, grounding=Grounding.NO_HITS)


@pytest.mark.django_db(transaction=True)
def test_each_question_is_asked_by_the_rights_of_its_asker(staff: User, owner: User) -> None:
    """A visitor and an account are in the topic: only what both may read verifies it."""
    asked_by(None, CARD)
    asked_by(owner, CARD_AGAIN)
    gaps.update_report()
    topic = GapTopic.objects.get()
    article = drafting.draft(topic, staff)
    found = []
    for visibility, is_staff in (
        (Visibility.STAFF, False),
        (Visibility.STAFF, True),  # the account's rights are those of today
        (Visibility.SIGNED_IN, False),
        (Visibility.PUBLIC, False),
    ):
        owner.is_staff = is_staff
        owner.save()
        article = Article.objects.get()
        article.visibility = visibility
        publish(article)
        assert checking.work() == 1
        parts = GapCheck.objects.first().parts.select_related("question")  # type: ignore[union-attr]
        found.append({part.question.text for part in parts if part.in_article})
        given = AnswerDocument.objects.filter(answer__in=[part.answer_id for part in parts])
        assert given.count() == len(found[-1])  # what may not be read is not even given
        topic.refresh_from_db()
        assert (topic.status == "verified") == (visibility == Visibility.PUBLIC)
    assert found == [set(), {CARD_AGAIN}, {CARD_AGAIN}, {CARD, CARD_AGAIN}]


@pytest.mark.django_db(transaction=True)
def test_the_same_words_are_asked_again_by_whoever_may_read_the_least(
    staff: User, owner: User
) -> None:
    visitor = asked_by(None, CARD)
    asked_by(owner, CARD)
    member = asked_by(owner, CARD_AGAIN)
    asked_by(staff, CARD_AGAIN)
    gaps.update_report()
    topic = GapTopic.objects.get()
    publish(drafting.draft(topic, staff))
    parts = GapCheck.objects.get().parts
    assert set(parts.values_list("question__answer", flat=True)) == {visitor.pk, member.pk}


@pytest.mark.django_db(transaction=True)
def test_at_most_twenty_different_questions_are_asked(staff: User) -> None:
    topic = make_topic(CARD)
    for number in range(checking.MOST + 5):
        answer = make_answer(f"Card {number}?", grounding=Grounding.NO_HITS)
        GapQuestion.objects.create(
            topic=topic, answer=answer, text=answer.question, fingerprint=f"f{number}",
            grounding=Grounding.NO_HITS, asked_at=answer.created_at,
        )  # fmt: skip
    publish(drafting.draft(topic, staff))
    assert GapCheck.objects.get().parts.count() == checking.MOST


@pytest.mark.django_db(transaction=True)
def test_publishing_checks_neither_dismissed_topics_nor_those_of_other_articles(
    staff: User,
) -> None:
    topic = make_topic(CARD)
    article = drafting.draft(topic, staff)
    publish(make_article("Another", publish=False))
    queue.dismiss([topic], staff, GapTopic.Reason.DUPLICATE)
    publish(article)
    assert not GapCheck.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_erasing_a_conversation_erases_what_a_check_asked_of_it(
    staff: User, client: Client
) -> None:
    topic = make_topic("Is the card of Jane Doe on its way?")
    article = drafting.draft(topic, staff)
    article.title = "Delivery"
    publish(article)
    checking.work()
    Answer.objects.get(origin=Origin.VISITOR).conversation.delete()

    assert not Answer.objects.exists()
    assert_nowhere("Jane", topic, client, staff)
    topic.refresh_from_db()
    assert topic.questions_count == 1


def test_erasing_a_conversation_takes_its_words_out_of_the_draft(
    staff: User, client: Client
) -> None:
    topic = make_topic("Is the card of Jane Doe on its way?")
    client.force_login(staff)
    client.post(reverse("admin:assistant_gaptopic_draft", args=[topic.pk]))
    url = reverse("admin:assistant_gaptopic_changelist")
    client.post(url, {"action": "claim", "_selected_action": [topic.pk]})
    Answer.objects.get().conversation.delete()
    article = Article.objects.get()
    assert "jane" not in (article.title + article.body + article.slug).lower()
    assert_nowhere("Jane", topic, client, staff)


def assert_nowhere(word: str, topic: GapTopic, client: Client, staff: User) -> None:
    client.force_login(staff)
    for url in (
        reverse("admin:assistant_gaptopic_change", args=[topic.pk]),
        reverse("admin:assistant_gaptopic_changelist") + "?status=all",
        reverse("admin:index"),
    ):
        assert word not in client.get(url).content.decode(), url


# Waiting for it


def test_the_page_asks_whether_the_check_is_done_and_nothing_is_written(
    staff_client: Client, staff: User
) -> None:
    topic = make_topic()
    article = drafting.draft(topic, staff)
    url = reverse("admin:assistant_gaptopic_check", args=[topic.pk])
    page = reverse("admin:assistant_gaptopic_change", args=[topic.pk])
    assert staff_client.get(url).json() == {"pending": False}
    assert "gap-check.js" not in staff_client.get(page).content.decode()

    check = GapCheck.objects.create(topic=topic, article=article)
    shown = staff_client.get(page).content.decode()
    assert f'data-check="{url}"' in shown
    assert "gap-check.js" in shown
    with CaptureQueriesContext(connection) as queries:
        response = staff_client.get(url)
    assert response.json() == {"pending": True}
    assert "no-store" in response["Cache-Control"]
    assert all(query["sql"].startswith("SELECT") for query in queries)

    check.outcome = GapCheck.Outcome.FAILED
    check.save()
    assert staff_client.get(url).json() == {"pending": False}
    nowhere = reverse("admin:assistant_gaptopic_check", args=[topic.pk + 1])
    assert staff_client.get(nowhere).status_code == 404


def test_whether_it_is_done_is_for_who_may_see_topics(client: Client) -> None:
    topic = make_topic()
    url = reverse("admin:assistant_gaptopic_check", args=[topic.pk])
    assert client.get(url).status_code == 302
    client.force_login(User.objects.create_user("colleague", is_staff=True))
    assert client.get(url).status_code == 403
