"""Who is calling, by the session of a request or a socket. Reads the database: use `db(…)`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils import translation

from articles.access import Reader
from assistant.access import Owner
from assistant.turns.sending import Sender


@dataclass(frozen=True, slots=True)
class Caller:
    """`owner` is None for somebody who has stored nothing yet."""

    owner: Owner | None
    reader: Reader


def caller_of(request: HttpRequest) -> Caller:
    return Caller(Owner.of(request.user, request.session), Reader.of(request.user))


def sender_of(request: HttpRequest) -> Sender:
    """The caller as one who sends: a visitor is made where there is none, and gets the CSRF
    token that its session will need."""
    owner = Owner.of(request.user, request.session, create=True)
    if owner is None:
        raise AssertionError("a visitor was just made")
    get_token(request)
    return Sender(owner, Reader.of(request.user), address_of(request.META), _language(request))


def sender_by_session(session_key: str, handshake: HttpRequest) -> Sender | None:
    """The same for a socket, whose session a page has made: None where it has no owner (any more).

    The session and the account are read anew each time, so that a socket that outlives them
    can do nothing in their name.
    """
    engine: Any = import_module(settings.SESSION_ENGINE)
    handshake.session = engine.SessionStore(session_key)
    user = get_user(handshake)
    owner = Owner.of(user, handshake.session)
    if owner is None:
        return None
    return Sender(owner, Reader.of(user), address_of(handshake.META), _language(handshake))


def address_of(meta: dict[str, Any]) -> str:
    """The client's address; behind trusted proxies the server has put it here."""
    return str(meta.get("REMOTE_ADDR") or "")


def _language(request: HttpRequest) -> str:
    return translation.get_language_from_request(request)
