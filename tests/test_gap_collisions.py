"""Two colleagues on one topic: the later one is told, and nothing of either is lost."""

from __future__ import annotations

import html
import re
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant.gaps import queue
from assistant.models import GapTopic
from tests.factories import make_article

pytestmark = pytest.mark.django_db


@pytest.fixture
def maria() -> User:
    user = User.objects.create_user("maria", is_staff=True)
    codenames = ["view_gaptopic", "change_gaptopic"]
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


@pytest.fixture
def topic() -> GapTopic:
    return make_topic("Fees")


def make_topic(name: str) -> GapTopic:
    now = timezone.now()
    return GapTopic.objects.create(kind="gap", name=name, first_seen=now, last_seen=now)


def url_of(topic: GapTopic, name: str = "change") -> str:
    return reverse(f"admin:assistant_gaptopic_{name}", args=[topic.pk])


def opened(client: Client, topic: GapTopic, **typed: Any) -> dict[str, Any]:
    """The form as a browser sends it that opened the page now."""
    page = client.get(url_of(topic)).content.decode()
    seen = re.search(r'name="seen" value="([^"]+)"', page)
    assert seen
    topic.refresh_from_db()
    filled = {
        "assignee": topic.assignee_id or "",
        "due_on": topic.due_on or "",
        "article": topic.article_id or "",
        "comment": "",
    }
    return {**filled, **typed, "seen": html.unescape(seen[1])}


def shown(response: Any) -> str:
    return html.unescape(response.content.decode())


def test_the_same_field_is_not_replaced_unseen(
    staff_client: Client, staff: User, maria: User, topic: GapTopic
) -> None:
    mine = opened(staff_client, topic, assignee=staff.pk, comment="I ask the card team.")
    queue.change([topic], maria, status="claimed", assignee_id=maria.pk)
    response = staff_client.post(url_of(topic), mine)

    page = shown(response)
    assert "While you had the topic open, maria changed it: claimed, assigned to maria." in page
    assert "Nothing was saved yet. Save again to put yours in its place." in page
    assert "I ask the card team.</textarea>" in page
    assert f'<option value="{staff.pk}" selected>staff</option>' in page
    topic.refresh_from_db()
    assert (topic.assignee, topic.steps.count()) == (maria, 1)

    again = {**mine, "seen": opened(staff_client, topic)["seen"]}
    assert html.escape(again["seen"]) in response.content.decode()
    assert staff_client.post(url_of(topic), again).status_code == 302
    topic.refresh_from_db()
    assert topic.assignee == staff
    assert topic.steps.filter(note="I ask the card team.").exists()


def test_different_fields_are_both_kept(
    staff_client: Client, staff: User, maria: User, topic: GapTopic
) -> None:
    article = make_article("Fees and cards", publish=False)
    mine = opened(staff_client, topic, due_on="2100-01-05", comment="By then.")
    queue.change([topic], maria, status="claimed", assignee_id=maria.pk, article_id=article.pk)
    response = staff_client.post(url_of(topic), mine, follow=True)

    assert "While you had the topic open, maria changed it" in shown(response)
    assert "Both are kept." in shown(response)
    topic.refresh_from_db()
    assert (topic.status, topic.assignee, topic.article) == ("claimed", maria, article)
    assert topic.due_on == date(2100, 1, 5)
    assert topic.steps.filter(note="By then.").exists()


def test_the_same_change_twice_is_no_collision(
    staff_client: Client, maria: User, topic: GapTopic
) -> None:
    mine = opened(staff_client, topic, assignee=maria.pk)
    queue.change([topic], maria, status="claimed", assignee_id=maria.pk)
    assert staff_client.post(url_of(topic), mine).status_code == 302


