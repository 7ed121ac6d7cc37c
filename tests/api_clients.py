"""Clients of the API: with the token of a user who has just these permissions."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from helpcenter import tokens

EVERYTHING = (
    "add_article",
    "change_article",
    "delete_article",
    "publish_article",
    "add_category",
    "change_category",
    "delete_category",
)
MANAGE = "/api/v1/manage/articles/"
DOCUMENTS = "/api/v1/manage/documents/"


class TokenClient(Client):
    """Sends the token, and bodies as JSON."""

    def __init__(self, secret: str) -> None:
        super().__init__(headers={"authorization": f"Bearer {secret}"})

    def send(self, method: str, path: str, data: Any = None, **headers: str) -> Any:
        """The test client's response. `headers` with `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        call = getattr(self, method)
        if data is None:
            return call(path, headers=named)
        return call(path, data, content_type="application/json", headers=named)


def editor(*permissions: str, name: str = "pipeline") -> TokenClient:
    """A client whose user may do this and nothing else."""
    user = User.objects.create_user(name)
    found = Permission.objects.filter(codename__in=permissions, content_type__app_label="articles")
    assert len(found) == len(permissions)
    user.user_permissions.set(found)
    return TokenClient(tokens.create(user, "docs pipeline")[1])
