"""Field reports about the admin and its reports: each case's right behaviour, by its number."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient, Client
from django.urls import reverse

from articles.models import Passage, Status
from assistant import gaps
from assistant.models import Answer, Conversation, GapQuestion, GapTopic
from tests.chat_clients import in_loop
from tests.factories import make_answer
from tests.search_index import found, make_indexed

FORMULAS = ["=1+2", "+SUM(1,2)", "-3", "@now", "\t=4"]


@pytest.mark.django_db
def test_b108_unpublishing_several_is_logged_for_each_and_search_follows(
    staff: User, staff_client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    titles = ["Reset a password", "Change a password", "Forget a password"]
    articles = [make_indexed(title, f"## How\n\n{title} here.") for title in titles]
    assert set(found("password")) == set(titles)
    url = reverse("admin:articles_article_changelist")
    chosen = {"action": "unpublish_selected", "_selected_action": [a.pk for a in articles]}
    with django_capture_on_commit_callbacks(execute=True):
        assert staff_client.post(url, chosen).status_code == 302

    entries = LogEntry.objects.order_by("object_id")
    assert [entry.object_id for entry in entries] == sorted(str(a.pk) for a in articles)
    for entry in entries:
        assert entry.user == staff
        assert entry.action_time is not None
        assert entry.get_change_message() == "Unpublished."
        assert entry.object_repr in titles
    for article in articles:
        article.refresh_from_db()
        assert article.status == Status.DRAFT
    assert found("password") == []
    assert not Passage.objects.filter(article__in=articles).exists()


@pytest.mark.django_db(transaction=True)
def test_b113_formulas_are_neutral_in_the_file_and_untouched_in_the_admin(
    staff: User, client: Client
) -> None:
    for formula in FORMULAS:
        make_answer(formula)
    client.force_login(staff)
    page = client.get(reverse("admin:assistant_answer_changelist")).content.decode()
    files: list[str] = []

    async def body() -> None:
        browser = AsyncClient()
        await sync_to_async(browser.force_login)(staff)
        response: Any = await browser.get(reverse("admin:assistant_answer_export", args=["csv"]))
        pieces = [piece async for piece in response.streaming_content]
        files.append(b"".join(pieces).decode("utf-8-sig"))

    in_loop(body)
    rows = list(csv.DictReader(io.StringIO(files[0], newline="")))
    assert sorted(row["question"] for row in rows) == sorted(f"'{text}" for text in FORMULAS)
    for answer in Answer.objects.all():
        assert answer.question in FORMULAS
        own = client.get(reverse("admin:assistant_answer_change", args=[answer.pk]))
        assert f'<pre class="verbatim" dir="auto">{answer.question}</pre>' in own.content.decode()
        assert f">{answer.question}</a>" in page


@pytest.mark.django_db
def test_b116_the_report_masks_personal_data_and_says_nobody_who_asked(
    owner: User, client: Client
) -> None:
    asked = "My mail is jo@example.test, card 4242 4242 4242 4242, why declined?"
    conversation = Conversation.objects.create(user=owner)
    answer = make_answer(asked, conversation=conversation, grounding="no_hits")
    gaps.update_report()
    topic, question = GapTopic.objects.get(), GapQuestion.objects.get()
    assert question.text == "My mail is [email], card [card], why declined?"

    writer = User.objects.create_user("writer", is_staff=True)
    codenames = ["view_gaptopic", "change_gaptopic"]
    writer.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(writer)
    for url in (
        reverse("admin:assistant_gaptopic_changelist"),
        reverse("admin:assistant_gaptopic_change", args=[topic.pk]),
    ):
        page = client.get(url).content.decode()
        assert "[email]" in page
        for secret in ("jo@example.test", "4242", owner.email, f"user:{owner.pk}", str(answer.pk)):
            assert secret not in page
    own = reverse("admin:assistant_answer_change", args=[answer.pk])
    assert client.get(own).status_code == 403