def test_a_comment_of_a_colleague_is_no_collision(
    staff_client: Client, staff: User, maria: User, topic: GapTopic
) -> None:
    mine = opened(staff_client, topic, assignee=staff.pk, comment="Mine.")
    queue.comment(topic, maria, "Theirs.")
    assert staff_client.post(url_of(topic), mine).status_code == 302
    assert set(topic.steps.exclude(note="").values_list("note", flat=True)) == {"Mine.", "Theirs."}


@pytest.mark.parametrize("act", ["claim", "release", "reopen", "out_of_scope"])
def test_a_button_is_meant_for_what_the_page_showed(
    act: str, staff_client: Client, maria: User, topic: GapTopic
) -> None:
    seen = opened(staff_client, topic)["seen"]
    queue.change([topic], maria, status="drafted", assignee_id=maria.pk)
    pressed = {"act": act, "seen": seen}
    response = staff_client.post(url_of(topic, "status"), pressed, follow=True)
    assert "While you had the topic open, maria changed it: drafted, assigned to maria." in shown(
        response
    )
    assert "Nothing else was changed." in shown(response)
    topic.refresh_from_db()
    assert (topic.status, topic.assignee) == ("drafted", maria)


def test_a_due_date_of_a_colleague_stops_no_button(
    staff_client: Client, staff: User, maria: User, topic: GapTopic
) -> None:
    seen = opened(staff_client, topic)["seen"]
    queue.change([topic], maria, due_on=date(2027, 1, 5))
    staff_client.post(url_of(topic, "status"), {"act": "claim", "seen": seen})
    topic.refresh_from_db()
    assert (topic.assignee, topic.due_on) == (staff, date(2027, 1, 5))


def test_claiming_several_takes_nothing_away(
    staff_client: Client, staff: User, maria: User, topic: GapTopic
) -> None:
    other = make_topic("Cards")
    queue.claim([topic], maria)
    chosen = {"action": "claim", "_selected_action": [topic.pk, other.pk]}
    list_url = reverse("admin:assistant_gaptopic_changelist")
    page = shown(staff_client.post(list_url, chosen, follow=True))
    assert "1 topic changed." in page
    assert "“Fees” stays as it is: maria works on it." in page
    assert set(GapTopic.objects.values_list("name", "assignee")) == {
        ("Fees", maria.pk),
        ("Cards", staff.pk),
    }


def test_who_typed_into_a_topic_that_became_part_of_another_is_told(
    staff_client: Client, maria: User, topic: GapTopic
) -> None:
    goal = make_topic("Costs")
    mine = opened(staff_client, topic, comment="Ask <billing>.")
    queue.merge([topic], goal, maria)
    response = staff_client.post(url_of(topic), mine, follow=True)
    assert response.redirect_chain == [(url_of(goal), 302)]
    page = response.content.decode()
    assert "The topic became part of this one meanwhile. Nothing was saved." in page
    assert "Your comment was: Ask &lt;billing&gt;." in page


@pytest.mark.parametrize("seen", ["", "x", "[]", "null", "[" * 5000, '{"status": {"a": 1}}'])
def test_nonsense_about_what_was_seen_breaks_nothing(
    seen: str, staff_client: Client, staff: User, topic: GapTopic
) -> None:
    filled = {"assignee": staff.pk, "due_on": "", "article": "", "comment": "", "seen": seen}
    assert staff_client.post(url_of(topic), filled).status_code == 302
    pressed = {"act": "release", "seen": seen}
    assert staff_client.post(url_of(topic, "status"), pressed).status_code == 302


def test_a_day_that_has_passed_is_refused_and_one_that_passed_meanwhile_stays(
    staff_client: Client, maria: User, topic: GapTopic
) -> None:
    typed = opened(staff_client, topic, due_on="2001-01-01", comment="By then.")
    assert "The day has passed." in shown(staff_client.post(url_of(topic), typed))
    queue.change([topic], maria, due_on=date(2001, 1, 1))
    kept = opened(staff_client, topic, comment="Late.")
    assert staff_client.post(url_of(topic), kept).status_code == 302
