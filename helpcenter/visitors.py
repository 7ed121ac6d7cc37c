"""Who an anonymous person is: a random id kept in the session's data.

The session key itself rotates at login, so it cannot name a visitor; this id can.
It is created only when something is about to be stored for the visitor, so that
reading help pages sets no cookie.
"""

from __future__ import annotations

import uuid
from typing import Any, Protocol

SESSION_KEY = "visitor_id"


class Session(Protocol):
    def get(self, key: str, default: Any) -> Any: ...
    def __setitem__(self, key: str, value: Any) -> None: ...


def existing_visitor(session: Session) -> uuid.UUID | None:
    """The visitor's id, or None where the session has none yet."""
    value = session.get(SESSION_KEY, None)
    return uuid.UUID(value) if value else None


def ensure_visitor(session: Session) -> uuid.UUID:
    """The visitor's id, created now where the session has none yet."""
    visitor = existing_visitor(session)
    if visitor is None:
        visitor = uuid.uuid4()
        session[SESSION_KEY] = str(visitor)
    return visitor
