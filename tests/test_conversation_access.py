"""The gate to conversations: a foreign id is an unknown id."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User

from assistant import access
from assistant.access import Owner
from assistant.models import Answer, Conversation
from tests.factories import make_answer


def test_an_owner_is_a_user_or_a_visitor() -> None:
    with pytest.raises(ValueError, match="a user or a visitor"):
        Owner()
    with pytest.raises(ValueError, match="a user or a visitor"):
        Owner(user_id=1, visitor_id=uuid.uuid4())


def test_owners_are_named_by_their_kind() -> None:
    visitor = uuid.uuid4()
    assert str(Owner(user_id=7)) == "user:7"
    assert str(Owner(visitor_id=visitor)) == f"visitor:{visitor}"


def test_a_visitor_is_made_only_when_something_will_be_stored() -> None:
    session: dict[str, Any] = {}
    assert Owner.of(AnonymousUser(), session) is None
    assert session == {}

    made = Owner.of(AnonymousUser(), session, create=True)
    assert made is not None
    assert Owner.of(AnonymousUser(), session) == made
    assert Owner.of(AnonymousUser(), session, create=True) == made


@pytest.mark.django_db
def test_a_signed_in_person_owns_by_their_account(owner: User) -> None:
    assert Owner.of(owner, {}) == Owner(user_id=owner.pk)
    owner.is_active = False
    assert Owner.of(owner, {}) is None


@pytest.mark.django_db
def test_everyone_finds_their_own_and_nothing_else(owner: User, stranger: User) -> None:
    visitor = uuid.uuid4()
    by_owner = make_answer(conversation=Conversation.objects.create(user=owner))
    by_visitor = make_answer(conversation=Conversation.objects.create(visitor_id=visitor))

    for who, own, foreign in (
        (Owner(user_id=owner.pk), by_owner, by_visitor),
        (Owner(visitor_id=visitor), by_visitor, by_owner),
    ):
        assert access.get_answer(who, str(own.pk)) == own
        assert access.get_conversation(who, own.conversation_id) == own.conversation
        assert list(access.conversations(who)) == [own.conversation]
        for other in (foreign.pk, uuid.uuid4(), "nonsense", "", None, 5):
            with pytest.raises(Answer.DoesNotExist):
                access.get_answer(who, other)  # type: ignore[arg-type]
        for other in (foreign.conversation_id, uuid.uuid4(), "nonsense"):
            with pytest.raises(Conversation.DoesNotExist):
                access.get_conversation(who, other)

    for nobody in (None, Owner(user_id=stranger.pk), Owner(visitor_id=uuid.uuid4())):
        assert not access.conversations(nobody).exists()
        assert not access.answers(nobody).exists()
