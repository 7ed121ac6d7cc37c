"""Tokens for the API's writers: made and shown once, found by their hash, revoked, expired.

Of our own, since what a library adds is little beside what this needs: REST framework's own
tokens are kept as plain text, and one a user; knox hashes, but its tokens have neither a
name nor a last use, and the admin could not show one. A token is 256 random bits, so a plain
SHA-256 of it is safe to keep: there is nothing to guess, and nothing to salt.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from helpcenter.models import ApiToken

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PREFIX = "hct_"
"""Lets secret scanners know one when they see it."""
SHOWN = len(PREFIX) + 4
USE_RECORDED_EVERY = timedelta(minutes=1)


def create(user: User, name: str, expires_at: datetime | None = None) -> tuple[ApiToken, str]:
    """A stored token, and its secret, which is kept nowhere."""
    token = ApiToken(user=user, name=name, expires_at=expires_at)
    secret = give_secret(token)
    token.save()
    return token, secret


def give_secret(token: ApiToken) -> str:
    """A new secret for a token that the caller saves then."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token.digest = _digest(secret)
    token.beginning = secret[:SHOWN]
    return secret


def find(secret: str) -> ApiToken | None:
    """The valid token with this secret, of an active user; its use is recorded by the minute."""
    if not secret.startswith(PREFIX):
        return None
    now = timezone.now()
    valid = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))
    tokens = ApiToken.objects.filter(valid, digest=_digest(secret), user__is_active=True)
    token = tokens.select_related("user").first()
    if token is not None:
        _record_use(token, now)
    return token


def _record_use(token: ApiToken, now: datetime) -> None:
    if token.last_used_at is None or token.last_used_at < now - USE_RECORDED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
