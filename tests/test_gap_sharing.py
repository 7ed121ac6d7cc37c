"""The queue outside of the admin: as a file, over the API, by e-mail."""

from __future__ import annotations

import csv
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant import gaps
from assistant.gaps import digest, queue
from assistant.models import Answer, GapTopic, Grounding
from helpcenter import tokens
from tests.factories import make_answer

pytestmark = pytest.mark.django_db

CARD = "When will I receive my new card?"
CURRENCY = "Which currencies do you support for exchange?"


def make_topics(*questions: str) -> list[GapTopic]:
    for question in questions:
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    return list(GapTopic.objects.order_by("pk"))


def rows_of(client: Client, **filters: str) -> list[dict[str, str]]:
    response: Any = client.get(reverse("admin:assistant_gaptopic_export"), filters)
    text = response.content.decode("utf-8-sig")
    return list(csv.DictReader(text.splitlines()))


def test_the_file_has_what_the_list_shows(client: Client, staff: User) -> None:
    client.force_login(staff)
    card, currency = make_topics(CARD, CURRENCY)
    queue.dismiss([currency], staff, GapTopic.Reason.PRODUCT_GAP)
    (row,) = rows_of(client)
    assert (row["id"], row["topic"], row["questions"]) == (str(card.pk), CARD, "1")
    (other,) = rows_of(client, status="dismissed")
    assert (other["topic"], other["dismissed_as"]) == (CURRENCY, "product_gap")


@pytest.mark.parametrize("text", ["=1+2", "+SUM(1,2)", "-3 or so", "@now", "\t=4"])
def test_no_cell_of_the_file_is_a_formula(client: Client, staff: User, text: str) -> None:
    client.force_login(staff)
    (topic,) = make_topics(text)
    GapTopic.objects.update(name=text)
    (row,) = rows_of(client)
    assert row["topic"] == f"'{text}"
    topic.refresh_from_db()
    assert topic.name == text


@pytest.mark.parametrize("filters", [{"nonsense": "1"}, {"due_on__gte": "soon"}])
def test_a_filter_that_is_none_leads_to_the_list(
    client: Client, staff: User, filters: dict[str, str]
) -> None:
    client.force_login(staff)
    response = client.get(reverse("admin:assistant_gaptopic_export"), filters)
    assert response.headers["Location"] == f"{reverse('admin:assistant_gaptopic_changelist')}?e=1"


def test_who_may_not_see_the_queue_gets_no_file(client: Client, stranger: User) -> None:
    stranger.is_staff = True
    stranger.save()
    client.force_login(stranger)
    assert client.get(reverse("admin:assistant_gaptopic_export")).status_code == 403


def test_the_api_gives_the_queue_by_impact_and_status(client: Client, stranger: User) -> None:
    card, currency = make_topics(CARD, CURRENCY, CURRENCY)
    url = reverse("assistant:gaps")
    assert client.get(url).status_code == 401
    client.force_login(stranger)
    assert client.get(url).status_code == 403
    stranger.user_permissions.add(Permission.objects.get(codename="view_gaptopic"))
    found = client.get(url).json()
    assert [row["id"] for row in found["gaps"]] == [currency.pk, card.pk]
    assert found["next_offset"] is None
    assert found["gaps"][0]["questions"] == 2
    assert client.get(url, {"status": "verified"}).json()["gaps"] == []
    assert client.get(url, {"kind": "uncited"}).json()["gaps"] == []
    for wrong in ({"status": "x"}, {"kind": "x"}, {"offset": "-1"}):
        assert client.get(url, wrong).status_code == 400


def change(user: User, topic: GapTopic, **sent: Any) -> Any:
    """Sends a change with a token of this person's."""
    secret = tokens.create(user, "tracker")[1]
    return Client().patch(
        reverse("assistant:gap", args=[topic.pk]),
        sent,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )


@pytest.fixture
def writer(stranger: User) -> User:
    stranger.is_staff = True
    stranger.save()
    stranger.user_permissions.add(Permission.objects.get(codename="change_gaptopic"))
    return stranger


