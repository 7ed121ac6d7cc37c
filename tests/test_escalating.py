"""An answer that did not help goes to people: with consent, once, to the support address only."""

from __future__ import annotations

import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant import escalating, gaps, tasks
from assistant.models import (
    Answer,
    AnswerFeedback,
    Conversation,
    Escalation,
    GapTopic,
)
from assistant.reference_numbers import reference_number
from helpcenter.visitors import SESSION_KEY
from tests.factories import make_answer, make_article, make_document

pytestmark = pytest.mark.django_db

SUPPORT = "support@example.com"
GIVEN = {"email": "jo@example.com", "message": "An invoice, please.", "consent": True}


@pytest.fixture(autouse=True)
def support(settings: Any) -> None:
    settings.SUPPORT_EMAIL = SUPPORT
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def answer(client: Client) -> Answer:
    """The second turn of the conversation of the visitor at `client`."""
    client.get(reverse("assistant:chat"))
    conversation = Conversation.objects.create(visitor_id=client.session[SESSION_KEY])
    make_answer("How do I pay?", conversation=conversation, text="By card [1].")
    second = make_answer("And by\ninvoice?", conversation=conversation, text="I do not know.")
    make_answer("Thanks", conversation=conversation, text="Welcome.")
    fields = {"cited": True, "consulted": True, "number": 1, "position": 1}
    make_document(conversation.answers.get(turn=1), make_article("Payment"), 1, **fields)
    return second


def escalate(client: Client, answer: Answer, **given: Any) -> Any:
    url = reverse("assistant:answer-escalate", args=[answer.pk])
    return client.post(url, {**GIVEN, **given}, content_type="application/json")


def test_the_conversation_so_far_goes_to_support_with_its_number(
    client: Client, answer: Answer, django_capture_on_commit_callbacks: Any
) -> None:
    response = escalate(client, answer)
    number = reference_number(answer.pk)
    assert response.json() == {"reference": number, "email": "jo@example.com"}
    assert tasks.send_escalation(Escalation.objects.get().pk)

    (message,) = mail.outbox
    assert (message.to, message.cc, message.bcc) == ([SUPPORT], [], [])
    assert message.reply_to == ["jo@example.com"]
    assert message.subject == f"[{number}] And by invoice?"
    for part in ("How do I pay?", "By card [1].", "[1] Payment", "I do not know."):
        assert part in message.body
    assert "An invoice, please." in message.body
    assert reverse("admin:assistant_answer_by_reference", args=[number]) in message.body
    assert "Thanks" not in message.body


def test_it_is_sent_once_however_often_it_is_asked_and_tried(
    client: Client, answer: Answer
) -> None:
    first = escalate(client, answer).json()
    assert escalate(client, answer, email="other@example.com").json() == first
    escalation = Escalation.objects.get()
    assert [tasks.send_escalation(escalation.pk) for _try in range(3)] == [True, False, False]
    assert len(mail.outbox) == 1
    assert tasks.send_waiting_escalations() == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"consent": False}, "consent"),
        ({"consent": "yes"}, "consent"),
        ({"consent": None}, "consent"),
        ({"email": ""}, "email"),
        ({"email": "nobody"}, "email"),
        ({"email": "a@example.com\nBcc: b@example.com"}, "email"),
        ({"message": "x" * 2001}, "message"),
        ({"message": "a\u0000b"}, "message"),
    ],
)
def test_without_consent_or_an_address_nothing_is_sent(
    given: dict[str, Any], field: str, client: Client, answer: Answer
) -> None:
    response = escalate(client, answer, **given)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_contact"
    assert field in response.json()["error"]["fields"]
    assert not Escalation.objects.exists()


@pytest.mark.parametrize("given", [{"email": 7}, {"message": ["x"]}])
def test_mistyped_fields_are_malformed(
    given: dict[str, Any], client: Client, answer: Answer
) -> None:
    response = escalate(client, answer, **given)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")


def test_for_others_the_answer_does_not_exist(answer: Answer) -> None:
    assert escalate(Client(), answer).status_code == 404
    assert not Escalation.objects.exists()


def test_without_a_support_address_it_is_not_offered(
    client: Client, answer: Answer, settings: Any
) -> None:
    page = reverse("assistant:chat")
    assert "Still need help?" in client.get(page).content.decode()
    settings.SUPPORT_EMAIL = ""
    assert "Still need help?" not in client.get(page).content.decode()
    response = escalate(client, answer)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "no_support")


