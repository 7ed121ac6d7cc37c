"""A colleague asks a visitor's question again: by the asker's rights, and outside their things."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import AsyncClient, Client
from django.urls import reverse

from articles.access import ANONYMOUS
from articles.indexing import index_article
from assistant.audit import asking_again
from assistant.audit.asking_again import reader_of
from assistant.models import AccessRecord, Answer, Conversation, Origin
from assistant.turns.live import LiveTurns
from tests.chat_clients import in_loop
from tests.factories import make_answer, make_article
from tests.test_groups import MIGRATION

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def support(db: None) -> User:
    """Of the group Support alone."""
    MIGRATION.make_groups(apps, None)
    user = User.objects.create_user("sam", is_staff=True)
    user.groups.add(Group.objects.get(name="Support"))
    return user


def ask_again(staff: User, answer: Answer) -> None:
    async def body() -> None:
        client = AsyncClient()
        await sync_to_async(client.force_login)(staff)
        url = reverse("admin:assistant_answer_again", args=[answer.pk])
        response: Any = await client.post(url)
        assert response["Location"] == url
        await LiveTurns.current().wait()

    in_loop(body)


def test_it_is_asked_on_todays_articles_by_the_askers_rights(support: User, client: Client) -> None:
    index_article(make_article("Reset your password").pk)
    internal = make_article("Reset your password as staff", visibility="staff")
    index_article(internal.pk)
    answer = make_answer("How do I reset my password?", language="en", text="Nothing.")

    ask_again(support, answer)

    again = Answer.objects.exclude(pk=answer.pk).get()
    assert (again.question, again.language) == (answer.question, "en")
    assert again.origin == Origin.STAFF
    assert again.conversation_id != answer.conversation_id
    assert again.conversation.repeats == answer
    assert again.conversation.user == support
    titles = {document.title for document in again.documents.all()}
    assert "Reset your password" in titles
    assert internal.title not in titles
    assert answer.conversation.answers.count() == 1

    client.force_login(support)
    page = client.get(reverse("admin:assistant_answer_again", args=[answer.pk])).content.decode()
    assert "Nothing." in page
    assert "Reset your password" in page
    for url in (
        reverse("admin:assistant_answer_change", args=[again.pk]),
        reverse("admin:assistant_conversation_change", args=[again.conversation_id]),
    ):
        assert "Both answers side by side" in client.get(url).content.decode()
    own = client.get("/api/v1/conversations/").json()["conversations"]
    assert own == []


def test_pressed_twice_at_the_same_moment_it_is_asked_once(staff: User) -> None:
    answer = make_answer()

    async def body() -> None:
        for _press in range(2):
            await sync_to_async(asking_again.ask_again)(answer, staff, None)
        await LiveTurns.current().wait()

    in_loop(body)
    assert Answer.objects.filter(conversation__repeats=answer).count() == 1


def test_an_account_reads_by_its_present_rights(owner: User) -> None:
    answer = make_answer()
    assert reader_of(answer) == ANONYMOUS
    Conversation.objects.filter(pk=answer.conversation_id).update(visitor_id=None, user=owner)
    answer = Answer.objects.get(pk=answer.pk)
    assert reader_of(answer).is_authenticated
    assert not reader_of(answer).is_staff
    owner.is_active = False
    owner.save()
    assert reader_of(Answer.objects.get(pk=answer.pk)) == ANONYMOUS


def test_waiting_shows_no_words_and_leaves_no_record_and_the_result_leaves_one(
    staff: User, client: Client
) -> None:
    answer = make_answer("Who is Jane Doe?", text="A person.")
    conversation = Conversation.objects.create(user=staff, repeats=answer)
    again = make_answer(
        answer.question,
        conversation=conversation,
        status="running",
        grounding="",
        finished_at=None,
        text="",
    )
    client.force_login(staff)
    url = reverse("admin:assistant_answer_again", args=[answer.pk])
    for _poll in range(3):
        response = client.get(url)
        assert response["Refresh"] == "2"
        page = response.content.decode()
        assert "The question is being asked again." in page
        assert "Jane" not in page
        assert "A person." not in page
    assert client.post(url).status_code == 302  # pressed twice: it goes on waiting for the first
    assert Answer.objects.count() == 2
    assert not AccessRecord.objects.exists()

    Answer.objects.filter(pk=again.pk).update(
        status="completed", grounding="no_hits", finished_at=again.created_at, text="Nobody knows."
    )
    response = client.get(url)
    assert "Refresh" not in response
    assert "A person." in response.content.decode()
    assert "Nobody knows." in response.content.decode()
    assert [record.detail for record in AccessRecord.objects.all()] == ["answer.again"]
