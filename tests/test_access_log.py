"""Every look of the staff at a conversation is recorded, and nobody can change the record."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assistant import tasks
from assistant.audit import access_log
from assistant.models import AccessRecord, Answer
from tests.factories import make_answer

pytestmark = pytest.mark.django_db


def records() -> list[tuple[str, str, Any, int]]:
    found = AccessRecord.objects.order_by("pk")
    return [(one.action, one.detail, one.answer_id, one.count) for one in found]


def url(name: str, *args: Any) -> str:
    return reverse(f"admin:assistant_{name}", args=args)


class TestWhatIsRecorded:
    def test_opening_an_answer(self, staff_client: Client, staff: User) -> None:
        answer = make_answer()
        staff_client.get(url("answer_change", answer.pk))
        assert records() == [("viewed", "answer.page", answer.pk, 1)]
        record = AccessRecord.objects.get()
        assert (record.user_id, record.username) == (staff.pk, "staff")
        assert record.conversation_id == answer.conversation_id

    def test_opening_a_conversation(self, staff_client: Client) -> None:
        answer = make_answer()
        staff_client.get(url("conversation_change", answer.conversation_id))
        assert records() == [("viewed", "conversation.page", None, 1)]
        assert AccessRecord.objects.get().conversation_id == answer.conversation_id

    def test_a_list_with_how_many_it_showed(self, staff_client: Client) -> None:
        for number in range(3):
            make_answer(f"Question {number}")
        staff_client.get(url("answer_changelist"), {"q": "question 1"})
        staff_client.get(url("conversation_changelist"))
        assert records() == [
            ("listed", "answer.list", None, 1),
            ("listed", "conversation.list", None, 3),
        ]

    def test_the_pages_around_an_answer(self, staff_client: Client) -> None:
        answer = make_answer()
        for name in ("answer_again", "answer_delete", "answer_history"):
            assert staff_client.get(url(name, answer.pk)).status_code == 200
        details = [detail for _action, detail, _answer, _count in records()]
        assert details == ["answer.again", "answer.page", "answer.page"]

    def test_the_confirmation_of_deleting_several(self, staff_client: Client) -> None:
        chosen = [str(make_answer().pk), str(make_answer().pk)]
        post = {"action": "delete_selected", "_selected_action": chosen}
        assert staff_client.post(url("answer_changelist"), post).status_code == 200
        assert records() == [("listed", "answer.delete", None, 2)]

    def test_choosing_an_answer_by_typing(self, staff_client: Client) -> None:
        make_answer()
        asked = {
            "app_label": "assistant",
            "model_name": "answer",
            "field_name": "retry_of",
            "term": "password",
        }
        response = staff_client.get(reverse("admin:autocomplete"), asked)
        assert len(response.json()["results"]) == 1
        assert records() == [("listed", "answer.choices", None, 0)]

    def test_who_is_refused_has_seen_nothing(self, client: Client, stranger: User) -> None:
        stranger.is_staff = True
        stranger.save()
        client.force_login(stranger)
        answer = make_answer()
        assert client.get(url("answer_change", answer.pk)).status_code == 403
        assert client.get(url("answer_changelist")).status_code == 403
        assert records() == []

    def test_where_it_cannot_be_recorded_nothing_is_shown(
        self, staff_client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*arguments: Any, **fields: Any) -> None:
            raise DatabaseError

        answer = make_answer()
        monkeypatch.setattr(access_log, "_record", fail)
        for address in (url("answer_change", answer.pk), url("answer_changelist")):
            with pytest.raises(DatabaseError):
                staff_client.get(address)

    def test_it_outlives_the_conversation_and_holds_none_of_its_text(
        self, staff_client: Client
    ) -> None:
        answer = make_answer("My secret question")
        staff_client.get(url("answer_change", answer.pk))
        answer.conversation.delete()
        record = AccessRecord.objects.values().get()
        assert record["answer_id"] == answer.pk
        assert "secret" not in str(record)


def test_the_admins_own_log_keeps_no_text_of_a_conversation(staff_client: Client) -> None:
    answer = make_answer("My secret question")
    staff_client.post(url("answer_review", answer.pk), {"verdict": "wrong", "note": "secret"})
    staff_client.post(url("answer_delete", answer.pk), {"post": "yes"})
    entries = LogEntry.objects.values_list("object_repr", "change_message")
    assert len(entries) == 2
    assert "secret" not in str(list(entries))
    assert not Answer.objects.exists()


class TestNobodyChangesIt:
    @pytest.fixture
    def record(self, staff: User) -> AccessRecord:
        access_log.opened(staff, make_answer(), "answer.page")
        return AccessRecord.objects.get()

    def test_the_database_refuses(self, record: AccessRecord) -> None:
        everything = AccessRecord.objects.all()
        for change in (
            lambda: everything.update(username="nobody"),
            lambda: everything.delete(),
            lambda: record.delete(),
            lambda: record.save(),
        ):
            with pytest.raises(DatabaseError, match="cannot be changed"), transaction.atomic():
                change()
        assert AccessRecord.objects.get() == record

    def test_there_are_no_permissions_for_it(self) -> None:
        codenames = Permission.objects.filter(content_type__model="accessrecord")
        assert list(codenames.values_list("codename", flat=True)) == ["view_accessrecord"]

    def test_the_admin_shows_it_and_offers_nothing_else(
        self, record: AccessRecord, staff_client: Client
    ) -> None:
        page = staff_client.get(url("accessrecord_changelist")).content.decode()
        assert str(record.answer_id) in page
        assert 'name="action"' not in page
        page = staff_client.get(url("accessrecord_change", record.pk)).content.decode()
        assert "deletelink" not in page
        assert 'name="_save"' not in page
        assert staff_client.get(url("accessrecord_add")).status_code == 403
        assert staff_client.post(url("accessrecord_delete", record.pk)).status_code == 403
        assert staff_client.post(url("accessrecord_change", record.pk), {}).status_code == 403

    def test_deleting_the_account_leaves_its_records(self, record: AccessRecord) -> None:
        User.objects.get(username="staff").delete()
        assert AccessRecord.objects.get().username == "staff"


class TestRetention:
    def test_old_records_go_and_young_ones_stay(self, staff: User, settings: Any) -> None:
        settings.ACCESS_LOG_DAYS = 365
        for days in (0, 364, 366):
            made(staff, days)
        assert tasks.forget_access_records() == 1
        assert tasks.forget_access_records() == 0
        assert AccessRecord.objects.count() == 2
        with pytest.raises(DatabaseError), transaction.atomic():
            AccessRecord.objects.all().delete()

    def test_not_even_the_retention_deletes_what_is_younger_than_thirty_days(
        self, staff: User, settings: Any
    ) -> None:
        settings.ACCESS_LOG_DAYS = 1
        made(staff, 29)
        with pytest.raises(DatabaseError), transaction.atomic():
            access_log.forget()
        assert AccessRecord.objects.count() == 1


def made(user: User, days: int) -> None:
    """A record of some days ago, as the database would have written it then."""
    at = timezone.now() - timedelta(days=days)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO assistant_accessrecord (at, user_id, username, action, count, detail)"
            " VALUES (%s, %s, %s, 'listed', 1, '')",
            [at, user.pk, user.username],
        )


def test_answers_stay_what_they_are_when_they_are_looked_at(staff_client: Client) -> None:
    answer = make_answer()
    before = Answer.objects.values().get()
    staff_client.get(url("answer_change", answer.pk))
    assert Answer.objects.values().get() == before


def test_the_log_names_pages_in_words(staff: User, staff_client: Client) -> None:
    access_log.opened(staff, make_answer(), "answer.again")
    access_log.exported(staff, 3, "answers.csv")
    access_log.listed(staff, 1, "page.of.later")
    page = staff_client.get(reverse("admin:assistant_accessrecord_changelist")).content.decode()
    for words in ("an answer beside what was asked again", "answers as CSV", "page.of.later"):
        assert f'<td class="field-page">{words}</td>' in page
