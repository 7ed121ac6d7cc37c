"""Statements that are sent together: what becomes of one that the database refuses."""

from __future__ import annotations

import uuid

import pytest
from django.db import IntegrityError, transaction

from assistant.models import Conversation
from helpcenter.postgres import together

pytestmark = pytest.mark.django_db


def begin(**fields: uuid.UUID) -> Conversation:
    return Conversation.objects.create(**{"visitor_id": uuid.uuid4()} | fields)


def test_all_are_there_at_the_end() -> None:
    with together():
        first, second = begin(), begin()
    assert set(Conversation.objects.all()) == {first, second}


def test_what_is_refused_is_an_error_of_djangos_and_leaves_nothing() -> None:
    taken = begin()

    @transaction.atomic
    def begin_another_and_the_same() -> None:
        with together():
            begin()
            begin(id=taken.pk)

    with pytest.raises(IntegrityError, match="pkey"):
        begin_another_and_the_same()
    assert set(Conversation.objects.all()) == {taken}
