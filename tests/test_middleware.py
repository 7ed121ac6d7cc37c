"""Middleware of the web process: Django's own, without a thread where nothing is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import SyncToAsync, async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponseBase
from django.test import AsyncClient, override_settings

from helpcenter.middleware import at_once

SIGN_IN = "/sign-in/"
DJANGOS = list(settings.MIDDLEWARE)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was sent to a thread, with the middleware of a web process in place."""
    sent: list[str] = []
    ours = SyncToAsync.__call__

    async def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(getattr(self.func, "__qualname__", ""))
        return await ours(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", noted)
    with override_settings(MIDDLEWARE=at_once(settings.MIDDLEWARE)):
        yield sent


def without_nonce(response: HttpResponseBase) -> dict[str, str]:
    policy = {"Content-Security-Policy": ""}
    return dict(response.headers) | policy


def middleware_among(sent: list[str]) -> list[str]:
    return [name for name in sent if ".process_" in name]


def test_all_of_djangos_middleware_is_exchanged_in_its_place() -> None:
    found = at_once(settings.MIDDLEWARE)
    assert len(found) == len(settings.MIDDLEWARE)
    for before, now in zip(settings.MIDDLEWARE, found, strict=True):
        if before.startswith("helpcenter."):
            assert now == before
        else:
            assert now.startswith("helpcenter.middleware.")


def test_a_request_of_the_api_needs_no_thread_for_it_and_has_the_same_headers(
    threads: list[str],
) -> None:
    ours = async_to_sync(AsyncClient().get)("/api/v1/answers/")
    assert ours.status_code == 405
    assert middleware_among(threads) == []
    with override_settings(MIDDLEWARE=DJANGOS):
        plain = async_to_sync(AsyncClient().get)("/api/v1/answers/")
    assert len(middleware_among(threads)) > 10
    assert without_nonce(ours) == without_nonce(plain)


@pytest.mark.django_db
def test_a_form_is_checked_and_what_it_changes_in_the_session_is_stored(
    threads: list[str],
) -> None:
    User.objects.create_user("ada", password="engine")
    client = AsyncClient(enforce_csrf_checks=True)

    async def body() -> None:
        page = await client.get(SIGN_IN)
        form = {"username": "ada", "password": "engine"}
        assert (await client.post(SIGN_IN, form)).status_code == 403
        token = page.cookies["csrftoken"].value
        signed_in = await client.post(SIGN_IN, {**form, "csrfmiddlewaretoken": token})
        assert signed_in.status_code == 302
        assert signed_in.cookies["sessionid"].value

    async_to_sync(body)()
    assert middleware_among(threads) == [
        "CsrfViewMiddleware.process_view",
        "CsrfViewMiddleware.process_view",
        "SessionMiddleware.process_response",
    ]
    assert "_auth_user_id" in Session.objects.get().get_decoded()
