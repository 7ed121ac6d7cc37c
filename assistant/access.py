"""The one gate to conversations and answers: what is the caller's own.

For everyone else they do not exist: a foreign id raises the same `DoesNotExist`
as an unknown one, on every route and frame.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from assistant.models import Answer, Conversation
from helpcenter.visitors import Session, ensure_visitor, existing_visitor

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser


@dataclass(frozen=True)
class Owner:
    """A signed-in user, or a visitor by the id in their session. Exactly one is set."""

    user_id: int | None = None
    visitor_id: uuid.UUID | None = None

    def __post_init__(self) -> None:
        if (self.user_id is None) == (self.visitor_id is None):
            raise ValueError("an owner is a user or a visitor")

    def __str__(self) -> str:
        return f"user:{self.user_id}" if self.user_id else f"visitor:{self.visitor_id}"

    @classmethod
    def of(
        cls, user: AbstractBaseUser | AnonymousUser, session: Session, *, create: bool = False
    ) -> Owner | None:
        """The caller; None for an anonymous one whose session has no visitor yet.

        `create` gives them one: pass it where something is about to be stored.
        """
        if user.is_authenticated and user.is_active:
            return cls(user_id=user.pk)
        visitor = ensure_visitor(session) if create else existing_visitor(session)
        return cls(visitor_id=visitor) if visitor else None

    def condition(self) -> Q:
        """Selects the owner's rows of `Conversation`."""
        if self.user_id is not None:
            return Q(user_id=self.user_id)
        return Q(visitor_id=self.visitor_id)


def conversations(owner: Owner | None) -> QuerySet[Conversation]:
    """The owner's conversations, newest first; none for nobody."""
    if owner is None:
        return Conversation.objects.none()
    return Conversation.objects.filter(owner.condition())


def answers(owner: Owner | None) -> QuerySet[Answer]:
    """The answers in the owner's conversations."""
    return Answer.objects.filter(conversation__in=conversations(owner).order_by())


def get_conversation(owner: Owner | None, conversation_id: str | uuid.UUID) -> Conversation:
    """The owner's conversation with this id; raises `Conversation.DoesNotExist`."""
    parsed = _parsed(conversation_id)
    if parsed is None:
        raise Conversation.DoesNotExist
    return conversations(owner).get(pk=parsed)


def get_answer(owner: Owner | None, answer_id: str | uuid.UUID) -> Answer:
    """The owner's answer with this id; raises `Answer.DoesNotExist`."""
    parsed = _parsed(answer_id)
    if parsed is None:
        raise Answer.DoesNotExist
    return answers(owner).select_related("conversation").get(pk=parsed)


def _parsed(value: str | uuid.UUID) -> uuid.UUID | None:
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(value)
    except (ValueError, TypeError, AttributeError):
        return None
