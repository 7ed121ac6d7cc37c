"""Answers as files: all of them, as the list is narrowed, harmless, and only by permission."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import reverse

from assistant.audit import exports
from assistant.audit.exports import COLUMNS
from assistant.models import AccessRecord, Answer, AnswerFeedback
from tests.chat_clients import in_loop
from tests.factories import make_answer, make_article, make_document


def exported(user: User, kind: str, **parameters: str) -> str:
    """The whole file, as a browser gets it."""
    files: list[str] = []

    async def body() -> None:
        client = AsyncClient()
        await sync_to_async(client.force_login)(user)
        url = reverse("admin:assistant_answer_export", args=[kind])
        response: Any = await client.get(url, parameters)
        assert isinstance(response, StreamingHttpResponse)
        assert response.is_async
        content: Any = response.streaming_content
        pieces = [piece async for piece in content]
        files.append(b"".join(pieces).decode())

    in_loop(body)
    return files[0]


def rows(file: str) -> list[dict[str, str]]:
    assert file.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(file[1:], newline="")))


@pytest.mark.django_db(transaction=True)
class TestFiles:
    def test_all_answers_in_batches_each_once(
        self, staff: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(exports, "BATCH", 3)
        for number in range(10):
            make_answer(f"Question {number}")
        one = Answer.objects.values_list("created_at", flat=True)[0]
        Answer.objects.filter(turn=1).update(created_at=one)  # the id decides
        lines = exported(staff, "jsonl").splitlines()
        questions = [json.loads(line)["question"] for line in lines]
        assert sorted(questions) == [f"Question {number}" for number in range(10)]
        record = AccessRecord.objects.get()
        assert (record.action, record.count, record.detail) == ("exported", 10, "answers.jsonl")

    def test_what_the_list_shows_with_every_column(self, staff: User) -> None:
        answer = make_answer('How,\n"really"?', text="Open it [1].", model="gpt")
        article = make_article("Set up SSO")
        make_document(answer, article, 1, consulted=True, cited=True, number=1, position=1)
        make_document(answer, make_article("Plans"), 2)
        AnswerFeedback.objects.create(answer=answer, rating="negative", comment="=cmd|1")
        make_answer("Another?", grounding="no_hits")
        (row,) = rows(exported(staff, "csv", grounding__exact="grounded", q="really"))
        assert list(row) == list(COLUMNS)
        assert row["question"] == 'How,\n"really"?'
        assert row["sources"] == "set-up-sso"
        assert (row["rating"], row["comment"]) == ("negative", "'=cmd|1")
        assert row["seconds"] != ""
        assert not {"owner", "user", "visitor"} & set(row)


@pytest.mark.django_db
class TestPermissions:
    @pytest.mark.parametrize("codenames", [["view_answer"], ["export_answer"], []])
    def test_it_takes_both_permissions(
        self, codenames: list[str], client: Client, stranger: User
    ) -> None:
        stranger.is_staff = True
        stranger.save()
        stranger.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(stranger)
        for kind in ("csv", "jsonl"):
            url = reverse("admin:assistant_answer_export", args=[kind])
            assert client.get(url).status_code == 403
        assert not AccessRecord.objects.exists()
        if codenames == ["view_answer"]:
            page = client.get(reverse("admin:assistant_answer_changelist")).content.decode()
            assert "Export" not in page

    def test_another_kind_is_404(self, staff_client: Client) -> None:
        url = reverse("admin:assistant_answer_export", args=["xlsx"])
        assert staff_client.get(url).status_code == 404

    def test_a_filter_that_is_none_leads_to_the_list(self, staff_client: Client) -> None:
        url = reverse("admin:assistant_answer_export", args=["csv"])
        listed = reverse("admin:assistant_answer_changelist")
        assert staff_client.get(url, {"nonsense": "1"}).headers["Location"] == f"{listed}?e=1"
        assert not AccessRecord.objects.exists()

    def test_the_list_links_what_it_shows(self, staff_client: Client) -> None:
        make_answer()
        url = reverse("admin:assistant_answer_changelist")
        page = staff_client.get(url, {"rating": "none"}).content.decode()
        export = reverse("admin:assistant_answer_export", args=["csv"])
        assert f'href="{export}?rating=none"' in page
