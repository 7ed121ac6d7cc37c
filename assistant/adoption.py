"""Signing in adopts what the visitor has asked so far."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from assistant.access import Owner
from assistant.models import Answer, Conversation
from helpcenter.visitors import SESSION_KEY, existing_visitor


@transaction.atomic
def adopt(visitor_id: uuid.UUID, user_id: int) -> None:
    """Makes the visitor's conversations the user's. Where both have used the same key for a
    send, the user's own keeps it: the visitor's page is gone, and nobody will repeat its send."""
    visitor, user = str(Owner(visitor_id=visitor_id)), str(Owner(user_id=user_id))
    taken = Answer.objects.filter(owner=user).exclude(key="").values("key")
    answers = Answer.objects.filter(owner=visitor)
    answers.filter(key__in=taken).update(key="")
    answers.update(owner=user)
    conversations = Conversation.objects.filter(visitor_id=visitor_id)
    conversations.update(user_id=user_id, visitor_id=None)


@receiver(user_logged_in, dispatch_uid="assistant.adoption")
def _adopt_on_login(request: HttpRequest, user: AbstractBaseUser, **kwargs: Any) -> None:
    visitor_id = existing_visitor(request.session)
    if visitor_id is not None:
        adopt(visitor_id, user.pk)
        del request.session[SESSION_KEY]
