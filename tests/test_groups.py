"""The groups Support, Writers and Editors: who may do what, and what no group may."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from tests.factories import make_answer, make_article

pytestmark = pytest.mark.django_db

MIGRATION = import_module("assistant.migrations.0010_groups")


@pytest.fixture(autouse=True)
def groups() -> None:
    """As the migration makes them; in the order of the tests, tables were possibly emptied."""
    MIGRATION.make_groups(apps, None)


def member(client: Client, group: str) -> Client:
    user = User.objects.create_user(f"one of {group}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    return client


def statuses(client: Client) -> dict[str, int]:
    """What each page of the admin answers."""
    answer, article = make_answer(), make_article("Plans")
    conversation = answer.conversation_id
    addresses = {
        "answers": reverse("admin:assistant_answer_changelist"),
        "answer": reverse("admin:assistant_answer_change", args=[answer.pk]),
        "conversation": reverse("admin:assistant_conversation_change", args=[conversation]),
        "queues": reverse("admin:assistant_answer_review_queues"),
        "delete answer": reverse("admin:assistant_answer_delete", args=[answer.pk]),
        "gaps": reverse("admin:assistant_gaptopic_changelist"),
        "articles": reverse("admin:articles_article_changelist"),
        "write": reverse("admin:articles_article_add"),
        "delete article": reverse("admin:articles_article_delete", args=[article.pk]),
        "access log": reverse("admin:assistant_accessrecord_changelist"),
        "users": reverse("admin:auth_user_changelist"),
        "site": reverse("admin:helpcenter_sitesettings_changelist"),
    }
    found = {name: client.get(url).status_code for name, url in addresses.items()}
    return {name: status for name, status in found.items() if status != 403}


def test_support_reads_conversations_and_judges_them(client: Client) -> None:
    assert set(statuses(member(client, "Support"))) == {
        *("answers", "answer", "conversation", "queues", "gaps", "articles")
    }
    answer = make_answer()
    url = reverse("admin:assistant_answer_review", args=[answer.pk])
    assert client.post(url, {"verdict": "right"}).status_code == 302
    export = reverse("admin:assistant_answer_export", args=["csv"])
    assert client.get(export).status_code == 403


def test_writers_write_and_read_no_conversation(client: Client) -> None:
    assert set(statuses(member(client, "Writers"))) == {"gaps", "articles", "write"}


def test_editors_do_both_and_delete_articles(client: Client) -> None:
    assert set(statuses(member(client, "Editors"))) == {
        *("answers", "answer", "conversation", "queues", "gaps", "articles", "write"),
        "delete article",
    }


def test_making_them_again_changes_nothing_and_takes_nothing_away() -> None:
    support = Group.objects.get(name="Support")
    extra = Permission.objects.get(codename="view_user")
    support.permissions.add(extra)
    before = set(support.permissions.values_list("codename", flat=True))
    MIGRATION.make_groups(apps, None)
    assert set(support.permissions.values_list("codename", flat=True)) == before
    assert Group.objects.filter(name="Support").count() == 1


def test_no_group_may_change_what_was_recorded() -> None:
    recorded = ["answer", "conversation", "accessrecord", "toolcall", "answerdocument"]
    given = Permission.objects.filter(group__isnull=False, content_type__model__in=recorded)
    assert set(given.values_list("codename", flat=True)) == {
        *("view_answer", "view_conversation", "export_answer")
    }