def test_the_api_changes_a_topic_as_its_user_does_in_the_admin(writer: User, staff: User) -> None:
    (topic,) = make_topics(CARD)
    found = change(writer, topic, status="claimed", due_on="2027-01-05", comment="See #381.")
    assert found.status_code == 200
    got = found.json()
    assert (got["status"], got["assignee"], got["due_on"]) == ("claimed", "stranger", "2027-01-05")
    assert topic.steps.filter(note="See #381.", user_id=writer.pk).exists()
    assert change(writer, topic, assignee="staff").json()["assignee"] == "staff"
    assert change(writer, topic, assignee=None).json()["status"] == "open"
    assert change(writer, topic, assignee="staff").json()["status"] == "claimed"
    gone = change(writer, topic, status="dismissed", dismissed_as="product_gap").json()
    assert (gone["status"], gone["dismissed_as"]) == ("dismissed", "product_gap")
    queue.undo(writer)
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("claimed", staff)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"status": "verified"}, "status"),
        ({"status": "dismissed"}, "dismissed_as"),
        ({"dismissed_as": "duplicate"}, "dismissed_as"),
        ({"assignee": "owner"}, "assignee"),  # who may not work the queue
        ({"assignee": 7}, "assignee"),
        ({"due_on": "tomorrow"}, "due_on"),
        ({"comment": "x" * 4001}, "comment"),
        ({"impact": 99}, "impact"),
    ],
)
def test_what_cannot_be_set_over_the_api_is_named_and_changes_nothing(
    sent: dict[str, Any], field: str, writer: User, owner: User
) -> None:
    (topic,) = make_topics(CARD)
    found = change(writer, topic, **sent)
    assert found.status_code == 400
    assert list(found.json()["error"]["fields"]) == [field]
    assert not topic.steps.exists()


def test_changing_over_the_api_takes_the_permission_and_a_token(
    client: Client, writer: User, owner: User
) -> None:
    (topic,) = make_topics(CARD)
    url = reverse("assistant:gap", args=[topic.pk])
    client.force_login(writer)
    assert client.patch(url, {"status": "claimed"}, "application/json").status_code == 401
    owner.user_permissions.add(Permission.objects.get(codename="view_gaptopic"))
    assert change(owner, topic, status="claimed").status_code == 403
    GapTopic.objects.update(merged_into=topic)
    assert change(writer, topic, status="claimed").status_code == 404
    assert not topic.steps.exists()


def test_the_digest_names_new_growing_and_closed_topics_once_a_week(
    settings: Any, staff: User
) -> None:
    settings.GAP_DIGEST_EMAILS = ["one@example.test", "two@example.test"]
    card, _currency = make_topics(CARD, CURRENCY)
    fees = make_topics("Why was a fee charged for my withdrawal abroad?")[-1]
    GapTopic.objects.filter(pk=card.pk).update(created_at=timezone.now() - timedelta(days=20))
    queue.dismiss([fees], staff, GapTopic.Reason.ANSWERED_ELSEWHERE)

    now = timezone.now()
    assert digest.send(now) == 2
    assert digest.send(now + timedelta(minutes=1)) == 0

    assert [message.to for message in mail.outbox] == [["one@example.test"], ["two@example.test"]]
    text = str(mail.outbox[0].body)
    new, growing, closed = (text.index(part) for part in ("NEW", "GROWING", "CLOSED"))
    assert new < text.index(CURRENCY) < growing < text.index(CARD) < closed
    assert f"/admin/assistant/gaptopic/{fees.pk}/change/" in text[closed:]


def test_a_week_without_news_has_no_digest(settings: Any) -> None:
    settings.GAP_DIGEST_EMAILS = ["one@example.test"]
    assert digest.send() == 0
    assert mail.outbox == []


def test_a_digest_that_could_not_be_sent_is_tried_again(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GAP_DIGEST_EMAILS = ["one@example.test"]
    settings.EMAIL_BACKEND = "nowhere.Backend"
    make_topics(CARD)
    with pytest.raises(ImportError):
        digest.send()
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert digest.send() == 1


def test_the_digest_has_no_words_of_erased_conversations(settings: Any) -> None:
    settings.GAP_DIGEST_EMAILS = ["one@example.test"]
    make_topics("Is the card of Jane Doe on its way?")
    Answer.objects.get().conversation.delete()
    digest.send()
    assert "Jane" not in str(mail.outbox[0].body)
