"""Every answer has a number that can be said on the phone and leads back to it."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from assistant.models import Answer
from assistant.reference_numbers import ids_of, reference_number
from tests.factories import make_answer


@given(st.uuids())
def test_a_number_leads_back_to_its_id(answer_id: uuid.UUID) -> None:
    number = reference_number(answer_id)
    ids = ids_of(number)
    assert ids is not None
    assert ids.first <= answer_id <= ids.last
    assert not set(number) & set("ILOU")


@pytest.mark.parametrize(
    "typed", ["7k2m-9qxp", "7K2M9QXP", " 7K2M 9QXP ", "#7k2m–9qxp", "7K2M\u20119QXP", "7K2M.9QXP"]
)
def test_it_is_understood_however_it_is_typed(typed: str) -> None:
    assert ids_of(typed) == ids_of("7K2M-9QXP") is not None


def test_what_is_misread_is_understood() -> None:
    assert ids_of("lI0o-2345") == ids_of("1100-2345") is not None


@pytest.mark.parametrize("text", ["", "7K2M-9QX", "7K2M-9QXPP", "7K2M-9QXU", "reset my password"])
def test_other_texts_are_none(text: str) -> None:
    assert ids_of(text) is None


@pytest.mark.django_db
class TestInTheAdmin:
    def test_the_deep_link_leads_to_the_answer(self, staff_client: Client) -> None:
        answer = make_answer()
        make_answer("Another?")
        url = reverse("admin:assistant_answer_by_reference", args=[reference_number(answer.pk)])
        response = staff_client.get(url)
        assert response["Location"] == reverse("admin:assistant_answer_change", args=[answer.pk])

    def test_the_page_of_the_answer_shows_it(self, staff_client: Client) -> None:
        answer = make_answer()
        url = reverse("admin:assistant_answer_change", args=[answer.pk])
        assert reference_number(answer.pk) in staff_client.get(url).content.decode()

    def test_the_search_of_the_list_finds_it(self, staff_client: Client) -> None:
        answer = make_answer("Where is it?")
        make_answer("Another?")
        typed = reference_number(answer.pk).lower()
        url = reverse("admin:assistant_answer_changelist")
        page = staff_client.get(url, {"q": typed}).content.decode()
        assert "Where is it?" in page
        assert "Another?" not in page

    def test_the_search_of_conversations_finds_it(self, staff_client: Client) -> None:
        answer = make_answer("Where is it?")
        make_answer("Another?")
        url = reverse("admin:assistant_conversation_changelist")
        for typed in (
            reference_number(answer.pk),
            str(answer.pk),
            str(answer.conversation_id),
            "where is",
        ):
            listed = staff_client.get(url, {"q": typed}).context["cl"].result_list
            assert [one.pk for one in listed] == [answer.conversation_id], typed

    def test_a_word_that_could_be_one_is_looked_for_in_questions(
        self, staff_client: Client
    ) -> None:
        make_answer("How do I reset my password?")
        url = reverse("admin:assistant_answer_changelist")
        assert "reset my" in staff_client.get(url, {"q": "password"}).content.decode()

    def test_two_that_share_one_are_both_shown(self, staff_client: Client) -> None:
        first = make_answer("First?")
        second = make_answer("Second?", id=uuid.UUID(int=first.pk.int ^ 1))
        number = reference_number(first.pk)
        assert number == reference_number(second.pk)
        url = reverse("admin:assistant_answer_by_reference", args=[number])
        page = staff_client.get(url, follow=True).content.decode()
        assert "First?" in page
        assert "Second?" in page

    @pytest.mark.parametrize("number", ["0000-0000", "nonsense!"])
    def test_an_unknown_one_is_404(self, number: str, staff_client: Client) -> None:
        url = reverse("admin:assistant_answer_by_reference", args=[number])
        assert staff_client.get(url).status_code == 404

    def test_who_may_not_see_answers_learns_nothing(self, client: Client, stranger: User) -> None:
        answer = make_answer()
        stranger.is_staff = True
        stranger.save()
        client.force_login(stranger)
        for number in (reference_number(answer.pk), "0000-0000"):
            url = reverse("admin:assistant_answer_by_reference", args=[number])
            assert client.get(url).status_code == 403
        assert Answer.objects.count() == 1
