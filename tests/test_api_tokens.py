"""Tokens: shown once, kept as a hash, bound to a user, expired, revoked; and their limits."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from helpcenter import limits, tokens
from helpcenter.models import ApiToken
from tests.api_clients import TokenClient
from tests.test_api_reading import ARTICLES, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db

ADD = "/admin/helpcenter/apitoken/add/"
LIST = "/admin/helpcenter/apitoken/"


def test_a_token_is_kept_as_a_hash(owner: User) -> None:
    token, secret = tokens.create(owner, "pipeline")
    stored = ApiToken.objects.values().get()
    assert secret not in str(stored)
    assert secret.startswith(f"{token.beginning}")
    assert len(token.beginning) < 12
    assert tokens.find(secret) == token


def test_its_use_is_recorded_once_a_minute(owner: User) -> None:
    token, secret = tokens.create(owner, "pipeline")
    assert token.last_used_at is None
    tokens.find(secret)
    token.refresh_from_db()
    used = token.last_used_at
    assert used is not None
    tokens.find(secret)
    token.refresh_from_db()
    assert token.last_used_at == used
    ApiToken.objects.update(last_used_at=used - timedelta(minutes=2))
    tokens.find(secret)
    token.refresh_from_db()
    assert token.last_used_at > used


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_a_token_that_is_over_opens_nothing(owner: User, change: dict[str, Any]) -> None:
    token, secret = tokens.create(owner, "pipeline", timezone.now() + timedelta(days=1))
    assert token.is_valid
    ApiToken.objects.update(**change)
    token.refresh_from_db()
    assert not token.is_valid
    refused(TokenClient(secret).get(ARTICLES), 401, "unauthorized")


def test_the_tokens_of_somebody_who_left_open_nothing(owner: User) -> None:
    _token, secret = tokens.create(owner, "pipeline")
    User.objects.update(is_active=False)
    assert tokens.find(secret) is None


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer hct_", "Bearer nonsense", "bearer h\xe9", "Bearer a b"]
)
def test_a_wrong_token_is_refused_where_none_is_needed_too(client: Client, header: str) -> None:
    response = client.get(ARTICLES, headers={"authorization": header})
    refused(response, 401, "unauthorized")
    assert response["WWW-Authenticate"] == 'Bearer realm="api"'


def test_other_schemes_are_nobodys_business(client: Client) -> None:
    assert client.get(ARTICLES, headers={"authorization": "Basic YTpi"}).status_code == 200


# In the admin


def test_the_admin_shows_a_new_token_once(client: Client, staff: User, owner: User) -> None:
    client.force_login(staff)
    made = client.post(ADD, {"name": "pipeline", "user": owner.pk})
    page = made.content.decode()
    token = ApiToken.objects.get()
    secret = page.partition('value="hct_')[2].partition('"')[0]
    assert tokens.find(f"hct_{secret}") == token
    assert token.user == owner
    assert "no-store" in made["Cache-Control"]
    assert secret not in client.get(LIST).content.decode()
    assert secret not in client.get(f"{LIST}{token.pk}/change/").content.decode()


def test_a_token_for_a_time_that_has_passed_is_refused(client: Client, staff: User) -> None:
    client.force_login(staff)
    until = {"expires_at_0": "2001-01-01", "expires_at_1": "00:00"}
    response = client.post(ADD, {"name": "sync", "user": staff.pk, **until})
    assert "The time has passed." in response.content.decode()
    assert not ApiToken.objects.exists()

    token, _secret = tokens.create(staff, "old")
    ApiToken.objects.update(expires_at="2001-01-01T00:00Z")
    renamed = {"name": "older", "initial-expires_at_0": "2001-01-01", **until}
    change = f"/admin/helpcenter/apitoken/{token.pk}/change/"
    assert client.post(change, renamed).status_code == 302


def test_a_token_is_revoked_from_the_list(client: Client, staff: User) -> None:
    token, secret = tokens.create(staff, "pipeline")
    client.force_login(staff)
    client.post(LIST, {"action": "revoke_selected", "_selected_action": [token.pk]})
    assert tokens.find(secret) is None


def test_a_token_stays_its_users(client: Client, staff: User, owner: User) -> None:
    token, secret = tokens.create(owner, "pipeline")
    client.force_login(staff)
    client.post(f"{LIST}{token.pk}/change/", {"name": "renamed", "user": staff.pk})
    token.refresh_from_db()
    assert (token.name, token.user) == ("renamed", owner)
    assert tokens.find(secret) == token


def test_who_is_no_superuser_has_tokens_of_their_own_only(
    client: Client, owner: User, staff: User
) -> None:
    tokens.create(staff, "the superuser's")
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    owner.user_permissions.set(Permission.objects.filter(codename__endswith="_apitoken"))
    client.force_login(owner)

    client.post(ADD, {"name": "mine", "user": staff.pk})

    assert ApiToken.objects.get(name="mine").user == owner
    page = client.get(LIST).content.decode()
    assert "mine" in page
    assert "the superuser" not in page


# By command


def test_the_command_prints_a_token(owner: User) -> None:
    out = StringIO()
    call_command("create_api_token", "owner", "pipeline", days=30, stdout=out)
    token = tokens.find(out.getvalue().strip())
    assert token is not None
    assert token.expires_at is not None
    assert token.expires_at > timezone.now() + timedelta(days=29)


@pytest.mark.parametrize(("name", "days"), [("nobody", None), ("owner", 0)])
def test_the_command_refuses(owner: User, name: str, days: int | None) -> None:
    with pytest.raises(CommandError):
        call_command("create_api_token", name, "pipeline", days=days)
    assert not ApiToken.objects.exists()


# Limits


@pytest.fixture
def small_limits(settings: Any) -> None:
    settings.API_REQUESTS_PER_ADDRESS = 2
    settings.API_REQUESTS_PER_TOKEN = 4


@pytest.mark.usefixtures("small_limits")
def test_so_many_requests_an_address_and_when_to_come_back(client: Client) -> None:
    assert [client.get(ARTICLES).status_code for _ in range(2)] == [200, 200]
    response = client.get("/api/v1/categories/")
    refused(response, 429, "rate_limited")
    assert 0 < int(response["Retry-After"]) <= 60
    assert client.get(ARTICLES, REMOTE_ADDR="192.0.2.9").status_code == 200


@pytest.mark.usefixtures("small_limits")
def test_a_token_has_a_limit_of_its_own(client: Client, owner: User) -> None:
    by_token = TokenClient(tokens.create(owner, "pipeline")[1])
    assert [by_token.get(ARTICLES).status_code for _ in range(5)] == [200] * 4 + [429]
    assert client.get(ARTICLES).status_code == 200


@pytest.mark.usefixtures("small_limits")
def test_who_guesses_tokens_is_counted(client: Client) -> None:
    wrong = {"authorization": "Bearer hct_guess"}
    found = [client.get(ARTICLES, headers=wrong).status_code for _ in range(3)]
    assert found == [401, 401, 429]


@pytest.fixture
def without_valkey(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limits._script.cache_clear()
    limits._local.clear()
    yield
    limits._script.cache_clear()
    limits._local.clear()


@pytest.mark.usefixtures("small_limits", "without_valkey")
def test_without_valkey_the_limits_hold_in_the_process(client: Client) -> None:
    assert [client.get(ARTICLES).status_code for _ in range(3)] == [200, 200, 429]