def test_a_hostile_conversation_is_plain_text_and_adds_no_header(
    client: Client, answer: Answer
) -> None:
    hostile = "x\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script> %(site)s {0} \u202e"
    Answer.objects.filter(pk=answer.pk).update(question=hostile)
    escalate(client, answer, message=hostile.replace("\r\n", " "))
    tasks.send_escalation(Escalation.objects.get().pk)
    (message,) = mail.outbox
    sent = message.message()
    assert sent["Bcc"] is None
    assert sent.get_content_type() == "text/plain"
    assert message.recipients() == [SUPPORT]


class TestTryingAgain:
    def test_a_server_that_is_down_is_tried_later(
        self, client: Client, answer: Answer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        escalate(client, answer)
        escalation = Escalation.objects.get()

        def refuse(self: Any, fail_silently: bool = False) -> int:
            raise smtplib.SMTPServerDisconnected

        with monkeypatch.context() as patch:
            patch.setattr(mail.EmailMessage, "send", refuse)
            assert not tasks.send_escalation(escalation.pk)
            assert tasks.send_waiting_escalations() == 0
        assert tasks.send_waiting_escalations() == 1
        assert len(mail.outbox) == 1

    def test_not_for_ever(self, client: Client, answer: Answer) -> None:
        escalate(client, answer)
        Escalation.objects.update(created_at=timezone.now() - timedelta(days=4))
        assert escalating.waiting() == []

    def test_what_was_erased_meanwhile_is_not_sent(self, client: Client, answer: Answer) -> None:
        escalate(client, answer)
        key = Escalation.objects.get().pk
        answer.conversation.delete()
        assert not Escalation.objects.exists()
        assert not tasks.send_escalation(key)
        assert mail.outbox == []


class TestMarked:
    def test_the_asker_sees_it_again_in_the_history(self, client: Client, answer: Answer) -> None:
        url = f"/api/v1/conversations/{answer.conversation_id}/"
        before = client.get(url).json()["turns"][1]
        assert before["escalated"] is False
        escalate(client, answer)
        after = client.get(url).json()["turns"][1]
        assert (after["escalated"], after["reference"]) == (True, reference_number(answer.pk))

    def test_staff_find_and_count_it(
        self, client: Client, answer: Answer, staff_client: Client
    ) -> None:
        escalate(client, answer)
        listed = staff_client.get(
            reverse("admin:assistant_answer_changelist"), {"flag": "escalated"}
        )
        assert [one.pk for one in listed.context["cl"].result_list] == [answer.pk]
        page = staff_client.get(reverse("admin:assistant_answer_change", args=[answer.pk]))
        assert "jo@example.com" in page.content.decode()
        assert "not sent yet" in page.content.decode()
        overview = staff_client.get(reverse("admin:assistant_answer_overview"))
        assert overview.context["overview"].escalated == 1
        begin = reverse("admin:assistant_answer_review_begin", args=["escalated"])
        assert str(answer.pk) in staff_client.get(begin)["Location"]


def test_the_gap_report_counts_it(client: Client, answer: Answer, staff_client: Client) -> None:
    Answer.objects.filter(pk=answer.pk).update(grounding="no_hits")
    escalate(client, answer)
    gaps.update_report()
    topic = GapTopic.objects.get()
    assert topic.escalated_count == 1
    page = staff_client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk]))
    assert "Handed to support" in page.content.decode()


class TestVotes:
    """The thumb on an answer: once for each asker, and changeable."""

    def vote(self, client: Client, answer: Answer, **vote: str) -> Any:
        url = reverse("assistant:answer-feedback", args=[answer.pk])
        return client.post(url, vote, content_type="application/json")

    def test_a_vote_can_be_changed_and_stays_one(self, client: Client, answer: Answer) -> None:
        for vote in (
            {"rating": "negative", "reason": "wrong", "comment": "No."},
            {"rating": "positive"},
            {"rating": "negative", "reason": "unclear"},
        ):
            assert self.vote(client, answer, **vote).status_code == 200
        feedback = AnswerFeedback.objects.get()
        assert (feedback.rating, feedback.reason, feedback.comment) == ("negative", "unclear", "")

    def test_for_others_there_is_nothing_to_vote_on(self, answer: Answer) -> None:
        assert self.vote(Client(), answer, rating="positive").status_code == 404
        assert not AnswerFeedback.objects.exists()
